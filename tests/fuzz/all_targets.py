"""Every target, by importing the modules that register them."""

from tests.fuzz import lake_targets, text_targets  # noqa: F401
from tests.fuzz.target import TARGETS

__all__ = ["TARGETS"]
