"""Positions in text, and how to show them. A `Span` counts characters, half-open, with the line and column (from 1)
of its start. Engines that count UTF-8 bytes (ZetaSQL) are converted by `Source`, the only place that knows both."""

import difflib
import heapq
import itertools
import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import msgspec

_LONE = re.compile("[\ud800-\udfff]")


class Span(msgspec.Struct, frozen=True, order=True, gc=False):
    """A piece of one text: characters `start` to `end`, beginning at `line`:`column`."""

    start: int
    end: int
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"

    def cover(self, other: "Span") -> "Span":
        """The smallest span that holds both.

        >>> str(Span(4, 6, 1, 5).cover(Span(0, 2, 1, 1)))
        '1:1'
        """
        first = self if self.start <= other.start else other
        return Span(first.start, max(self.end, other.end), first.line, first.column)


@dataclass(frozen=True)
class Source:
    """A named text that spans point into.

    >>> source = Source("SELECT é\\nFROM t", "q.sql")
    >>> str(source.span(9, 13)), source.excerpt(source.span(9, 13))
    ('2:1', 'FROM')
    >>> source.span_of_bytes(10, 14) == source.span(9, 13)
    True
    """

    text: str
    name: str | None = None

    def __post_init__(self) -> None:
        if not self.text.isascii() and _LONE.search(self.text):
            # Halves of a character, which no bytes can say: they are replaced one for one, so that places stay.
            object.__setattr__(self, "text", _LONE.sub("\ufffd", self.text))

    @cached_property
    def line_starts(self) -> list[int]:
        lengths = [len(line) + 1 for line in self.text.split("\n")]
        return [0, *itertools.accumulate(lengths[:-1])]

    @cached_property
    def _byte_starts(self) -> list[int] | None:
        """The byte offset of each line; None when the text is ASCII and the two counts agree."""
        if self.text.isascii():
            return None
        starts, at = [], 0
        for line in self.text.split("\n"):
            starts.append(at)
            at += len(line.encode()) + 1
        return starts

    def span(self, start: int, end: int) -> Span:
        """The span of characters `start` to `end`, both clipped to the text."""
        start = max(0, min(start, len(self.text)))
        line = bisect_right(self.line_starts, start)
        return Span(start, max(start, min(end, len(self.text))), line, start - self.line_starts[line - 1] + 1)

    def span_of_bytes(self, start: int, end: int) -> Span:
        """The span of UTF-8 bytes `start` to `end`."""
        return self.span(self.character_at(start), self.character_at(end))

    def span_at(self, line: int, column: int, length: int = 1) -> Span:
        """The span of `length` characters at `line`:`column`, both from 1."""
        row = max(1, min(line, len(self.line_starts)))
        start = self.line_starts[row - 1] + max(0, column - 1)
        return self.span(start, start + length)

    def character_at(self, byte: int) -> int:
        """The character offset of a UTF-8 byte offset."""
        if self._byte_starts is None:
            return byte
        row = max(0, bisect_right(self._byte_starts, byte) - 1)
        line = self.line(row + 1).encode()[: byte - self._byte_starts[row]]
        return self.line_starts[row] + len(line.decode(errors="ignore"))

    def line(self, number: int) -> str:
        """Line `number` (from 1) without its line break."""
        start = self.line_starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start:] if end < 0 else self.text[start:end]

    def excerpt(self, span: Span) -> str:
        """The text a span covers."""
        return self.text[span.start : span.end]

    def place(self, span: Span) -> str:
        """`file:line:column`, as editors understand it."""
        return f"{self.name or '<input>'}:{span.line}:{span.column}"


def caret(source: Source, span: Span, width: int = 120) -> str:
    """The line a span begins on, with the span underlined.

    >>> print(caret(Source("SELECT amonut\\nFROM orders", "q.sql"), Span(7, 13, 1, 8)))
      ┌ q.sql:1:8
    1 │ SELECT amonut
      │        ^^^^^^
    """
    line = source.line(span.line).replace("\t", " ").rstrip("\r")
    begin = span.column - 1
    length = max(1, min(span.end - span.start, len(line) - begin))
    if len(line) > width:  # keep the span in sight in a very long line
        cut = max(0, min(begin - width // 3, len(line) - width))
        line, begin = line[cut : cut + width], begin - cut
        length = min(length, max(1, width - begin))
    number = str(span.line)
    gutter = " " * len(number)
    return f"{gutter} ┌ {source.place(span)}\n{number} │ {line}\n{gutter} │ {' ' * begin}{'^' * length}"


def counted(count: int, noun: str) -> str:
    """A number of things, in words.

    >>> counted(1, "row"), counted(1200, "row"), counted(0, "bush"), counted(2, "query")
    ('1 row', '1,200 rows', '0 bushes', '2 queries')
    """
    if count != 1:
        noun = re.sub("(?<![aeou])y$", "ie", noun)
        noun += "es" if noun.endswith(("s", "sh", "ch", "x")) else "s"
    return f"{count:,} {noun}"


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate a mistyped word most likely meant, ignoring case.

    >>> nearest("amonut", ["id", "Amount"])
    'Amount'
    """
    by_folded = {candidate.casefold(): candidate for candidate in candidates}
    wanted = word.casefold()
    likely: Iterable[str] = by_folded
    if len(by_folded) > _FEW:  # comparing two long names takes half a millisecond, and there may be thousands
        likely = heapq.nlargest(_FEW, by_folded, key=lambda each: _shared_pairs(wanted, each))
    close = difflib.get_close_matches(wanted, likely, n=1, cutoff=0.6)
    return by_folded[close[0]] if close else None


def suggest(word: str, known: Iterable[str], otherwise: str, form: str = "`{}`") -> str:
    """A hint for a mistyped word: the known one that was most likely meant, or `otherwise`.

    >>> suggest("amonut", ["id", "amount"], "columns: id, amount")
    'did you mean `amount`?'
    """
    close = nearest(word, known)
    return f"did you mean {form.format(close)}?" if close else otherwise


_FEW = 12


def _shared_pairs(word: str, other: str) -> float:
    """The share of neighbouring letters that two words have in common."""
    pairs, others = _pairs(word), _pairs(other)
    return 2 * len(pairs & others) / (len(pairs) + len(others))


@lru_cache(50_000)
def _pairs(word: str) -> frozenset[str]:
    return frozenset(map("".join, zip(f" {word}", f"{word} ")))


_SECRETS = (
    (re.compile(r"(://)[^/\s@'\"]+:(?!\d+/)[^\s'\"]+@"), r"\1***@"),
    (re.compile(r"(?i)(\bjdbc:oracle:\w+:)[^\s@/]*/[^\s@]*@"), r"\1***@"),
    (
        re.compile(
            r"(?i)((?:password|passwd|pwd|secret|token|credential|api[_.-]?key|access[_.-]?key|account[_.-]?key|sas"
            r"|signature)[\w.-]*[\"']?\s*[=:]\s*)(?!\*\*\*|[\"']\*\*\*)"
            r"(?:\{[^}\n]*\}|\"[^\"\n]+\"|'[^'\n]+'|[\"']?[^\s&;,\"')\]}]+)"
        ),
        r"\1***",
    ),
    (re.compile(r"(?i)(\bbearer\s+)[\w.~+/=-]{6,}"), r"\1***"),
)


def without_secrets(text: str) -> str:
    """A text of others, such as the message of a driver, without what looks like a password in it.

    >>> without_secrets("no route to jdbc:postgresql://me:hunter2@db/x?password=hunter2&ssl=true")
    'no route to jdbc:postgresql://***@db/x?password=***&ssl=true'
    """
    for pattern, mask in _SECRETS:
        text = pattern.sub(mask, text)
    return text
