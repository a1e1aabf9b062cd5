"""Which front end reads a dialect."""

from typing import Any, Literal, TypeAlias

from headwater.lineage.script import FrontEnd
from headwater.sql.front import SqlFrontEnd

Engine: TypeAlias = Literal["auto", "zetasql", "sqlglot"]


def open_front_end(dialect: str | None, engine: Engine = "auto") -> tuple[FrontEnd[Any], str]:
    """The front end for a dialect, and the dialect's own name.

    RAISES: DialectError when there is no such dialect, UsageError when the engine does not speak it.
    """
    front_end = SqlFrontEnd(dialect)
    return front_end, front_end.dialect
