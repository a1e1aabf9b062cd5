"""A few seconds of fuzzing for each target, always the same inputs; `make fuzz` goes on from there."""

import pytest

from tests.fuzz import run
from tests.fuzz.all_targets import TARGETS


@pytest.fixture
def bounds(name):
    run.bounded(TARGETS[name].memory)
    yield
    run.unbounded()


@pytest.mark.property
@pytest.mark.parametrize("name", TARGETS)
def test_nothing_but_our_own_errors_comes_out(name, bounds):
    outcome = run.feed(TARGETS[name], seed=1, inputs=TARGETS[name].quick)
    assert outcome.findings == {}
    assert outcome.inputs == TARGETS[name].quick
    if name not in ("sql", "zetasql", "template"):  # their doors are open: they tell of mistakes in issues
        assert outcome.refused > outcome.inputs // 20
