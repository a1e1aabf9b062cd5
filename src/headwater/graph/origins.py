"""The origins that snapshots of a warehouse record, brought into the graph.

Every commit made by SQL or by an observed Spark job carries its origin: run, inputs with their snapshots, edges of
columns.
Here these become runs, versions and edges like those that events report, so that one graph has both.
"""

from datetime import UTC, datetime

from headwater.graph.facts import Facts, add_edge
from headwater.graph.observed import bring_in, fold
from headwater.graph.store import GraphStore
from headwater.graph.tables import COLUMNS, DATASETS, RUN_INPUTS, RUNS, WHOLE
from headwater.graph.versions import tables_told
from headwater.lake.metadata.snapshot import Origin, Snapshot
from headwater.lake.tables import Table
from headwater.model.edges import ColumnRef, Edge, Kind
from headwater.model.names import TableName

_ENGINE = "headwater"


def ingest_origins(store: GraphStore) -> tuple[str, int]:
    """Bring the origins of all kept snapshots in; returns the id of the change and how many there were.
    Doing it again brings in what is new and changes nothing else."""
    facts = Facts()
    count = sum(gather_origins(facts, store.warehouse.table(name)) for name in tables_told(store.warehouse))
    return bring_in(store, facts, kind="origins", source=store.warehouse.url, count=count), count


def gather_origins(facts: Facts, table: Table) -> int:
    """Add a table and what its kept snapshots were made from; returns how many snapshots say so."""
    said = Facts()
    add_table(said, table)
    fold(facts, said)
    told = [(snapshot, snapshot.origin) for snapshot in table.snapshots() if snapshot.origin is not None]
    for snapshot, origin in told:
        said = Facts()
        add_origin(said, table, snapshot, origin)
        fold(facts, said)
    return len(told)


def add_table(facts: Facts, table: Table) -> None:
    """Add a lake table and its columns."""
    name = str(table.name)
    facts.add(DATASETS, dataset=name, namespace=f"headwater:{table.store.files.url}", kind="table")
    for position, field in enumerate(table.schema.fields):
        facts.add(
            COLUMNS,
            dataset=name,
            column=field.name,
            position=position,
            type=str(field.type),
            description=field.description,
            origin="observed",
        )


def add_origin(facts: Facts, table: Table, snapshot: Snapshot, origin: Origin) -> None:
    """Add the run that made a snapshot, what it read, and which columns it joined."""
    name = str(table.name)
    run = origin.run_id or f"{name}@{snapshot.snapshot_id}"
    moment = datetime.fromtimestamp(snapshot.timestamp / 1000, UTC)
    job = f"{_ENGINE}/{origin.job or snapshot.operation.value.lower()}"
    facts.add(
        RUNS, run=run, job=job, state="COMPLETE", ended=moment, engine=_ENGINE, sql=origin.sql, producer=_ENGINE
    )
    for read in origin.inputs:
        facts.add_new(DATASETS, dataset=read.dataset, kind="table")
        facts.add(
            RUN_INPUTS,
            run=run,
            dataset=read.dataset,
            role="input",
            version=None if read.snapshot_id is None else str(read.snapshot_id),
            table_uuid=read.table_uuid,
            columns=list(read.columns) or None,
        )
    facts.add(
        RUN_INPUTS,
        run=run,
        dataset=name,
        role="output",
        version=str(snapshot.snapshot_id),
        table_uuid=table.store.table_uuid,
        rows=snapshot.summary.added_records,
        files=snapshot.summary.added_files,
    )
    for column in origin.columns:
        source = ColumnRef(TableName.of(column.dataset), None if column.source == WHOLE else column.source)
        target = ColumnRef(TableName.of(name), None if column.column == WHOLE else column.column)
        edge = Edge(source, target, Kind(column.kind), column.expression)
        add_edge(facts, edge, f"job:{job}/{name}", observed=True, run=run, seen=moment)
