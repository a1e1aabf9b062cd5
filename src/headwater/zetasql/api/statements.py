"""Resolved statements and expressions in whatever form they come."""

from typing import Any

from headwater.errors import UsageError
from headwater.lineage.statement import StatementLineage
from headwater.lineage.trace import trace
from headwater.model.names import parse_table_name
from headwater.text import Source
from headwater.zetasql.lower import Place, ResolvedLowering, Surroundings, lower_statement
from headwater.zetasql.lower.lowering import unwrap
from headwater.zetasql.lower.statements import statement_name


def to_message(node: Any) -> Any:
    """The protobuf message of a resolved node: one of our engine's, or an object of the `zetasql` package.
    RAISES: UsageError when it is neither."""
    if hasattr(node, "to_proto"):
        node = node.to_proto()
    if not hasattr(node, "DESCRIPTOR"):
        raise UsageError(
            f"a resolved statement is needed, not {type(node).__name__}",
            hint="analyze the SQL first: zetasql.api.Analyzer, or headwater.analyze for everything at once",
        )
    return unwrap(node)


def stored_name(scan: Any) -> str:
    """The full name of the table, or of the table function, that a scan reads."""
    thing = scan.table if hasattr(scan, "table") else scan.tvf
    return str(getattr(thing, "full_name", None) or thing.name)


def lineage_of(statement: Any, output_table: str | None = None, *, expand: bool = True) -> StatementLineage:
    """The lineage of a statement by the product's rules. `output_table` names the target of a SELECT.
    With `expand`, struct columns are taken apart into their leaves."""
    low = ResolvedLowering(Place(Source(""), exact=False), Surroundings())
    low.expand_structs = expand
    lowered = lower_statement(low, to_message(statement))
    output = None if output_table is None else parse_table_name(output_table)
    if not lowered.writes:
        return StatementLineage(lowered.statement_type or statement_name(to_message(statement)), lowered.target)
    return trace(lowered.writes[0], output=output)
