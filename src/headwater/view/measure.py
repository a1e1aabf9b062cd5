"""The width of text, without a font at hand.
The widths are those of a common sans-serif face in thousandths of its size, rounded up by class of character; what is
drawn with another face is given the same room and a little more. Wide scripts count as a full square."""

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


def shortened(text: str, size: float, room: float, *, bold: bool = False) -> str:
    """The text, cut in the middle if it would need more than `room`: names differ at both ends. A path loses its
    first folders: paths differ at their end.

    >>> shortened("a_very_long_column_name_indeed", 10, 80)
    'a_very_…indeed'
    >>> shortened("/home/me/shop/raw/2026-03-01/customers.csv", 10, 180)
    '…/2026-03-01/customers.csv'
    """
    if text_width(text, size, bold=bold) <= room + _ROUNDING:
        return text
    while text.count("/") > 1:
        text = "…/" + text.removeprefix("…/").partition("/")[2]
        if text_width(text, size, bold=bold) <= room + _ROUNDING:
            return text
    keep = len(text) - 1
    while keep > 2 and text_width(_cut(text, keep), size, bold=bold) > room:
        keep -= 1
    return _cut(text, keep)


def _cut(text: str, keep: int) -> str:
    tail = keep // 2
    return text[: keep - tail] + "…" + text[len(text) - tail :]
