"""`headwater trace | impact | path | search | unused | pii | tag`: questions to the lineage kept in a warehouse."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from operator import itemgetter
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal

import click

from headwater.cli.on_spark import pop_spark, session, spark_options
from headwater.cli.options import Flags, command, is_terminal
from headwater.cli.render import print_json, print_table
from headwater.cli.terminal import say, say_lines
from headwater.errors import UsageError
from headwater.text import counted
from headwater.view.formats import ANSWER_FORMATS

if TYPE_CHECKING:
    from headwater.graph import Answer, GraphStore, LineageGraph, Node
    from headwater.jobs.walk import SparkGraph


as_of = click.option(
    "--as-of",
    "at",
    metavar="STATE",
    help="The number of a state (`headwater harvests`), `@-1`, date, time, or `2 hours ago`.",
)


def open_graph_store(flags: Flags) -> "GraphStore":
    """The graph of the warehouse of the settings."""
    from headwater.graph import GraphStore

    return GraphStore(flags.settings.warehouse)


def open_graph(flags: Flags, at: str | None) -> "LineageGraph":
    """The graph at a moment. RAISES: NotFoundError when the warehouse has none."""
    from headwater.graph import LineageGraph

    return LineageGraph(open_graph_store(flags).state(at))


@contextmanager
def _asked(flags: Flags, at: str | None, how: dict[str, Any]) -> "Iterator[LineageGraph | SparkGraph]":
    """The graph at a moment, in memory, or on Spark if the options name a master."""
    master, conf = pop_spark(how)
    if master is None:
        yield open_graph(flags, at)
        return
    from headwater.jobs.walk import SparkGraph

    state = open_graph_store(flags).state(at)
    with session(master, conf) as spark, SparkGraph(spark, state) as graph:
        yield graph


def answer_options(function: Any) -> Any:
    """Return how and as of when an answer is shown."""
    for option in (
        as_of,
        click.option("-f", "--format", type=click.Choice(ANSWER_FORMATS), default="tree", show_default=True),
        click.option("-o", "--output", type=click.Path(path_type=Path), help="Write it to a file."),
    ):
        function = option(function)
    return function


def walk_options(function: Any) -> Any:
    """Return what a walk through the graph follows, and how its answer is shown."""
    depth = click.option("--depth", type=click.IntRange(0), help="How many steps to go. Default: all there are.")
    return depth(influence_option(answer_options(spark_options(function))))


influence_option = click.option(
    "--influence",
    "influences",
    type=click.Choice(["value", "condition", "row", "all"]),
    multiple=True,
    help="Follow what values are made of, what decides them, what decides rows, or all.",
)


def say_answer(
    flags: Flags, answer: "Answer", *, format: str, output: Path | None, title: str, more: str | None = None
) -> None:
    """Print an answer, or write it to a file whose ending tells the format unless one was named; then say `more`."""
    from headwater.graph.formats import render_answer

    if output is not None and format == "tree" and output.suffix[1:] in ANSWER_FORMATS:
        format = output.suffix[1:]
    text = render_answer(answer, "json" if flags.json else format, title=title)
    if output is None:
        say_lines(flags, text) if format == "tree" and not flags.json else click.echo(text)
        say(more, err=True) if more else None
        return
    try:
        output.write_text(text + "\n", encoding="utf-8")
    except OSError as err:
        raise UsageError(f"{output} cannot be written: {err.strerror}") from err
    if not flags.quiet:
        say(f"{counted(len(answer.steps), 'edge')} written to {output}", err=True)


def _chosen(influences: tuple[str, ...], default: str = "all") -> Any:
    from headwater.model.edges import InfluenceClass

    named = influences or (default,)
    return tuple(InfluenceClass) if "all" in named else tuple(map(InfluenceClass, named))


def _walked(
    flags: Flags, ask: "Callable[..., Answer]", influences: tuple[str, ...], default: str
) -> tuple["Answer", str | None]:
    """The answer of a walk; on a terminal, how much more there is when only values were followed unasked."""
    answer = ask(influences=_chosen(influences, default))
    if influences or default == "all" or flags.quiet or not is_terminal(sys.stderr):
        return answer, None
    more = len(ask(influences=_chosen(("all",))).steps) - len(answer.steps)
    verb = "decides" if more == 1 else "decide"
    return answer, f"{counted(more, 'more step')} {verb} values or rows: --influence all" if more else None


def _steps(text: str, depth: int | None, side: Literal["up", "down"]) -> tuple[str, int | None]:
    """The name and the depth of `2+NAME` upstream, or `NAME+2` downstream. RAISES: UsageError for the other side."""
    from headwater.graph.selector import parse_selector

    chosen = parse_selector(text)
    other, verb, steps = (chosen.down, "impact", chosen.up) if side == "up" else (chosen.up, "trace", chosen.down)
    if other != 0:
        words = quote(chosen.pattern) + ("" if other is None else f" --depth {other}")
        raise UsageError(f"`{text}` goes the other way, too", hint=f"`headwater {verb} {words}`")
    return chosen.pattern, depth if steps == 0 or depth is not None else steps


@command(
    "trace",
    examples=(
        "headwater trace mart.revenue.total",
        "headwater trace mart.revenue.total --influence all --as-of '2 days ago' --format mermaid",
        "headwater trace mart.revenue.total --master spark://host:7077",
    ),
)
@click.argument("name", metavar="TABLE[.COLUMN]")
@walk_options
@click.pass_obj
def trace(
    flags: Flags, /, name: str, depth: int | None, influences: tuple[str, ...], at: str | None, **how: Any
) -> None:
    """Show what a column, or every column of a table, is made of, with the expression and place of each step.

    Values are followed; `--influence all` adds what decides them and their rows. `2+NAME` is NAME with `--depth 2`.
    """
    name, depth = _steps(name, depth, "up")
    with _asked(flags, at, how) as graph:
        answer, more = _walked(flags, partial(graph.trace, name, depth=depth), influences, "value")
    say_answer(flags, answer, title=f"What {name} is made of", more=more, **how)


@command(
    "impact",
    examples=(
        "headwater impact raw.orders.amount",
        "headwater impact raw.orders.amount --fail-on 'mart.*' --format table",
    ),
)
@click.argument("name", metavar="TABLE[.COLUMN]")
@walk_options
@click.option("--fail-on", multiple=True, metavar="PATTERN", help="Exit code 1 if this is reached, e.g. 'mart.*'.")
@click.pass_obj
def impact(
    flags: Flags,
    /,
    name: str,
    depth: int | None,
    influences: tuple[str, ...],
    at: str | None,
    fail_on: tuple[str, ...],
    **how: Any,
) -> int:
    """Show what is made of a column or table, and so may break when it changes.

    Values are followed, and with `--fail-on` all else, too; `--influence all` adds what is decided by it. `NAME+2` is
    NAME with `--depth 2`.
    """
    name, depth = _steps(name, depth, "down")
    with _asked(flags, at, how) as graph:
        ask = partial(graph.impact, name, depth=depth)
        answer, more = _walked(flags, ask, influences, "all" if fail_on else "value")
    say_answer(flags, answer, title=f"What is made of {name}", more=more, **how)
    hit = [node for node in answer.nodes for pattern in fail_on if node.is_like(pattern)]
    if hit and not flags.quiet:
        names = ", ".join(dict.fromkeys(map(str, hit[:5]))) + (", …" if len(hit) > 5 else "")
        say(f"{name} reaches what must not change: {names}", err=True)
    return 1 if hit else 0


@command(
    "path", examples=("headwater path raw.orders.amount mart.revenue.total", "headwater path raw.orders mart.revenue")
)
@click.argument("source")
@click.argument("target")
@influence_option
@answer_options
@spark_options
@click.pass_obj
def path(
    flags: Flags,
    /,
    source: str,
    target: str,
    influences: tuple[str, ...],
    at: str | None,
    **how: Any,
) -> int:
    """Show every way from one column or table to another. Exit code 1 when there is none."""
    with _asked(flags, at, how) as graph:
        answer = graph.path(source, target, influences=_chosen(influences))
    if not answer.steps:
        say(f"no way leads from {source} to {target}", err=True)
        return 1
    say_answer(flags, answer, title=f"From {source} to {target}", **how)
    return 0


@command("search", examples=("headwater search email", "headwater search orders --json"))
@click.argument("text")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="At most so many.")
@as_of
@click.pass_obj
def search(flags: Flags, text: str, limit: int, at: str | None) -> int:
    """Find tables and columns by a part of their name. Exit code 1 when there are none."""
    found = open_graph(flags, at).search(text, limit=limit)
    return _say_nodes(flags, found, f"nothing has `{text}` in its name")


@command("unused", examples=("headwater unused", "headwater unused --like 'stg.*'", "headwater unused --columns"))
@click.option("--like", metavar="PATTERN", help="List the columns of tables, or columns, like this.")
@click.option("--columns", is_flag=True, help="List every column, instead of counting them by table.")
@click.option("--limit", type=click.IntRange(1), default=30, show_default=True, help="At most so many tables.")
@as_of
@spark_options
@click.pass_obj
def unused(flags: Flags, /, like: str | None, columns: bool, limit: int, at: str | None, **how: Any) -> int:
    """Count the columns that nothing reads, by table; the table with most of them is first.

    Tables that are only read, and results of queries, are left out unless a pattern names them. Exit code 1 when
    there are any."""
    with _asked(flags, at, how) as graph:
        found = graph.unused(like)
    if flags.json or columns or like is not None or not found:
        _say_nodes(flags, found, "every column is read by something")
    else:
        _say_by_table(flags, found, limit)
    return 1 if found else 0


def _say_by_table(flags: Flags, nodes: list["Node"], limit: int) -> None:
    tables: dict[str, list[str]] = {}
    for node in nodes:
        tables.setdefault(node.dataset, []).append(node.column)
    ranked = sorted(tables.items(), key=lambda item: (-len(item[1]), item[0]))
    rows = [
        (table, len(names), ", ".join(names[:4]) + (", …" if len(names) > 4 else ""))
        for table, names in ranked[:limit]
    ]
    print_table(("table", "unused", "columns"), rows)
    if not flags.quiet:
        more = f"; {len(tables) - limit} more with --limit {len(tables)}" if len(tables) > limit else ""
        say(f"{counted(len(nodes), 'column')} of {counted(len(tables), 'table')}{more}", err=True)


def _say_nodes(flags: Flags, nodes: list["Node"], nothing: str) -> int:
    from headwater.graph.node_json import node_json
    from headwater.graph.tables import WHOLE

    if flags.json:
        print_json([node_json(node) for node in nodes])
    elif nodes:
        say_lines(flags, "\n".join(node.dataset if node.column == WHOLE else str(node) for node in nodes))
    elif not flags.quiet:
        say(nothing, err=True)
    return 0 if nodes else 1


@command("pii", examples=("headwater pii --tag email", "headwater pii --tag email --format svg -o email.svg"))
@click.option("--tag", required=True, help="The tag to follow.")
@answer_options
@click.pass_obj
def pii(flags: Flags, /, tag: str, at: str | None, **how: Any) -> None:
    """Show where the values of tagged columns go; hashes and counts end the way."""
    say_answer(flags, open_graph(flags, at).tagged(tag), title=f"Where {tag} goes", **how)


@command(
    "tag",
    examples=(
        "headwater tag raw.customers.email --tag email --tag pii",
        "headwater tag 'stg.*.phone' --tag pii --remove",
    ),
)
@click.argument("names", nargs=-1, required=True, metavar="TABLE.COLUMN...")
@click.option("--tag", "tags", multiple=True, required=True, help="The word to put on; several are several options.")
@click.option("--remove", is_flag=True, help="Take it off instead.")
@click.pass_obj
def tag(flags: Flags, names: tuple[str, ...], tags: tuple[str, ...], remove: bool) -> None:
    """Put tags on columns; `headwater pii` follows them. Names may be patterns."""
    from headwater.graph.tags import tag_columns

    changed = tag_columns(open_graph_store(flags), names, tags, remove=remove)
    if flags.json:
        print_json([str(node) for node in changed])
    elif not flags.quiet:
        say(f"{counted(len(changed), 'column')} changed")


@command("harvests", examples=("headwater harvests", "headwater harvests 1", "headwater harvests --json"))
@click.argument("number", type=int, required=False)
@click.pass_obj
def harvests(flags: Flags, number: int | None) -> None:
    """List the changes of the graph: each is a state that `--as-of NUMBER` shows.

    With a NUMBER, what that harvest came to. A state has expired when the snapshots of the tables that it names are
    gone.
    """
    records = open_graph_store(flags).harvests()
    if number is not None:
        _show_report(flags, records, number)
        return
    if flags.json:
        print_json(records)
        return
    shown: list[tuple[str, Callable[[Any], object]]] = [
        ("as-of", lambda each: each["number"]),
        ("time (UTC)", lambda each: f"{each['ended']:%F %T}"),
        ("what", lambda each: f"{each['kind'] or ''} {', '.join(each['sources'] or ())}".strip()),
        *((name, itemgetter(name)) for name in ("statements", "analysed", "edges", "issues")),
    ]
    if any(each["expired"] for each in records):
        shown.append(("", lambda each: "expired" if each["expired"] else ""))
    print_table([name for name, _ in shown], [[show(each) for _, show in shown] for each in records])


def _show_report(flags: Flags, records: list[dict[str, Any]], number: int) -> None:
    from headwater.graph.report import report_on

    state = open_graph_store(flags).state(number)
    record = next(each for each in records if each["number"] == state.number)
    if record["kind"] != "harvest":
        raise UsageError(f"{number} is no harvest of SQL: {record['kind']}", hint="`headwater harvests` lists them")
    report = report_on(state, record["sources"] or ())
    if flags.json:
        print_json(record | {"report": report})
        return
    say_lines(flags, "\n".join(report.lines))
