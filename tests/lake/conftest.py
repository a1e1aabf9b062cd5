"""Small trees to try things on."""

from collections.abc import Callable
from typing import Any

import pytest

from headwater.lake import BlockCache, LSMTree
from headwater.model.schema import Schema

OpenTree = Callable[..., LSMTree]


@pytest.fixture
def open_tree() -> Any:
    """Opens trees with a cache of their own and closes them at the end."""
    opened: list[LSMTree] = []

    def open(store: Any, schema: Schema, **arguments: Any) -> LSMTree:
        tree = LSMTree(store, schema, cache=BlockCache(1 << 20), **arguments)
        opened.append(tree)
        return tree

    yield open
    for tree in opened:
        tree.close()
