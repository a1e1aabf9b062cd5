"""The form of results and errors. Everything reads the same without colour."""

import re
import sys
from collections.abc import Sequence
from typing import Any

import click

from headwater.cli.terminal import width_of
from headwater.errors import HeadwaterError
from headwater.fit import align, wrapped
from headwater.text import Source, Span, caret

_LONG_LINE = 123  # characters of a line of SQL, with what stands before it, where there is no terminal


def render_error(err: HeadwaterError, *, json: bool = False, color: bool = False, width: int | None = None) -> str:
    """An error as a paragraph (code, message, place with caret, hint), or as one line of JSON."""
    if json:
        return to_json({"error": _error_fields(err)}, indent=False)
    more = f"(headwater explain {err.code})"
    hint = f"hint: {err.hint}" if err.hint else ""
    fits = width is None or len(hint) + 3 + len(more) <= width
    hints = [f"{hint}   {more}"] if hint and fits else [*([hint] if hint else []), more]
    head = f"error[{err.code}]: {err.message}"
    return paragraph(head, "red", err.source, err.span, hints, color=color, width=width)


def paragraph(
    head: str,
    ink: str,
    source: Source | None,
    span: Span | None,
    hints: Sequence[str],
    *,
    color: bool,
    width: int | None,
) -> str:
    """A paragraph on what is wrong, where, and what to do, in lines no longer than `width`."""
    lines = [wrapped(head, width) if width else head]
    if color:
        word, colon, message = lines[0].partition(": ")
        lines = [click.style(word, fg=ink, bold=True) + click.style(colon + message, bold=True)]
    if source is not None and span is not None:
        lines.append(caret(source, span, (width or _LONG_LINE) - len(str(span.line)) - 3))
    elif source is not None and source.name:
        lines.append(f"  ┌ {source.name}")
    for hint in hints:
        text = wrapped(hint, width) if width else hint
        lines.append(re.sub("^hint", click.style("hint", fg="cyan"), text) if color else text)
    return "\n".join(lines)


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
    """Print rows under headers, on a terminal no wider than it is."""
    sys.stdout.write(align(headers, rows, width=width_of(sys.stdout), wrap=True) + "\n")
