"""The plain read-outs, column ← parents and table ← sources, as JSON and as text."""

from collections.abc import Iterable, Sequence

import msgspec

from headwater.lineage.readings import ColumnLineage, TableLineage


class LineageFormatter:
    """Column or table lineage as JSON or as text. Parents are sorted, so that equal lineage is equal text."""

    @staticmethod
    def to_json(lineages: Iterable[ColumnLineage | TableLineage]) -> str:
        """An array with one object per output column, or per statement."""
        encoded = msgspec.json.encode([_fields(each) for each in _ordered(lineages)])
        return msgspec.json.format(encoded, indent=2).decode()

    @staticmethod
    def to_text(lineages: Iterable[ColumnLineage | TableLineage]) -> str:
        """One line per output column or statement, its sources beneath it.

        >>> from headwater.lineage.readings import ColumnEntity
        >>> parents = frozenset({ColumnEntity("source", "name")})
        >>> print(LineageFormatter.to_text([ColumnLineage(ColumnEntity("target", "name"), parents)]))
        target.name
          <- source.name
        """
        return "\n".join(line for each in _ordered(lineages) for line in _lines(each))


def _ordered(lineages: Iterable[ColumnLineage | TableLineage]) -> Sequence[ColumnLineage | TableLineage]:
    """A sequence keeps its order; a set, which has none, is sorted."""
    return (
        sorted(lineages, key=lambda each: str(each.target)) if isinstance(lineages, set | frozenset) else [*lineages]
    )


def _fields(each: ColumnLineage | TableLineage) -> dict[str, object]:
    if isinstance(each, TableLineage):
        return {"target": each.target, "sources": sorted(each.sources), "statementType": each.statement_type}
    parents = sorted(each.parents, key=str)
    return {
        "target": {"table": each.target.table, "name": each.target.name},
        "parents": [{"table": parent.table, "name": parent.name} for parent in parents],
    }


def _lines(each: ColumnLineage | TableLineage) -> list[str]:
    if isinstance(each, TableLineage):
        title = f"{each.target} ({each.statement_type})" if each.target else each.statement_type
        return [title, *(f"  <- {source}" for source in sorted(each.sources))]
    return [str(each.target), *(f"  <- {parent}" for parent in sorted(map(str, each.parents)))]
