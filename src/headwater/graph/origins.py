"""What the snapshots of a warehouse say of themselves, brought into the graph.

Every commit made by SQL or by an observed Spark job carries its origin: run, inputs with their snapshots, edges of
columns.
Here these become runs, versions and edges like those that events report, so that one graph has both.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from headwater.graph.facts import Facts, add_edge
from headwater.graph.observed import bring_in
from headwater.graph.store import GraphStore
from headwater.graph.tables import COLUMNS, DATABASE, DATASETS, RUN_INPUTS, RUNS, WHOLE
from headwater.lake.metadata.snapshot import ColumnOrigin, Origin, Snapshot
from headwater.lake.tables import Table, Warehouse
from headwater.model.edges import ColumnRef, Edge, Kind
from headwater.model.names import TableName

_ENGINE = "headwater"


def ingest_origins(store: GraphStore) -> tuple[str, int]:
    """Bring the origins of all kept snapshots in; returns the id of the change and how many there were.

    Doing it again brings in what is new and changes nothing else.
    """
    facts = Facts()
    count = 0
    for table in _tables(store.warehouse):
        add_table(facts, table)
        for snapshot in table.snapshots():
            if snapshot.origin is not None:
                add_origin(facts, table, snapshot, snapshot.origin)
                count += 1
    return bring_in(store, facts, kind="origins", source=store.warehouse.url, count=count), count


def _tables(warehouse: Warehouse) -> Iterator[Table]:
    """All tables but those that the graph itself is kept in."""
    for database in warehouse.list_databases():
        if database != DATABASE:
            for name in warehouse.list_tables(database):
                yield warehouse.table(f"{database}.{name}")


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
            columns=list(read.columns) or None,
        )
    facts.add(
        RUN_INPUTS,
        run=run,
        dataset=name,
        role="output",
        version=str(snapshot.snapshot_id),
        rows=snapshot.summary.added_records,
        files=snapshot.summary.added_files,
    )
    for column in origin.columns:
        edge = _edge(column, name)
        add_edge(facts, edge, f"job:{job}/{name}", observed=True, run=run, seen=moment)


def _edge(column: ColumnOrigin, table: str) -> Edge:
    source = ColumnRef(TableName.of(column.dataset), None if column.source == WHOLE else column.source)
    target = ColumnRef(TableName.of(table), None if column.column == WHOLE else column.column)
    return Edge(source, target, Kind(column.kind), column.expression)
