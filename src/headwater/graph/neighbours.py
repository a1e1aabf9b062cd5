"""The graph seen from its datasets: which are joined, and by which edges."""

from collections.abc import Collection, Iterable

import numpy as np

from headwater.graph.index import EdgeIndex, Ids
from headwater.model.edges import Kind


class Neighbours:
    """What stands next to what, by edges of some kinds (default: all)."""

    def __init__(self, index: EdgeIndex, kinds: Collection[Kind] = tuple(Kind)) -> None:
        self._names = list(index.datasets)
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._rows = _of_kinds(index, kinds)
        nothing = np.zeros(0, np.int64)
        of = index.dataset_of if self._names else nothing
        self._sources, self._targets = of[index.sources[self._rows]], of[index.targets[self._rows]]
        count = max(1, len(self._names))
        pairs = np.unique(self._sources * count + self._targets)
        self._up: dict[int, set[str]] = {}
        self._down: dict[int, set[str]] = {}
        for source, target in zip((pairs // count).tolist(), (pairs % count).tolist()):
            if source != target:
                self._up.setdefault(target, set()).add(self._names[source])
                self._down.setdefault(source, set()).add(self._names[target])

    def upstream(self, dataset: str) -> set[str]:
        """The datasets that one is made of, in one step."""
        return self._up.get(self._numbers.get(dataset, -1), set())

    def downstream(self, dataset: str) -> set[str]:
        """The datasets that are made of one, in one step."""
        return self._down.get(self._numbers.get(dataset, -1), set())

    def between(self, datasets: Iterable[str]) -> Ids:
        """The rows of the index whose both ends are among some datasets."""
        wanted = np.zeros(len(self._names) + 1, np.bool_)
        wanted[[self._numbers[name] for name in datasets if name in self._numbers]] = True
        return self._rows[wanted[self._sources] & wanted[self._targets]]


def _of_kinds(index: EdgeIndex, kinds: Collection[Kind]) -> Ids:
    if set(kinds) == set(Kind):
        return np.arange(len(index), dtype=np.int64)
    values = {kind.value for kind in kinds}
    codes = index.edges.column("kind").combine_chunks().dictionary_encode()
    chosen = np.array([value in values for value in codes.dictionary.to_pylist()], np.bool_)
    return np.flatnonzero(chosen[codes.indices.to_numpy()]) if len(chosen) else np.zeros(0, np.int64)
