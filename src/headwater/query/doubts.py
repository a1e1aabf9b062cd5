"""The parts of a statement that can give other rows each time it runs."""

from collections.abc import Iterator

from sqlglot import exp

from headwater.query.parse import Node

_TIMES = (exp.CurrentDate, exp.CurrentDatetime, exp.CurrentTime, exp.CurrentTimestamp, exp.CurrentUser)
_CHANCE = {"rand", "random", "randn", "uuid", "gen_random_uuid", "shuffle", "monotonically_increasing_id"}
_NOW = {"now", "today", "current_localtime", "current_localtimestamp", "get_current_timestamp", "unix_timestamp"}
_ANY = {"any_value", "first", "last", "arbitrary", "list", "array_agg", "string_agg", "group_concat", "collect_list"}


def doubts(tree: Node) -> list[str]:
    """The reasons why a statement may give other rows when it runs again, each once."""
    return list(dict.fromkeys(_found(tree)))


def _found(tree: Node) -> Iterator[str]:
    for node in tree.walk():
        name = (
            node.name if isinstance(node, exp.Anonymous) else node.sql_name() if isinstance(node, exp.Func) else ""
        ).lower()
        if isinstance(node, _TIMES) or name in _NOW:
            yield f"{name or 'the current time'}() is another each time"
        elif isinstance(node, exp.Rand | exp.Uuid) or name in _CHANCE:
            yield f"{name or 'random'}() is another each time"
        elif isinstance(node, exp.TableSample):
            yield "a sample is another each time"
        elif (
            isinstance(node, exp.Select | exp.SetOperation) and node.args.get("limit") and not node.args.get("order")
        ):
            yield "LIMIT without ORDER BY takes any rows"
        elif (name in _ANY or isinstance(node, exp.AnyValue | exp.ArrayAgg)) and node.find(exp.Order) is None:
            yield f"{name or 'any_value'}() without ORDER BY depends on the order of rows"
        elif isinstance(node, exp.Window) and isinstance(node.this, exp.RowNumber | exp.Ntile):
            yield f"{node.this.sql_name().lower()}() numbers equal rows in any order"


def floating(columns: list[str]) -> str:
    """The reason for differences in the last digits."""
    return f"sums of floating numbers depend on the order of rows: {', '.join(columns)}"
