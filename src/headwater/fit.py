"""Text that fits a width: names that are cut and stay different, tables, and lines that go on in the next."""

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import zip_longest
from typing import TypeAlias

_DIGITS = 15  # of a number: more than a double always has are an artefact of adding, such as 0.30000000000000004
_NARROWEST = 8  # characters of a column of a table
_WORD = 20  # characters of a column of sentences or lists, whatever words it has
_TIME = re.compile(r"(?:\d{4}-\d\d-\d\d[ \dT:.+Z-]*)?$")  # is not cut
_MOST_LINES = 6  # of one cell


class ShortNames:
    """Shortens names that are shown together: what it gives for one can mean no other of them.

    >>> names = ShortNames(["raw/2026-03-01/orders.csv", "raw/2026-03-02/orders.csv", "raw/2026-03-02/items.csv"])
    >>> names.fit("raw/2026-03-01/orders.csv", 16), names.fit("raw/2026-03-02/items.csv", 16)
    ('raw…1/orders.csv', 'raw/20…items.csv')
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = sorted(set(names))
        self._starts = Counter(start for name in self._names for start in _starts(name))

    def fit(self, name: str, width: int) -> str:
        """The name in at most `width` characters, `…` for what is left out; whole if every such form is ambiguous."""
        if len(name) <= width:
            return name
        common = max((len(each) for each in _starts(name) if 2 * self._starts[each] > len(self._names)), default=0)
        forms = (form for form in _forms(name, common, width - 1) if not self._means_another(form, name))
        return "…".join(next(forms, (name,)))

    def _means_another(self, form: tuple[str, ...], name: str) -> bool:
        head, *middle, tail = form
        for at in range(bisect_left(self._names, head), len(self._names)):
            other = self._names[at]
            if not other.startswith(head):
                return False
            begin, end = len(head) + 1, len(other) - len(tail) - 1
            fits = other.find(middle[0], begin, end) >= 0 if middle else begin <= end + 1
            if fits and other.endswith(tail) and other != name:
                return True
        return False


def _starts(name: str) -> list[str]:
    """The databases or folders that a name begins with."""
    return [name[: found.end()] for found in re.finditer(r"[./]", name)]


def _forms(name: str, common: int, room: int) -> Iterator[tuple[str, ...]]:
    """The pieces of a name that may be kept, best first. Its first `common` characters say least."""
    if room < 2:
        return
    size, rest = len(name), len(name) - common
    if " " in name:  # a sentence or an expression
        yield name[:room], ""
    if common and rest <= room:
        yield name[: room - rest] if room - rest > 3 else "", name[common:]
    elif common and room > 2:
        half = (room - 1) // 2
        yield "", name[common : common + half], name[size - (room - 1 - half) :]
    for head in sorted(range(room + 1), key=lambda each: abs(each - room // 2)):
        yield name[:head], name[size - (room - head) :]
    third = (room - 1) // 3
    if third:
        for at in range(third + 1, size - 2 * third - 1):
            yield name[:third], name[at : at + room - 1 - 2 * third], name[size - third :]


def align(
    headers: Sequence[str], rows: Sequence[Sequence[object]], *, width: int | None = None, wrap: bool = False
) -> str:
    """Rows in aligned columns under their headers, numbers to the right.

    With `width`, text is cut so that no line is longer, but no column becomes narrower than eight characters; or,
    with `wrap`, goes on in the next line where it cannot be cut to anything unambiguous.

    >>> print(align(("table", "rows"), [("orders", 1200), ("fx", 7)]))
    table    rows
    ──────  ─────
    orders  1,200
    fx          7
    """
    cells = [[cell_text(value) for value in row] for row in rows]
    widths = [max([len(header), *(len(row[i]) for row in cells)]) for i, header in enumerate(headers)]
    right = [_is_numeric([row[i] for row in rows]) for i in range(len(headers))]
    heads, body = [list(headers)], [[row] for row in cells]
    gaps = 2 * (len(widths) - 1)
    if width is not None and sum(widths) + gaps > width:
        least = [_words(header) if wrap else len(header) for header in headers]
        widths = [max([least[i], *(len(row[i]) for row in cells)]) for i in range(len(headers))]
        texts = [i for i, number in enumerate(right) if not number and not all(_TIME.match(row[i]) for row in cells)]
        words = {i: max(_words(row[i]) for row in cells) for i in texts if any(" " in row[i] for row in cells)}
        if wrap:
            _narrow(widths, {i: min(max(size, _NARROWEST), _WORD) for i, size in words.items()}, width - gaps)
        least = [0 if wrap else min(len(header), _WORD) for header in headers]
        _narrow(widths, {i: max(least[i], _NARROWEST) for i in texts}, width - gaps)
        names = [ShortNames(text for row in cells for text in (row[i], *row[i].split())) for i in range(len(headers))]
        heads = _lines([wrap_words(text, size) for text, size in zip(headers, widths)])
        body = [_lines([_cell(*each, wrap) for each in zip(row, widths, names)]) for row in cells]

    def line(cells: Sequence[str]) -> str:
        padded = (c.rjust(size) if number else c.ljust(size) for c, size, number in zip(cells, widths, right))
        return "  ".join(padded).rstrip()

    rule = "  ".join("─" * size for size in widths)
    return "\n".join([*map(line, heads), rule, *(line(each) for lines in body for each in lines)])


def _words(text: str) -> int:
    """The length of the longest word of a text."""
    return max(map(len, text.split()), default=0)


def _is_numeric(values: list[object]) -> bool:
    known = [each for each in values if each not in (None, "")]
    return bool(known) and all(isinstance(each, int | float) for each in known)


def _lines(cells: Sequence[Sequence[str]]) -> list[list[str]]:
    """Cells of several lines as lines of cells."""
    return [list(line) for line in zip_longest(*cells, fillvalue="")]


def _cell(text: str, width: int, names: ShortNames, wrap: bool) -> list[str]:
    """The lines of a cell."""
    if text.endswith(", …") and len(text) > width:  # examples: fewer of them
        text = names.fit(text[: text.rfind(", ", 0, width - 2)] + ", …" if ", " in text[: width - 2] else text, width)
    if wrap and " " in text and len(text) > width:
        lines = wrap_words(" ".join(names.fit(word, width) for word in text.split()), width)
    else:
        short = names.fit(text, width)
        lines = [short[at : at + width] for at in range(0, len(short), width)] or [""]
    if len(lines) <= (_MOST_LINES if wrap else 1):
        return lines
    return [text[: width - 1] + "…"] if not wrap else [*lines[: _MOST_LINES - 1], "…"]


def _narrow(widths: list[int], floors: Mapping[int, int], room: int) -> None:
    """Make the widest of some columns narrower until all columns fit the room, but none narrower than its floor."""
    while sum(widths) > room:
        wide = [i for i, floor in floors.items() if widths[i] > floor]
        if not wide:
            return
        widths[max(wide, key=lambda i: widths[i])] -= 1


def cell_text(value: object) -> str:
    """A value as a table shows it, in one line.

    >>> cell_text(1200), cell_text(None), cell_text(True), cell_text("a\\n b")
    ('1,200', '', 'yes', 'a b')
    """
    if value is None or isinstance(value, bool):
        return {None: "", True: "yes", False: "no"}[value]
    return f"{value:,}" if isinstance(value, int) else value_text(value)


def value_text(value: object) -> str:
    """A value in one line of text; of a floating-point number 15 digits, which every one of them has for sure.

    >>> value_text(27.285 * 2 + 1e-14), value_text(None), value_text(401), value_text([0.1 + 0.2, {"a": "x"}])
    ('54.57', 'null', '401', "[0.3, {'a': 'x'}]")
    """
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_inner_text, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_inner_text(name)}: {_inner_text(each)}' for name, each in value.items())}}}"
    return "null" if value is None else " ".join(str(_rounded(value)).split())


def _inner_text(value: object) -> str:
    """A value inside of another."""
    return repr(value) if isinstance(value, str) else value_text(value)


def row_text(row: Mapping[str, object]) -> str:
    """The names and values of a row, in one line."""
    return ", ".join(f"{name} {value_text(value)}" for name, value in row.items())


def number_text(value: object) -> str:
    """A value in one line of text, numbers with separators.

    >>> number_text(282216.36000000004), number_text(1200), number_text("x")
    ('282,216.36', '1,200', 'x')
    """
    number = _rounded(value)
    return f"{number:,}" if isinstance(number, int | float | Decimal) else value_text(value)


def _rounded(value: object) -> object:
    near = float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value
    return value if near in (math.inf, -math.inf) else near  # the largest have no neighbour of fewer digits


# ------------------------------------------------------------------------------------------------------- lines

_LEAD = re.compile(r"^(?:[│├└─ ]*(?:[+~✗] |- )?(?:table |column )?)")
_GOES_ON = str.maketrans({"├": "│", **dict.fromkeys("└─+-~✗", " ")})
_BETWEEN = re.compile(r"(  +(?:[A-Z_/]{3,}(?= |$)(?: (?! ))?|~ )?| → | ⇒ | such as | \(observed\)| \(see above\))")
_FEWEST = (12, 20, 36)  # characters that an expression, a place and a name keep
_EXPRESSION, _PLACE, _NAME, _SENTENCE = range(4)

Part: TypeAlias = tuple[str, str]
"""A piece of a line that may be shortened, after what stands before it."""


def fit_lines(text: str, width: int) -> str:
    """Lines of which none is longer than `width`. Two blanks or an arrow end a part of a line. Expressions, places
    and names are shortened so that different ones stay different; where that is not enough, a line goes on in the
    next.

    >>> print(fit_lines("├─ raw.orders.amount  SUM sum(amount)  models/staging/finance/orders.sql:12", 60))
    ├─ raw.orders.amount  SUM sum(amount)  models/sta…ers.sql:12
    """
    lines = [(lead := _lead(line), _parts(line[len(lead) :])) for line in text.split("\n")]
    names = ShortNames(part for _, parts in lines for _, part in parts)
    fitted = (line for lead, parts in lines for line in _fitted(lead, _after(lead), parts, names, width))
    return "\n".join(map(str.rstrip, fitted))


def _lead(line: str) -> str:
    found = _LEAD.match(line)
    return found.group() if found else ""


def _parts(text: str) -> list[Part]:
    found = ["", *_BETWEEN.split(text)]
    return list(zip(found[::2], found[1::2]))


def _after(lead: str) -> str:
    """The lead of the lines that a line goes on in."""
    table = " " * len(lead) if lead.endswith(("table ", "column ")) else lead.translate(_GOES_ON)
    return table + "    "


def _fitted(lead: str, more: str, parts: list[Part], names: ShortNames, width: int) -> list[str]:
    """The lines for one line; all but the first begin with `more`."""
    short, room = [part for _, part in parts], width - len(lead) - sum(len(between) for between, _ in parts)
    for kind, fewest in enumerate(_FEWEST):
        of_kind = [at for at, part in enumerate(parts) if _kind(part) == kind]
        for at in sorted(of_kind, key=lambda each: -len(short[each])):
            over = sum(map(len, short)) - room
            if over <= 0:
                break
            second = max((len(short[each]) for each in of_kind if each != at), default=0)
            most = max(len(short[at]) - over, fewest, min(second, len(short[at]) - (over + 1) // 2))
            short[at] = min(names.fit(parts[at][1], most), short[at], key=len)
    if sum(map(len, short)) <= room:
        return [lead + "".join(between + each for (between, _), each in zip(parts, short))]
    return _broken(lead, more, parts, names, width)


def _kind(part: Part) -> int:
    between, text = part
    if between.strip().isupper() or between.strip() == "~":
        return _EXPRESSION
    return _SENTENCE if " " in text else _NAME if between in ("", " → ") else _PLACE


def _broken(lead: str, more: str, parts: list[Part], names: ShortNames, width: int) -> list[str]:
    """A line in several: as many parts as fit in the first, but one at least, and the others in the next."""
    if all(between in ("", " → ") for between, _ in parts) and any(" " in each for _, each in parts):
        return wrap_words("".join(map("".join, parts)), width, lead, more)
    between, text = parts[0]
    text = between + (names.fit(text, width - len(lead) - len(between)) if _kind(parts[0]) < _SENTENCE else text)
    *lines, now = wrap_words(text, width, lead, more)
    at = 1
    while at < len(parts) and len(now) + sum(map(len, parts[at])) <= width:
        now += "".join(parts[at])
        at += 1
    rest = [(parts[at][0].lstrip(), parts[at][1]), *parts[at + 1 :]] if at < len(parts) else []
    return [*lines, now, *(_fitted(more, more, rest, names, width) if rest else [])]


def wrap_words(text: str, width: int, lead: str = "", more: str = "", *, split: bool = True) -> list[str]:
    """The words of a text in lines after `lead` and `more`. A word that is longer than a line is in several, unless
    it may not be `split`."""
    width = max(width, len(more) + _NARROWEST if more else 1)
    lines, now, words = [], lead, 0
    for word in text.split():
        if words and len(now) + 1 + len(word) > width:
            lines.append(now)
            now, words = more, 0
        now, words = now + " " * bool(words) + word, words + 1
        while split and len(now) > width:
            lines.append(now[:width])
            now = more + now[width:]
    return [*lines, now]


def wrapped(text: str, width: int) -> str:
    """Sentences in lines no longer than `width`, if no word is. What stands in backticks stays in one line, so that
    it can be copied.

    >>> print(wrapped("hint: `headwater harvest PATH` reads SQL files", 24))
    hint:
      `headwater harvest PATH`
      reads SQL files
    """
    return "\n".join(_wrapped(line, width) for line in text.split("\n"))


def _wrapped(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    kept = re.sub(r"`[^`]*`", lambda found: found.group().replace(" ", "\0"), line)
    lead = line[: len(line) - len(line.lstrip())]
    more = lead + "  " if lead or _TITLE.match(line) else ""
    return "\n".join(wrap_words(kept, width, lead, more, split=False)).replace("\0", " ")


_TITLE = re.compile(r"[\w\[\]-]+: ")  # such as `hint: `
