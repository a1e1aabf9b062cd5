"""Templates: what they can ask for, and what they become. `headwater.analysis.rendering` turns one into the other."""

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headwater.errors import Issue
from headwater.text import Source, Span

_LOOKS_LIKE_TEMPLATE = re.compile(r"\{\{|\{%|\{#")


@dataclass(frozen=True, slots=True)
class TemplateOptions:
    """The things that a template can ask for: variables, and what dbt's functions answer."""

    variables: Mapping[str, Any] = field(default_factory=dict)
    schema: str | None = None  # put before what `ref` and `this` name
    incremental: bool = False


@dataclass(frozen=True, slots=True)
class Rendered:
    """The SQL a template makes, and for each of its pieces the place in the template it came from."""

    text: str
    template: Source
    starts: tuple[int, ...] = ()  # where a piece of the output begins …
    places: tuple[tuple[int, int, bool], ...] = ()  # … and its span in the template; True: character by character
    issues: tuple[Issue, ...] = ()

    def span(self, span: Span) -> Span:
        """The place in the template of a place in the output."""
        if not self.starts:
            return span
        start, _ = self._place(span.start)
        _, end = self._place(max(span.start, span.end - 1))
        return self.template.span(start, max(start, end))

    def _place(self, at: int) -> tuple[int, int]:
        """The template's characters behind one character of the output."""
        piece = max(0, bisect_right(self.starts, at) - 1)
        start, end, exact = self.places[piece]
        if not exact:
            return start, end
        here = min(start + at - self.starts[piece], end)
        return here, min(here + 1, end)


def is_template(text: str) -> bool:
    """Return whether a text has anything for Jinja to do."""
    return _LOOKS_LIKE_TEMPLATE.search(text) is not None
