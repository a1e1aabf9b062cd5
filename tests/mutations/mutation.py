"""One small way to break each promise of `docs/guarantees.md`, and the test that must notice."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutation:
    """Source texts and what to put in their place; `test` fails then. Paths are below `src/headwater`."""

    test: str
    edits: tuple[tuple[str, str, str], ...]  # file, old, new

    @property
    def name(self) -> str:
        return self.test.rpartition("::")[2]


def breaks(test: str, file: str, old: str, new: str, *more: tuple[str, str, str]) -> Mutation:
    return Mutation(test, ((file, old, new), *more))
