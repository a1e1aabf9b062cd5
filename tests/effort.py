"""How much the tests try: little by default, so that they take minutes; all with `THOROUGH=1` (`make test-all`)."""

import os
from collections.abc import Iterable
from typing import Any

import pytest

THOROUGH = bool(os.environ.get("THOROUGH"))
LONG = bool(os.environ.get("LONG"))
"""Also what takes hours: `LONG=1 pytest -m slow tests/provenance/test_oracle.py` and the like."""


def examples(number: int) -> int:
    """So many examples of a property, or a tenth of them."""
    return number if THOROUGH else min(number, max(5, number // 10))


def one_in(step: int, values: Iterable[Any]) -> list[Any]:
    """Parameters of a test of which only every so-manieth is not slow: for grids of many cases of one kind."""
    return [
        value if at % step == 0 else pytest.param(value, marks=pytest.mark.slow) for at, value in enumerate(values)
    ]


def first_then_slow(values: Iterable[Any], quick: int = 1) -> list[Any]:
    """Parameters of a test of which only the first few are not slow."""
    return [value if at < quick else pytest.param(value, marks=pytest.mark.slow) for at, value in enumerate(values)]
