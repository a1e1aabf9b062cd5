"""SQL on lake tables: our own DDL and DML, SELECT by DuckDB, and commits that carry their lineage.
The public names are imported on first use."""

from typing import TYPE_CHECKING

from headwater.lazy import on_first_use

if TYPE_CHECKING:
    from headwater.query.result import Result
    from headwater.query.session import Session, connect

__all__ = ["Result", "Session", "connect"]

__getattr__ = on_first_use(
    __name__,
    {
        "Result": "headwater.query.result",
        "Session": "headwater.query.session",
        "connect": "headwater.query.session",
    },
)
