"""Repositories for the tests of a review."""

import pytest
from tests.review.history import History


@pytest.fixture
def shop(tmp_path):
    """A repository of plain SQL with two files, committed on `main`."""
    return History(tmp_path / "shop")
