"""Events into the graph: runs, what they read and wrote at which version, and the columns they joined.
Ingesting is idempotent: events may come twice, late and in any order. What a later event of a run says wins over what
an earlier one said, a run that ended stays ended, and an edge keeps the newest run that showed it."""

from collections.abc import Iterable
from datetime import datetime
from importlib import import_module
from pathlib import Path

from headwater.errors import EventError, InputError
from headwater.events import DatasetEvent, Event, EventType, RunEvent, edges_into, find_facet, read_events
from headwater.events import facets as known
from headwater.events.event import Dataset, InputDataset, OutputDataset
from headwater.events.naming import DatasetName, file_id
from headwater.graph.checks import add_checks, pin_checks
from headwater.graph.facts import Facts, Row, add_edge
from headwater.graph.store import GraphChange, GraphStore
from headwater.graph.tables import CHECKS, COLUMNS, DATASETS, EDGES, FACT_TABLES, RUN_INPUTS, RUNS, TableSpec
from headwater.lake.engine.predicates import In
from headwater.model.names import TableName

RECORDED = b'{"run":"'
"""How a run begins that a listener of Spark wrote down; events have a bracket there."""

_FILES = ("file", "s3", "gs", "hdfs", "abfss", "wasbs", "dbfs", "az", "oss", "cos")


def dataset_id(name: DatasetName, symlinks: known.SymlinksFacet | None = None) -> tuple[str, str]:
    """Return what the graph calls a dataset of an event, and of which kind it is.

    Tables go by their name in the catalog, as SQL text has it, so that what SQL says and what runs did meet; files
    and topics, which have no such name, by their address.

    >>> dataset_id(DatasetName("headwater:/lake", "shop.orders"))
    ('shop.orders', 'table')
    >>> dataset_id(DatasetName("s3://raw", "orders"))
    ('s3://raw/orders', 'file')
    """
    for other in symlinks.identifiers if symlinks is not None else ():
        if other.type.upper() == "TABLE":
            return other.name, "table"
    scheme = name.namespace.partition(":")[0]
    if scheme == "headwater":
        return name.name, "table"
    if scheme in _FILES:
        return file_id(name), "file"
    if scheme == "kafka":
        return str(name), "topic"
    if scheme == "inmemory":
        return name.name, "memory"
    return name.name, "table"


def observe(facts: Facts, event: Event) -> None:
    """Add what an event says. RAISES: EventError when one of its facets is not well formed."""
    if isinstance(event, DatasetEvent):
        _add_dataset(facts, event, event.dataset)
        return
    ends: tuple[InputDataset | OutputDataset, ...] = (*event.inputs, *event.outputs)
    names = {DatasetName(each.namespace, each.name): _add_dataset(facts, event, each) for each in ends}
    job = f"{event.job.namespace}/{event.job.name}"
    observed: Row = {"observed": isinstance(event, RunEvent)}
    if isinstance(event, RunEvent):
        observed |= {"run": event.run.run_id, "seen": _moment(event.event_time)}
        _add_run(facts, event, job)
        for each in ends:
            _add_use(facts, event, each, names[DatasetName(each.namespace, each.name)])

    def table(name: DatasetName) -> TableName:
        return TableName.of(names.get(name) or dataset_id(name)[0])

    for output in event.outputs:
        for edge in edges_into(output, table):
            add_edge(facts, edge, f"job:{job}", **observed)
            facts.add_new(DATASETS, dataset=str(edge.source.table), kind="table")


def _add_dataset(facts: Facts, event: Event, dataset: Dataset) -> str:
    id, kind = dataset_id(
        DatasetName(dataset.namespace, dataset.name), find_facet(known.SymlinksFacet, dataset.facets)
    )
    if dataset.namespace:  # the results of checks have none: they say nothing of where a table lives
        facts.add(DATASETS, dataset=id, namespace=dataset.namespace, kind=kind)
    schema = find_facet(known.SchemaFacet, dataset.facets)
    # the tags of columns: of the key alone when it is merely set, with its value otherwise
    facet = dataset.facets.get("tags")
    tags: dict[str, list[str]] = {}
    for tag in facet.get("tags", ()) if isinstance(facet, dict) else ():
        if isinstance(tag, dict) and tag.get("field"):
            value = str(tag.get("value", "true"))
            word = str(tag.get("key")) if value.lower() == "true" else f"{tag.get('key')}={value}"
            tags.setdefault(str(tag["field"]), []).append(word)
    for position, field in enumerate(schema.fields if schema is not None else ()):
        facts.add(
            COLUMNS,
            dataset=id,
            column=field.name,
            position=position,
            type=field.type,
            description=field.description,
            tags=tags.pop(field.name, None),
            origin="observed",
        )
    for column, words in tags.items():
        facts.add_new(COLUMNS, dataset=id, column=column, tags=words, origin="observed")
    add_checks(facts, event, dataset, id)
    return id


def _add_run(facts: Facts, event: RunEvent, job: str) -> None:
    error = find_facet(known.ErrorMessageFacet, event.run.facets)
    engine = find_facet(known.ProcessingEngineFacet, event.run.facets)
    parent = find_facet(known.ParentFacet, event.run.facets)
    sql = find_facet(known.SqlFacet, event.job.facets)
    code = find_facet(known.SourceCodeFacet, event.job.facets)
    moment = _moment(event.event_time)
    row = {
        "run": event.run.run_id,
        "job": job,
        "state": event.event_type.value if event.event_type is not None else None,
        "started": moment if event.event_type is EventType.START else None,
        "ended": moment if event.event_type is not None and event.event_type.is_final else None,
        "engine": f"{engine.name or ''} {engine.version}".strip() if engine is not None else None,
        "sql": sql.query if sql is not None else None,
        "code": code.source_code if code is not None else None,
        "error": error.message if error is not None else None,
        "parent": parent.run.run_id if parent is not None else None,
        "producer": event.producer,
    }
    facts.add(RUNS, **row)


def _merged_run(before: Row, after: Row) -> Row:
    """One row of what two events say of a run. A final state is not taken back; the first start and the last end
    count."""
    row = {name: after[name] if after[name] is not None else before[name] for name in after}
    if before["state"] in _FINAL and after["state"] not in _FINAL:
        row["state"] = before["state"]
    for name, choose in (("started", min), ("ended", max)):
        moments = [each[name] for each in (before, after) if each[name] is not None]
        row[name] = choose(moments) if moments else None
    return row


_FINAL = frozenset(each.value for each in EventType if each.is_final)


def _add_use(facts: Facts, event: RunEvent, dataset: InputDataset | OutputDataset, id: str) -> None:
    version = find_facet(known.VersionFacet, dataset.facets)
    statistics: known.InputStatisticsFacet | known.OutputStatisticsFacet | None
    if isinstance(dataset, InputDataset):
        statistics = find_facet(known.InputStatisticsFacet, dataset.input_facets)
    else:
        statistics = find_facet(known.OutputStatisticsFacet, dataset.output_facets)
    row = {
        "run": event.run.run_id,
        "dataset": id,
        "role": "input" if isinstance(dataset, InputDataset) else "output",
        "version": version.dataset_version if version is not None else None,
        "columns": _columns_used(event, dataset),
        "rows": statistics.row_count if statistics is not None else None,
        "bytes": statistics.size if statistics is not None else None,
        "files": statistics.file_count if statistics is not None else None,
    }
    facts.add(RUN_INPUTS, **row)


def _filled(before: Row, after: Row) -> Row:
    return {name: before[name] if value is None else value for name, value in after.items()}


def _columns_used(event: RunEvent, dataset: InputDataset | OutputDataset) -> list[str] | None:
    """The columns of an input that some output's lineage names; of an output, those it has lineage for."""
    used: dict[str, None] = {}
    lineages = [find_facet(known.ColumnLineageFacet, output.facets) for output in event.outputs]
    if isinstance(dataset, OutputDataset):
        own = find_facet(known.ColumnLineageFacet, dataset.facets)
        used |= dict.fromkeys(own.fields if own is not None else ())
    else:
        for lineage in lineages:
            if lineage is None:
                continue
            fields = [one for made in lineage.fields.values() for one in made.input_fields]
            for one in (*fields, *lineage.dataset):
                if (one.namespace, one.name) == (dataset.namespace, dataset.name):
                    used[one.field] = None
    return sorted(used) or None


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def expanded(line: bytes) -> Iterable[bytes]:
    """The events that a line stands for: itself, or those of a run that a listener of Spark wrote down.
    RAISES: EventError when it is neither."""
    if line[:20].lstrip().startswith(RECORDED):
        found: Iterable[bytes] = import_module("headwater.spark.agent.replay").replayed_lines(line)
        return found
    return (line,)


def ingest(store: GraphStore, events: Iterable[Event], *, source: str = "events") -> tuple[str, list[EventError]]:
    """Bring events into the graph in one change; returns its id and what was wrong with events that were left out."""
    facts, count, bad = gather(events)
    return bring_in(store, facts, kind="ingest", source=source, count=count), bad


def ingest_file(store: GraphStore, file: Path) -> tuple[int, list[EventError]]:
    """Bring the events of a file in, one a line; returns how many were read and what was wrong with the others.

    RAISES: InputError when the file cannot be read.
    """
    bad: list[EventError] = []
    events: list[Event] = []
    try:
        with file.open("rb") as lines:
            for each in read_events(lines, str(file), expand=expanded):
                if isinstance(each, EventError):
                    bad.append(each)
                else:
                    events.append(each)
    except OSError as err:
        raise InputError(f"{file} cannot be read: {err.strerror}") from err
    return len(events), [*bad, *ingest(store, events, source=str(file))[1]]


def gather(events: Iterable[Event]) -> tuple[Facts, int, list[EventError]]:
    """Return what events say, how many they are, and what was wrong with those that are left out."""
    facts = Facts()
    bad: list[EventError] = []
    count = 0
    for event in events:
        said = Facts()
        try:
            observe(said, event)
        except EventError as error:
            bad.append(error)
            continue
        count += 1
        fold(facts, said)
    return facts, count, bad


def fold(facts: Facts, said: Facts) -> None:
    """Add what is said later to what was said before. In any grouping the same is said in the end."""
    for spec in FACT_TABLES:
        rows, merge = facts.rows[spec.name], _MERGES.get(spec.name, _filled)
        for key, row in said.rows[spec.name].items():
            there = rows.get(key)
            rows[key] = row if there is None else merge(there, row)


def bring_in(store: GraphStore, facts: Facts, *, kind: str, source: str, count: int) -> str:
    """Merge observed facts with what is there, and write what is new in one change; returns its id."""
    change = GraphChange(facts, record={"kind": kind, "sources": [source], "statements": count})

    def ready() -> bool:
        reconcile(store, facts)
        change.record["edges"] = len(facts.rows[EDGES.name])
        return len(facts) > 0

    return store.apply(change, ready) if len(facts) else change.id


def reconcile(store: GraphStore, facts: Facts) -> None:
    """Merge with what is there, and drop what would change nothing."""
    pin_checks(store.warehouse, facts)
    runs = [key[0] for key in facts.rows[RUNS.name]]
    jobs = list({key[0] for key in facts.rows[EDGES.name]})
    datasets = [key[0] for key in facts.rows[DATASETS.name]]
    checked = list({key[0] for key in facts.rows[CHECKS.name]})
    by_run = ((RUNS, runs), (RUN_INPUTS, runs), (CHECKS, checked))
    for spec, values in (*by_run, (EDGES, jobs), (DATASETS, datasets), (COLUMNS, datasets)):
        rows, merge = facts.rows[spec.name], _MERGES.get(spec.name, _filled)
        for there in _present(store, spec, values):
            key = tuple(there[name] for name in spec.key)
            if key in rows:
                rows[key] = merge(there, rows[key])
                if rows[key] == there:
                    del rows[key]


def _newest(before: Row, after: Row) -> Row:
    """Of two rows of one edge, the one that a run showed last; what no run showed gives way to what one did."""
    seen, later = before["seen"], after["seen"]
    return before if seen is not None and (later is None or seen >= later) else after


def _later(before: Row, after: Row) -> Row:
    """One row of what two events of a run say of a check: the later one counts, and the other fills its gaps."""
    return _filled(*sorted((before, after), key=lambda row: row["time"]))


_MERGES = {RUNS.name: _merged_run, EDGES.name: _newest, CHECKS.name: _later}
"""How two rows with the same key become one; those of other tables fill each other's gaps."""


def _present(store: GraphStore, spec: TableSpec, values: list[str]) -> list[Row]:
    """The rows of a table whose keys begin with one of some values."""
    if not values:
        return []
    rows: list[Row] = store.table(spec).to_arrow(where=In(spec.key[0], tuple(values))).to_pylist()
    return rows
