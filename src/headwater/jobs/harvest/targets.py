"""Patterns of paths: the table that a file makes, and what the names in it are short for.

In `sql/{project}/{dataset}/{table}/query.sql` a placeholder stands for a part of one step of the path, `*` for
anything in one step and `**` for any steps. A pattern is compared with the end of a path.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from headwater.errors import UsageError
from headwater.sql.dialects import canonical_dialect, sqlglot_dialect
from headwater.text import suggest

_CATALOGS = ("catalog", "project", "database")
_SCHEMAS = ("schema", "dataset")
_PLACES = (*_CATALOGS, *_SCHEMAS, "table")
_WORD = re.compile(r"[A-Za-z_]\w*")
_PIECES = re.compile(r"\{([^{}]*)\}|(\*\*/?)|(\*)|([^{*]+)|(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PathTarget:
    """A table by its parts, as far as a path tells them."""

    catalog: str | None
    schema: str | None
    table: str | None  # None: the file makes what it says, and the path only tells what its names are short for

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(part for part in (self.catalog, self.schema, self.table) if part)

    def written(self, dialect: str | None) -> str | None:
        """The name as SQL of a dialect has it: parts that are no plain words are quoted."""
        if self.table is None:
            return None
        spoken = sqlglot_dialect(canonical_dialect(dialect))
        quoted = (exp.to_identifier(part, quoted=not _WORD.fullmatch(part)) for part in self.parts)
        return ".".join(part.sql(dialect=spoken) for part in quoted)


class Patterns:
    """Patterns in order: the first that a path matches counts.

    >>> Patterns(["{dataset}/{table}.sql"]).target(Path("models/shop/orders.sql")).parts
    ('shop', 'orders')

    RAISES: UsageError when a pattern cannot be read.
    """

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        self.written = tuple(patterns)
        self._patterns = [_compiled(pattern) for pattern in patterns]

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def target(self, path: Path) -> PathTarget | None:
        """The table that a file makes; None if no pattern matches its path."""
        text = path.absolute().as_posix()
        found = next((match for pattern in self._patterns if (match := pattern.search(text))), None)
        if found is None:
            return None
        named = found.groupdict()
        catalog, schema = (
            next((named[each] for each in names if each in named), None) for names in (_CATALOGS, _SCHEMAS)
        )
        return PathTarget(catalog, schema, named.get("table"))


def _compiled(pattern: str) -> re.Pattern[str]:
    pieces = ["(?:^|/)"]
    seen: set[str] = set()
    for name, deep, one, text, odd in _PIECES.findall(pattern.removeprefix("./")):
        if odd:
            raise _refused(pattern, f"`{odd}` stands alone", "placeholders look like {table}")
        if deep:
            pieces.append("(?:[^/]+/)*" if deep.endswith("/") else ".*")
        elif one:
            pieces.append("[^/]*")
        elif text:
            pieces.append(re.escape(text))
        else:
            pieces.append(_place(pattern, name, seen))
    if not seen:
        raise _refused(pattern, "it has no placeholder", "for example sql/{dataset}/{table}.sql")
    return re.compile("".join(pieces) + "$")


def _place(pattern: str, name: str, seen: set[str]) -> str:
    if name not in _PLACES:
        hint = suggest(name, _PLACES, f"placeholders: {', '.join(_PLACES)}", "{{{}}}")
        raise _refused(pattern, f"there is no placeholder {{{name}}}", hint)
    if name in seen:
        raise _refused(pattern, f"{{{name}}} is there twice", "name each part once, and use * for the other")
    seen.add(name)
    return f"(?P<{name}>[^/]+?)"


def _refused(pattern: str, why: str, hint: str) -> UsageError:
    return UsageError(f"`{pattern}` is no pattern of paths: {why}", hint=hint)
