"""The width of text, without a font at hand.
The widths are those of a common sans-serif face in thousandths of its size, rounded up by class of character; what is
drawn with another face is given the same room and a little more. Wide scripts count as a full square."""

import re
from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from unicodedata import east_asian_width

_NARROW = set("iljtfrI.,:;'|![]() ")
_WIDE = set("mwMWQOG@%&")
_MARGIN, _BOLD = 1.06, 1.2
_ROUNDING = 0.01  # a box made for a text must hold it


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """The room a text needs, in the unit of `size`.

    >>> text_width("iii", 10) < text_width("aaa", 10) < text_width("WWW", 10)
    True
    """
    total = 0.0
    for char in text:
        if char in _NARROW:
            total += 0.34
        elif char in _WIDE:
            total += 0.92
        elif east_asian_width(char) in "WF":
            total += 1.0
        elif char.isupper() or char.isdigit():
            total += 0.68
        else:
            total += 0.56
    return total * size * (_BOLD if bold else _MARGIN)


def labels(texts: Sequence[str], rooms: Sequence[float], size: float, *, bold: bool = False) -> list[str]:
    """The texts of one picture, each cut to its room so that texts that differ are drawn differently; those that
    differ in no part that has room are numbered.

    >>> labels(["mozdata.firefox.history_sync", "mozdata.firefox_beta.history_sync"], [120, 120], 10)
    ['…firefox.history_sync', '…beta.history_sync']
    """
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts), 1)}
    found: list[str] = []
    taken: dict[str, str] = {}  # by what is drawn, its text
    for text, room in zip(texts, rooms):
        shown = shortened(text, size, room, tuple(numbers), bold=bold)
        if taken.setdefault(shown, text) != text:
            number = f"{numbers[text]}: "
            shown = number + shortened(text, size, room - text_width(number, size, bold=bold), bold=bold)
        found.append(shown)
    return found


def shortened(text: str, size: float, room: float, others: Sequence[str] = (), *, bold: bool = False) -> str:
    """The text, cut if it would need more than `room`, and so that it cannot be taken for one of the others.

    >>> shortened("a_very_long_column_name_indeed", 10, 80)
    'a_very_…indeed'
    >>> shortened("/home/me/shop/raw/2026-03-01/customers.csv", 10, 180)
    '…/2026-03-01/customers.csv'
    """

    def fits(shown: str) -> bool:
        return text_width(shown, size, bold=bold) <= room + _ROUNDING

    if fits(text):
        return text
    cuts = _cuts(text, fits)
    first = next(cuts)
    rivals = [other for other in others if other != text]
    clear = (cut for cut in chain((first,), cuts) if not any(_may_be(cut, rival) for rival in rivals))
    return next(clear, first)


def _cuts(text: str, fits: Callable[[str], bool]) -> Iterator[str]:
    """A text cut in several ways, the best first. A name with parts, or a path: its end, for they begin alike, from a
    border on. Any: both ends; a part, the last first; more of one end."""
    keep = max(2, bisect(range(len(text)), False, key=lambda many: not fits(_ends(text, many, many // 2))) - 1)
    fewer = keep - keep // 8  # room for wider letters
    words = [found.end() for found in re.finditer("[/._-]", text)]
    path = text.count("/") > 1
    if path or "." in text:
        ends = (f"…{text[at - 1 if path else at :]}" for at in words if not path or text[at - 1] == "/")
        end = next(filter(fits, ends), "")
        yield from (end, f"…{text[-fewer:]}") if len(end) > keep / 2 else (f"…{text[-fewer:]}",)
    yield _ends(text, keep, keep // 2)
    inside = range(len(text) - fewer - 1, 0, -1)
    starts = (*(at for at in reversed(words) if at in inside), *inside)
    yield from filter(fits, (f"…{text[at : at + fewer]}…" for at in starts))
    tails = sorted(range(fewer + 1), key=lambda tail: abs(tail - fewer // 2))
    yield from filter(fits, (_ends(text, fewer, tail) for tail in tails))


def _ends(text: str, keep: int, tail: int) -> str:
    return text[: keep - tail] + "…" + text[len(text) - tail :]


def _may_be(cut: str, text: str) -> bool:
    """Return whether a text could be drawn as a cut."""
    head, *between, tail = cut.split("…")
    return text.startswith(head) and text.endswith(tail) and all(part in text for part in between)
