"""The past of a table, asked by its recipes: run one again, the rows behind a row, the commit that moved a figure."""

from typing import TYPE_CHECKING

from headwater.lazy import on_first_use

if TYPE_CHECKING:
    from headwater.provenance.bisect import bisect
    from headwater.provenance.replay import replay
    from headwater.provenance.why import why_rows

__all__ = ["bisect", "replay", "why_rows"]

__getattr__ = on_first_use(
    __name__,
    {
        "bisect": "headwater.provenance.bisect",
        "replay": "headwater.provenance.replay",
        "why_rows": "headwater.provenance.why",
    },
)
