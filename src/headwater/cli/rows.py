"""Rows of a query on stdout: as a table, JSON, JSON lines or CSV."""

import csv
import sys
from collections.abc import Sequence
from typing import Any

from headwater.cli.terminal import width_of
from headwater.fit import align, cell_text, wrap_words

FORMATS = ("table", "json", "jsonl", "csv")


def write_result(result: Any, format: str, *, quiet: bool = False) -> None:
    """Print the rows of a result on stdout; without rows, its message on stderr (as JSON, on stdout)."""
    if not result.columns:
        if format in ("json", "jsonl"):
            _write_json({"message": result.message, "rows": result.rows, "snapshotId": result.snapshot_id})
        elif result.message and not quiet:
            sys.stderr.write(result.message + "\n")
        return
    match format:
        case "json":
            _write_json(_dicts(result), indent=True)
        case "jsonl":
            for row in _dicts(result):
                _write_json(row)
        case "csv":
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(result.columns)
            writer.writerows([[_shown(value) for value in row] for row in result])
        case _:
            sys.stdout.write(table_text(result, width=width_of(sys.stdout)) + "\n")
    sys.stdout.flush()


_LOOKED_AT = 40  # rows of a result that is only looked at


def table_text(result: Any, *, expanded: bool = False, width: int | None = None, most: int = _LOOKED_AT) -> str:
    """The first rows of a result as a table no wider than `width`, or, `expanded`, as a line for each value.

    A table that cannot be made narrow enough is expanded.
    """
    if result.is_text:
        return str(result)
    rows = result.looked_at(most)
    more = len(result) - len(rows)
    text = "" if expanded else align(result.columns, rows, width=width)
    if expanded or (width is not None and len(text.splitlines()[1]) > width):
        text = _expanded(result.columns, rows, width)
    return text + (f"\n… {more:,} more rows" if more > 0 else "")


def _expanded(columns: list[str], rows: Sequence[Sequence[Any]], width: int | None) -> str:
    widest = max(map(len, columns))
    more = " " * (widest + 2)
    lines: list[str] = []
    for number, row in enumerate(rows, 1):
        lines.append(f"─ row {number} ".ljust(widest + 2, "─"))
        for name, value in zip(columns, row):
            text = cell_text(value)
            lines += wrap_words(text, width or len(more) + len(text), f"{name:{widest}}  ", more)
    return "\n".join(lines)


def _dicts(result: Any) -> list[dict[str, Any]]:
    names = unique(result.columns)
    return [dict(zip(names, map(_shown, row))) for row in result]


def _shown(value: Any) -> Any:
    """A value with intervals as text: as tuples of numbers nobody could read them."""
    from headwater.query.cells import interval_text

    return interval_text(*value) if hasattr(value, "nanoseconds") else value


def unique(names: list[str]) -> list[str]:
    """Names in which none comes twice: JSON objects would lose the first.

    >>> unique(["id", "id", "x"])
    ['id', 'id_2', 'x']
    """
    found: list[str] = []
    for name in names:
        again, count = name, 1
        while again in found:
            count += 1
            again = f"{name}_{count}"
        found.append(again)
    return found


def _write_json(value: Any, *, indent: bool = False) -> None:
    from headwater.cli.render import to_json

    sys.stdout.write(to_json(value, indent=indent) + "\n")
