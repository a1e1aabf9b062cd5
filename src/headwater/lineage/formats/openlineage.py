"""Lineage of SQL text as OpenLineage events. What a text says is design-time lineage: it belongs to a job, not to a
run, so each statement becomes one JobEvent with its SQL, inputs, outputs and the column-lineage facet."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from headwater.events import (
    DatasetName,
    InputDataset,
    Job,
    JobEvent,
    OutputDataset,
    by_key,
    column_lineage,
    encode,
    timestamp,
)
from headwater.events.facets import SchemaFacet, SchemaField, SqlFacet
from headwater.lineage.statement import StatementLineage
from headwater.text import Source


def openlineage(
    statements: Sequence[StatementLineage],
    *,
    namespace: str = "headwater",
    sources: Mapping[str | None, Source] | None = None,
    time: datetime | None = None,
) -> str:
    """One JobEvent a line, for each statement that reads or writes a table."""
    stamp = timestamp(time)
    events = [
        _event(statement, namespace, (sources or {}).get(statement.source_name), stamp)
        for statement in statements
        if statement.sources or statement.target
    ]
    return "\n".join(encode(event).decode() for event in events)


def _event(statement: StatementLineage, namespace: str, source: Source | None, stamp: str) -> JobEvent:
    text = source.excerpt(statement.span) if source is not None and statement.span is not None else None
    outputs: tuple[OutputDataset, ...] = ()
    if statement.target is not None:
        columns = tuple(SchemaField(name=column.name) for column in statement.columns)
        made = by_key(
            SchemaFacet(fields=columns) if columns else None,
            *column_lineage(statement.edges, lambda table: DatasetName(namespace, str(table))),
        )
        outputs = (OutputDataset(namespace=namespace, name=str(statement.target), facets=made),)
    return JobEvent(
        event_time=stamp,
        job=Job(
            namespace=namespace,
            name=f"{statement.source_name or 'sql'}#{statement.index}",
            facets=by_key(SqlFacet(query=text) if text is not None else None),
        ),
        inputs=tuple(InputDataset(namespace=namespace, name=str(table.name)) for table in statement.sources),
        outputs=outputs,
    )
