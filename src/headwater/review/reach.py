"""The readers of a column, and all that lies downstream of it, on one side of a change."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from headwater.graph.tables import WHOLE, root_column
from headwater.model.edges import InfluenceClass
from headwater.review.side import Flow, Side

EXPOSURE = "exposure."
"""Begins the name of a reader outside of the repository that a dbt project declares."""


@dataclass(frozen=True, slots=True)
class ColumnReader:
    """A column that is made of what is read, or a dataset whose rows it decides (`*`)."""

    dataset: str
    column: str
    file: str | None
    line: int | None


@dataclass
class Reach:
    """Questions about what reads what."""

    side: Side
    _flows: dict[str, list[Flow]] = field(default_factory=dict)
    _beyond: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)

    def flows_from(self, dataset: str) -> list[Flow]:
        """The edges that begin at a dataset, without those into itself."""
        found = self._flows.get(dataset)
        if found is None:
            units = self.side.readers.get(dataset, ())
            own = (flow for unit in units for flow in self.side.flows(unit))
            found = self._flows[dataset] = [each for each in own if each.source == dataset != each.target]
        return found

    def readers(self, dataset: str, column: str | None) -> tuple[ColumnReader, ...]:
        """The readers of a column, or of a dataset as a whole; each target once."""
        whole = column in (None, WHOLE)
        found: dict[tuple[str, str], ColumnReader] = {}
        for flow in self.flows_from(dataset):
            if whole or root_column(flow.source_column) == column:
                name = WHOLE if whole else flow.target_column
                found.setdefault((flow.target, name), ColumnReader(flow.target, name, flow.file, flow.line))
        return tuple(found.values())

    def beyond(self, dataset: str, column: str | None) -> tuple[str, ...]:
        """The datasets downstream of a column, or of the rows of a dataset, nearest first."""
        start = dataset, column or WHOLE
        if start not in self._beyond:
            seen: dict[tuple[str, str], None] = {start: None}
            datasets: dict[str, None] = {}
            for node in growing(seen):
                for target in self._next(*node):
                    seen.setdefault(target)
                    datasets.setdefault(target[0])
            datasets.pop(dataset, None)
            self._beyond[start] = tuple(datasets)
        return self._beyond[start]

    def _next(self, dataset: str, column: str) -> Iterator[tuple[str, str]]:
        for flow in self.flows_from(dataset):
            if column == WHOLE or flow.source_column == WHOLE or root_column(flow.source_column) == column:
                is_row = column == WHOLE or flow.influence is InfluenceClass.ROW
                yield flow.target, WHOLE if is_row else root_column(flow.target_column)


def growing(nodes: Mapping[tuple[str, str], object]) -> Iterator[tuple[str, str]]:
    """The nodes of a collection that grows while they are looked at."""
    done = 0
    while done < len(nodes):
        ahead = list(nodes)[done:]
        done = len(nodes)
        yield from ahead
