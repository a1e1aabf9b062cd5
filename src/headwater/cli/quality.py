"""`headwater check-data | checks`: checks of data, and the columns that descend from a failure."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.graph import as_of, open_graph, open_graph_store
from headwater.cli.lake_tables import open_warehouse
from headwater.cli.options import Flags, command
from headwater.cli.render import print_json, print_table
from headwater.cli.terminal import say
from headwater.errors import UsageError

if TYPE_CHECKING:
    from headwater.graph.check_data import TableChecks
    from headwater.graph.facts import Row

_SHOWN = ("dataset", "column", "check", "outcome", "version", "expected", "actual")


@command(
    "check-data",
    examples=(
        "headwater check-data sales.orders --not-null id --unique id --row-count 1..",
        "headwater check-data sales.orders@-1 --range amount=0..1000 --fresh 24h",
        "headwater check-data --checks checks.toml --events file:checked.ndjson",
    ),
)
@click.argument("table", required=False, metavar="[TABLE[@MOMENT]]")
@click.option("-c", "--checks", "file", type=click.Path(path_type=Path), help="A TOML or YAML file of checks.")
@click.option("--not-null", metavar="COLUMN", multiple=True, help="The column has no nulls.")
@click.option("--unique", metavar="COLUMN[,…]", multiple=True, help="No value comes twice; of several, together.")
@click.option("--range", "ranges", metavar="COLUMN=MIN..MAX", multiple=True, help="All values are in a range.")
@click.option("--accept", metavar="COLUMN=A,B,…", multiple=True, help="All values are among these.")
@click.option("--fresh", metavar="[COLUMN=]AGE", help="The newest value, or the snapshot, is not older: 24h, 2d.")
@click.option("--row-count", metavar="MIN..MAX", help="So many rows.")
@click.option("--events", metavar="SINK", help="Send the results as an OpenLineage event, too: file:PATH, http://…")
@click.option("--dry-run", is_flag=True, help="Show the results and do not keep them.")
@click.pass_obj
def check_data(flags: Flags, /, table: str | None, file: Path | None, **options: Any) -> int:
    """Check the data of lake tables, and keep the results in the graph, pinned to the snapshot.

    `trace`, `impact`, `why` and the page show what descends from a snapshot that failed. Exit code 1 when a check
    fails.
    """
    from headwater.graph.check_data import check_tables, read_checks_file
    from headwater.graph.observed import gather, ingest
    from headwater.graph.tables import CHECKS

    name, _, moment = (table or "").partition("@")
    checks = read_checks_file(file) if file is not None else {}
    checks = {each: checks[each] for each in checks if not name or each == name}
    own = _declared(options)
    if own is not None and (not name or name in checks):
        raise UsageError("options and --checks are for different tables", hint="TABLE with options, or a file")
    checks |= {name: own} if own is not None else {}
    if not checks:
        raise UsageError("there is nothing to check", hint="TABLE --not-null COLUMN, or --checks FILE")
    at = f"@{moment}" if moment.startswith("-") else moment or None
    event = check_tables(open_warehouse(flags), checks, at)
    facts, _, _ = gather([event])
    if not options["dry_run"]:
        ingest(open_graph_store(flags), [event], source="check-data")
    if options["events"]:
        from headwater.events.sinks import open_sink

        sink = open_sink(options["events"])
        sink.emit(event)
        sink.close()
    return _say_checks(flags, [row for row in facts.of(CHECKS) if row["outcome"] != "measured"])


def _declared(options: dict[str, Any]) -> "TableChecks | None":
    """The checks that options ask for. RAISES: UsageError for an option that is not well formed."""
    from headwater.graph.check_data import declare

    columns: dict[str, dict[str, Any]] = {}
    together = [name for names in options["unique"] if "," in names for name in names.split(",")]
    for option, kind in (("not_null", "not_null"), ("unique", "unique")):
        for name in options[option]:
            if "," not in name:
                columns.setdefault(name, {})[kind] = True
    for text in options["ranges"]:
        name, value = _parted("--range", text)
        columns.setdefault(name, {})["range"] = _bounds("--range", value)
    for text in options["accept"]:
        name, value = _parted("--accept", text)
        columns.setdefault(name, {})["accepted_values"] = value.split(",")
    column, _, age = (options["fresh"] or "").rpartition("=")
    rows = options["row_count"]
    given = {
        "row_count": _bounds("--row-count", rows) if rows else None,
        "freshness": {"max_age": age, "column": column or None} if age else None,
        "unique": together,
        "columns": columns,
    }
    return declare(given) if any(given.values()) else None


def _parted(option: str, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"{option} {text} names no column", hint=f"{option} COLUMN=…")
    return name, value


def _bounds(option: str, text: str) -> dict[str, Any]:
    """`0..100`, `1..` or `..100`; numbers are numbers, all else is text."""
    least, dots, most = text.partition("..")
    if not dots or not (least or most):
        raise UsageError(f"{option} {text} is no range", hint="0..100, 1.. or ..100")
    number = re.compile(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?", re.IGNORECASE)
    values = {"min": least, "max": most}
    return {
        name: (float(each) if "." in each or "e" in each.lower() else int(each)) if number.fullmatch(each) else each
        for name, each in values.items()
        if each
    }


def _say_checks(flags: Flags, rows: Sequence["Row"]) -> int:
    failed = any(row["outcome"] == "fail" for row in rows)
    if flags.json:
        print_json(rows)
    elif not flags.quiet or failed:
        print_table(
            ("table", "column", "check", "outcome", "snapshot", "expected", "actual"),
            [["" if row[name] is None else row[name] for name in _SHOWN] for row in rows],
        )
    return 1 if failed else 0


@command("checks", examples=("headwater checks", "headwater checks shop.orders", "headwater checks 'mart.*' --json"))
@click.argument("name", required=False, metavar="[TABLE[.COLUMN]]")
@click.option("--history", is_flag=True, help="All results, not only the newest of each check.")
@click.option("--forget", metavar="CHECK", help="Remove the results of a check that is run no more.")
@as_of
@click.pass_obj
def checks(flags: Flags, name: str | None, history: bool, forget: str | None, at: str | None) -> int:
    """List the checks of data, and the columns that descend from a version that failed one.

    A name may be a pattern. Exit code 1 when a column is marked.
    """
    from headwater.graph.checks import MEASURED, forget_check, read_checks
    from headwater.graph.node_json import mark_json, node_json
    from headwater.graph.steps import Node

    if forget is not None:
        forget_check(open_graph_store(flags), forget, name)
    graph = open_graph(flags, at)

    def wanted(node: Node) -> bool:
        return name is None or node.is_like(name)

    rows = [row for row in read_checks(graph.state, history=history) if wanted(Node(row["dataset"], row["column"]))]
    marks = {node: found for node, found in graph.all_marks().items() if wanted(node)}
    if flags.json:
        found = [node_json(node) | {"marks": [mark_json(mark) for mark in each]} for node, each in marks.items()]
        print_json({"checks": rows, "marks": found})
        return 1 if marks else 0
    if rows:
        _say_checks(flags, [row for row in rows if history or row["outcome"] != MEASURED])
    elif not flags.quiet and not marks:
        say("there are no checks" if name is None else f"there are no checks of {name}", err=True)
    for node, each in marks.items():
        say(f"✗ {node}: {'; '.join(map(str, each))}")
    return 1 if marks else 0
