"""The form of results and errors. Everything reads the same without colour."""

import sys
from collections.abc import Sequence
from typing import Any

import click

from headwater.errors import HeadwaterError
from headwater.text import align, caret


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
    """Print rows under headers. A terminal and a pipe get the same text, so that eyes and `grep` see one thing."""
    sys.stdout.write(align(headers, rows) + "\n")
