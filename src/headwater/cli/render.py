"""How results and errors look. Everything reads the same without colour."""

import sys
from collections.abc import Sequence
from typing import Any

import click

from headwater.errors import HeadwaterError
from headwater.text import caret


def render_error(err: HeadwaterError, *, json: bool = False, color: bool = False) -> str:
    """An error as a paragraph (code, message, place with caret, hint), or as one line of JSON."""
    if json:
        return to_json({"error": _error_fields(err)}, indent=False)
    head = click.style(f"error[{err.code}]", fg="red", bold=True) + click.style(f": {err.message}", bold=True)
    lines = [head]
    if err.source is not None and err.span is not None:
        lines.append(caret(err.source, err.span))
    elif err.source is not None and err.source.name:
        lines.append(f"  ┌ {err.source.name}")
    more = f"(headwater explain {err.code})"
    lines.append(f"{click.style('hint', fg='cyan')}: {err.hint}   {more}" if err.hint else more)
    text = "\n".join(lines)
    return text if color else click.unstyle(text)


def _error_fields(err: HeadwaterError) -> dict[str, Any]:
    fields: dict[str, Any] = {"code": err.code, "message": err.message}
    if err.hint:
        fields["hint"] = err.hint
    if err.place:
        fields["place"] = err.place
    return fields


def to_json(value: Any, *, indent: bool = True) -> str:
    """A value as JSON: dataclasses, enums and dates included, keys in the order given."""
    import msgspec

    encoded = msgspec.json.encode(value)
    return (msgspec.json.format(encoded, indent=2) if indent else encoded).decode()


def print_json(value: Any) -> None:
    """Print a value as JSON on stdout."""
    sys.stdout.write(to_json(value) + "\n")


def print_table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows under headers in aligned columns; numbers to the right.

    The text is the same on a terminal and in a pipe, so that `grep` and eyes see one thing.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max([len(header), *(len(row[i]) for row in cells)]) for i, header in enumerate(headers)]
    right = [
        bool(rows) and all(isinstance(row[i], int | float) or row[i] is None for row in rows)
        for i in range(len(headers))
    ]
    write = sys.stdout.write
    write(_line(list(headers), widths, right) + "\n")
    write("  ".join("─" * width for width in widths) + "\n")
    for row in cells:
        write(_line(row, widths, right) + "\n")


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value).replace("\n", " ")


def _line(cells: list[str], widths: list[int], right: list[bool]) -> str:
    return "  ".join(
        cell.rjust(width) if is_right else cell.ljust(width) for cell, width, is_right in zip(cells, widths, right)
    ).rstrip()
