"""The past of a table, asked by its recipes: run one again, the rows behind a row, the commit that moved a figure."""

from typing import TYPE_CHECKING

from headwater.lazy import on_first_use

if TYPE_CHECKING:
    from headwater.provenance.replay import replay

__all__ = ["replay"]

__getattr__ = on_first_use(
    __name__,
    {
        "replay": "headwater.provenance.replay",
    },
)
