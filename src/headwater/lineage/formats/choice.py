"""Choosing a format by its name."""

from collections.abc import Callable, Mapping

from headwater.errors import UsageError
from headwater.text import nearest


def in_format(makers: Mapping[str, Callable[[], str]], format: str) -> str:
    """What the maker of that name makes. RAISES: UsageError with the nearest name when there is none."""
    if format not in makers:
        close = nearest(format, makers)
        raise UsageError(
            f"there is no format `{format}`",
            hint=f"did you mean `{close}`?" if close else f"formats: {', '.join(makers)}",
        )
    return makers[format]()
