"""Lineage of SQL text as OpenLineage events.

What a text says is design-time lineage: it belongs to a job, not to a run, so each statement becomes one JobEvent
with its SQL, inputs, outputs and the column-lineage facet.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from headwater.lineage.statement import StatementLineage
from headwater.model.edges import Edge, InfluenceClass
from headwater.model.names import TableName
from headwater.text import Source

PRODUCER = "urn:headwater"
_EVENT = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/JobEvent"
_FACETS = "https://openlineage.io/spec/facets"


def openlineage(
    statements: Sequence[StatementLineage],
    *,
    namespace: str = "headwater",
    sources: Mapping[str | None, Source] | None = None,
    time: datetime | None = None,
) -> str:
    """One JobEvent a line, for each statement that reads or writes a table."""
    stamp = (time or datetime.now(UTC)).isoformat().replace("+00:00", "Z")
    events = [
        _event(statement, namespace, (sources or {}).get(statement.source_name), stamp)
        for statement in statements
        if statement.sources or statement.target
    ]
    return "\n".join(msgspec.json.encode(event).decode() for event in events)


def _event(statement: StatementLineage, namespace: str, source: Source | None, stamp: str) -> dict[str, Any]:
    name = f"{statement.source_name or 'sql'}#{statement.index}"
    facets: dict[str, Any] = {}
    if source is not None and statement.span is not None:
        facets["sql"] = _facet("1-0-1/SQLJobFacet.json", query=source.excerpt(statement.span))
    outputs = []
    if statement.target is not None:
        outputs.append(_dataset(namespace, statement.target) | {"facets": _output_facets(statement, namespace)})
    return {
        "eventTime": stamp,
        "producer": PRODUCER,
        "schemaURL": _EVENT,
        "job": {"namespace": namespace, "name": name, "facets": facets},
        "inputs": [_dataset(namespace, table.name) for table in statement.sources],
        "outputs": outputs,
    }


def _output_facets(statement: StatementLineage, namespace: str) -> dict[str, Any]:
    facets: dict[str, Any] = {}
    if statement.columns:
        fields = [{"name": column.name} for column in statement.columns]
        facets["schema"] = _facet("1-1-1/SchemaDatasetFacet.json", fields=fields)
    by_field: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}
    whole: dict[tuple[str, str], dict[str, Any]] = {}
    for edge in statement.edges:
        if edge.source.column is None:
            continue
        into = whole if edge.target.column is None else by_field.setdefault(edge.target.name, {})
        entry = into.setdefault(
            (str(edge.source.table), edge.source.name),
            _dataset(namespace, edge.source.table) | {"field": edge.source.name, "transformations": []},
        )
        entry["transformations"].append(_transformation(edge))
    if by_field or whole:
        inputs = {name: {"inputFields": list(entries.values())} for name, entries in by_field.items()}
        facets["columnLineage"] = _facet(
            "1-2-0/ColumnLineageDatasetFacet.json", fields=inputs, dataset=list(whole.values())
        )
    return facets


def _transformation(edge: Edge) -> dict[str, Any]:
    direct = edge.kind.influence is InfluenceClass.VALUE
    return {
        "type": "DIRECT" if direct else "INDIRECT",
        "subtype": "FILTER" if edge.kind.value == "MERGE" else edge.kind.value,
        "description": edge.expression or "",
        "masking": edge.masking,
    }


def _dataset(namespace: str, table: TableName) -> dict[str, Any]:
    return {"namespace": namespace, "name": str(table)}


def _facet(schema: str, **fields: Any) -> dict[str, Any]:
    return {"_producer": PRODUCER, "_schemaURL": f"{_FACETS}/{schema}", **fields}
