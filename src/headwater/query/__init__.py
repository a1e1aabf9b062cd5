"""SQL on lake tables: our own DDL and DML, SELECT by DuckDB, and commits that carry their lineage."""

from headwater.query.result import Result
from headwater.query.session import Session, connect

__all__ = ["Result", "Session", "connect"]
