"""`headwater why TABLE --row | --where`: the rows behind rows, as text, JSON or a page."""

import html
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.lake_tables import open_warehouse
from headwater.cli.options import Flags
from headwater.cli.provenance import about_commit, split_moment
from headwater.cli.render import print_json
from headwater.cli.terminal import say_lines
from headwater.errors import UsageError
from headwater.fit import row_text, value_text
from headwater.text import counted

if TYPE_CHECKING:
    from headwater.lake.tables.names import TableIdentifier
    from headwater.model.schema import Schema
    from headwater.provenance.why import Hop

_MOST_LINES = 20
_STYLE = (
    "body{font:14px/1.4 system-ui,sans-serif;margin:2em;max-width:70em}table{border-collapse:collapse;margin:.4em 0}"
    "td,th{border:1px solid #bbb;padding:.15em .6em;text-align:left}code{background:#eee}h2{margin-top:1.6em}"
)


def row_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that ask for rows."""
    options = (
        click.option("--row", metavar="KEY", help="The row of a key: its values in order, or name=value, by commas."),
        click.option("--where", metavar="PREDICATE", help="The rows for which a condition of SQL holds."),
        click.option("--column", metavar="NAME", help="Only the rows that make or decide this column."),
        click.option("--rows", "shown", type=int, default=5, show_default=True, help="Rows to show of each table."),
        click.option("--format", "format", type=click.Choice(["text", "json", "html"]), default="text"),
        click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to a file."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def asks_for_rows(options: dict[str, Any]) -> bool:
    """Return whether rows are asked for. RAISES: UsageError for --column without rows."""
    if options["row"] is None and options["where"] is None:
        if options["column"] is not None or options["format"] == "html":
            raise UsageError("whose rows?", hint="--row KEY or --where PREDICATE")
        return False
    return True


def tell_rows(flags: Flags, table: str, options: dict[str, Any]) -> None:
    """Print or write the rows behind rows."""
    from headwater.provenance.told import hop_json
    from headwater.provenance.why import schema_at, why_rows

    name, moment = split_moment(table)
    warehouse = open_warehouse(flags)
    conditions = [options["where"]] if options["where"] is not None else []
    if options["row"] is not None:
        source = warehouse.table(name)
        conditions.append(key_condition(source.name, schema_at(source, moment), options["row"]))
    where = " AND ".join(f"({each})" for each in conditions)
    hops = why_rows(warehouse, name, moment, where=where, column=options["column"])
    most = max(options["shown"], 0)
    if options["format"] == "html":
        _write("".join(_page(table, where, hops, most)), options["output"])
    elif flags.json or options["format"] == "json":
        print_json([hop_json(hop, lambda rows: rows.slice(0, most).to_pylist()) for hop in hops])
    else:
        say_lines(flags, "\n".join(line for hop in hops for line in _hop_lines(hop, most)))


def key_condition(table: "TableIdentifier", schema: "Schema", text: str) -> str:
    """The condition for a key that is written as values in order, or as name=value. RAISES: UsageError."""
    from headwater.provenance.told import row_condition

    parts, keys = text.split(","), schema.primary_keys
    if all("=" in part for part in parts):
        pairs = [part.split("=", 1) for part in parts]
    elif not keys:
        hint = f"--row name=value, or --where; columns: {', '.join(schema.names)}"
        raise UsageError(f"{table} has no primary key", hint=hint)
    elif len(parts) != len(keys):
        raise UsageError(f"{len(parts)} values for the key of {table}", hint=f"its key: {', '.join(keys)}")
    else:
        pairs = [[key, part] for key, part in zip(keys, parts)]
    for name, _ in pairs:
        if name.strip() not in schema.names:
            columns = ", ".join(schema.names)
            raise UsageError(f"`{name.strip()}` is not a column of {table}", hint=f"columns: {columns}")
    return row_condition({name.strip(): value.strip() for name, value in pairs})


def _write(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text)
    else:
        output.write_text(text, encoding="utf-8")


def _made(hop: "Hop") -> str:
    return about_commit(hop.operation, hop.job, None, hop.time)


def summary(rows: Any) -> str:
    """Rows summed up: how many, and the values of columns that have few."""
    told = []
    for name in rows.column_names:
        values = rows.column(name)
        if rows.num_rows < 4 or str(values.type) not in ("string", "bool"):
            continue
        counts = sorted((-each["counts"], value_text(each["values"])) for each in values.value_counts().to_pylist())
        if 1 < len(counts) <= 3:
            told.append(f"{name}: {', '.join(f'{value} {-count:,}' for count, value in counts)}")
        elif 3 < len(counts) < rows.num_rows:
            told.append(f"{len(counts):,} {name}")
    return counted(rows.num_rows, "row") + (f" ({'; '.join(told)})" if told else "")


def _hop_lines(hop: "Hop", most: int) -> Iterator[str]:
    version = f"{hop.dataset}@{hop.snapshot_id}"
    yield f"{version}  {summary(hop.rows)}  ({_made(hop)})"
    for row in hop.rows.slice(0, most).to_pylist():
        yield f"    {row_text(row)}"
    if hop.reason is not None:
        yield f"  cannot be told further: {hop.reason}"
    for each in hop.inputs:
        yield f"  made of {summary(each.rows)} of {each.dataset}@{each.snapshot_id}"
        for row in each.rows.slice(0, most).to_pylist():
            yield f"    {row_text(row)}"
        if each.rows.num_rows > most:
            yield f"    … {each.rows.num_rows - most:,} more"
    for note in hop.absent:
        yield f"  decided by absence: {note}"
    for lines in hop.lines:
        yield f"  from {lines.path}, {_numbers(lines.lines)}"
    if hop.verified is False:
        yield "  these rows were read, but alone they do not give the row: more than them decided"
    if hop.is_loaded and not hop.lines:
        yield "  loaded from outside by this commit"


def _numbers(lines: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, lines[:_MOST_LINES]))
    more = f" and {len(lines) - _MOST_LINES} more" if len(lines) > _MOST_LINES else ""
    return f"line{'s' if len(lines) > 1 else ''} {shown}{more}"


def _page(table: str, where: str, hops: "list[Hop]", most: int) -> Iterator[str]:
    """A page that stands alone: a section for each hop, inputs link to the hop that made them."""
    title = html.escape(f"Why {table} where {where}")
    yield f"<!doctype html><meta charset=utf-8><title>{title}</title><style>{_STYLE}</style><h1>{title}</h1>"
    for hop in hops:
        version = f"{hop.dataset}@{hop.snapshot_id}"
        yield f'<h2 id="{html.escape(version)}">{html.escape(version)}</h2><p>{html.escape(_made(hop))}'
        yield _html_rows(hop.rows, most)
        if hop.sql:
            yield f"<details><summary>statement</summary><pre>{html.escape(hop.sql)}</pre></details>"
        for each in hop.inputs:
            name = html.escape(f"{each.dataset}@{each.snapshot_id}")
            yield f'<p>made of {html.escape(summary(each.rows))} of <a href="#{name}">{name}</a>'
            yield _html_rows(each.rows, most)
        for line in list(_hop_lines(hop, 0))[1:]:
            if not line.startswith(("    ", "  made of")):
                yield f"<p>{html.escape(line.strip())}"


def _html_rows(rows: Any, most: int) -> str:
    head = "".join(f"<th>{html.escape(name)}" for name in rows.column_names)
    body = (
        "".join(f"<td>{html.escape(value_text(value))}" for value in row.values())
        for row in rows.slice(0, most).to_pylist()
    )
    more = f"<p>… {rows.num_rows - most:,} more" if rows.num_rows > most else ""
    return f"<table><tr>{head}{''.join(f'<tr>{row}' for row in body)}</table>{more}"
