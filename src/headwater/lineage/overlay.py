"""A mapping laid over another: changes stay in the upper one, and what was looked up in the lower one is noted."""

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from enum import Enum
from typing import Any, Generic, TypeAlias, TypeVar, cast

Key: TypeAlias = tuple[str, ...]
Value = TypeVar("Value")
EVERYTHING: Key = ("*",)
"""Stands among what was looked up for all of it: the mapping was gone through. With a key behind it, it stands for
the entries that begin like that key: they are in the same schema, and their names begin with its name."""


class Absent(Enum):
    """Stands for the value of a key that is not there."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


class Layer(MutableMapping[Key, Value], Generic[Value]):
    """`base` with changes, which it never sees; `looked_up` is where lookups that reach it are noted, if given.
    A key that is not there is noted as well: that, too, an answer may depend on."""

    def __init__(
        self, base: Mapping[Key, Value], looked_up: dict[Key, Value | Absent] | None = None, *, indexed: bool = False
    ) -> None:
        self.base = base
        self.own: dict[Key, Value | Absent] = {}
        self.looked_up = looked_up
        self.words: dict[str, set[Key]] | None = {} if indexed else None
        self.schemas: dict[Key, set[Key]] = {}  # its own keys by the schema that they are in, if it is indexed
        self.schemas_below: dict[Key, list[Key]] = {}  # those of `base`, worked out when they are asked for
        self.changes = 0

    def __copy__(self) -> "Layer[Value]":
        other: Layer[Value] = Layer(self.base, self.looked_up)
        other.own = dict(self.own)
        other.words = None if self.words is None else {word: set(keys) for word, keys in self.words.items()}
        other.schemas = {schema: set(keys) for schema, keys in self.schemas.items()}
        other.schemas_below = self.schemas_below
        return other

    def find(self, key: Key) -> Value | Absent:
        """The value of a key, or that there is none."""
        if key in self.own:
            return self.own[key]
        found = self.base.get(key, ABSENT)
        if self.looked_up is not None:
            self.looked_up.setdefault(key, found)
        return found

    def __getitem__(self, key: Key) -> Value:
        found = self.find(key)
        if found is ABSENT:
            raise KeyError(key)
        return found

    def get(self, key: Key, default: Any = None) -> Any:
        found = self.find(key)
        return default if found is ABSENT else found

    def __contains__(self, key: object) -> bool:
        return self.find(cast(Key, key)) is not ABSENT

    def __setitem__(self, key: Key, value: Value) -> None:
        self.own[key] = value
        self.changes += 1
        if self.words is not None:
            self.words.setdefault(word_of(key), set()).add(key)
            self.schemas.setdefault(key[:-1], set()).add(key)

    def __delitem__(self, key: Key) -> None:
        _ = self[key]
        self.changes += 1
        self.own[key] = ABSENT

    def __iter__(self) -> Iterator[Key]:
        return (key for key, _ in self.items())

    def __len__(self) -> int:
        return len(self.items())

    def __bool__(self) -> bool:
        return bool(self.base) or any(value is not ABSENT for value in self.own.values())

    def values(self) -> list[Value]:  # type: ignore[override]
        if self.looked_up is not None:
            self.looked_up[EVERYTHING] = ABSENT
        return [value for _, value in self.items()]

    def items(self) -> list[tuple[Key, Value]]:  # type: ignore[override]
        """All of it, without a note: for whoever looks for what it already has."""
        lower = [(key, value) for key, value in self.base.items() if key not in self.own]
        return lower + [(key, value) for key, value in self.own.items() if value is not ABSENT]

    def beginning(self, start: Key) -> list[tuple[Key, Value]]:
        """The entries that begin like a key, without a note."""
        if self.words is None:
            return beginning(dict(self.items()), start)
        if not self.schemas_below:
            for key in self.base:
                self.schemas_below.setdefault(key[:-1], []).append(key)
        own = self.changed_beginning(start)
        lower = [key for key in self.schemas_below.get(start[:-1], ()) if key[-1].startswith(start[-1])]
        return own + [(key, self.base[key]) for key in lower if key not in self.own]

    def changed_beginning(self, start: Key) -> list[tuple[Key, Value]]:
        """The changed entries that begin like a key. REQUIRES: it is indexed."""
        keys = [key for key in self.schemas.get(start[:-1], ()) if key[-1].startswith(start[-1])]
        return [(key, value) for key in keys if (value := self.own[key]) is not ABSENT]

    def changed(self, words: Iterable[str] | None) -> Iterator[tuple[Key, Value]]:
        """The changed entries whose names begin with one of some words; all of them for None.
        REQUIRES: it is indexed."""
        assert self.words is not None
        for word in self.words if words is None else words:
            for key in self.words.get(word, ()):
                value = self.own[key]
                if value is not ABSENT:
                    yield key, value


def beginning(entries: Mapping[Key, Value], start: Key) -> list[tuple[Key, Value]]:
    """The entries that begin like a key. A layer that notes lookups notes it."""
    if not isinstance(entries, Layer):
        return [(k, v) for k, v in entries.items() if k[:-1] == start[:-1] and k[-1].startswith(start[-1])]
    if entries.looked_up is not None:
        entries.looked_up[(*EVERYTHING, *start)] = ABSENT
    return entries.beginning(start)


def word_of(key: Key) -> str:
    """The first word of a table's own name, in lower case: a text that names the table has that word in it.

    >>> word_of(("shop", "Daily-Sales")), word_of(("#t",))
    ('daily', 't')
    """
    name = key[-1].lower()
    start = next((at for at, char in enumerate(name) if _in_word(char)), len(name))
    end = next((at for at, char in enumerate(name) if at > start and not _in_word(char)), len(name))
    return name[start:end]


def _in_word(char: str) -> bool:
    return char.isalnum() or char in "_$"
