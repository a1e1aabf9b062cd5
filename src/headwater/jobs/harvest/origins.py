"""The origin of the graph's own tables: the harvest's own lineage, kept with its commits as any other's is."""

from collections.abc import Mapping, Sequence

from headwater.graph.store import OriginOf
from headwater.graph.tables import COLUMNS, DATASETS, EDGES, ISSUES, STATEMENTS, UNITS, TableSpec
from headwater.lake.metadata.snapshot import ColumnOrigin, InputVersion, Origin
from headwater.model.edges import Kind

JOB = "headwater harvest"
_FROM_TEXT = {
    UNITS.name: ("fingerprint", "sight", "effects"),
    STATEMENTS.name: ("text", "type", "target", "reads", "fingerprint"),
}
_FROM_STATEMENTS = {
    DATASETS.name: (("dataset", "target"), ("dataset", "reads"), ("kind", "type")),
    COLUMNS.name: (("dataset", "target"), ("column", "text"), ("position", "text"), ("type", "text")),
    EDGES.name: (
        ("statement", "statement"),
        *((name, "text") for name in ("target", "target_column", "source", "source_column", "kind", "expression")),
        ("file", "source"),
        ("line", "line"),
        ("start", "start"),
    ),
    ISSUES.name: (("statement", "statement"), ("code", "text"), ("message", "text"), ("file", "source")),
}


def origin_of(harvest: str, roots: Sequence[str]) -> OriginOf:
    """The origin of each table: statements come from the texts, everything else from the statements."""

    def origin(spec: TableSpec, snapshots: Mapping[str, int]) -> Origin:
        if spec.name in _FROM_TEXT:
            made = [(name, root, "text") for root in roots for name in _FROM_TEXT[spec.name]]
            inputs = tuple(InputVersion(dataset=root, columns=("text",)) for root in roots)
        else:
            pairs = _FROM_STATEMENTS.get(spec.name, ())
            made = [(name, STATEMENTS.full_name, source) for name, source in pairs]
            read = tuple(sorted({source for _, source in pairs}))
            inputs = (
                InputVersion(dataset=STATEMENTS.full_name, snapshot_id=snapshots.get(STATEMENTS.name), columns=read),
            )
        columns = tuple(
            ColumnOrigin(column=name, dataset=dataset, source=source, kind=_kind(name, source))
            for name, dataset, source in made
        )
        return Origin(run_id=harvest, job=JOB, inputs=inputs, columns=columns)

    return origin


def _kind(name: str, source: str) -> str:
    kind = Kind.IDENTITY if name == source else Kind.TRANSFORMATION
    return str(kind.value)
