"""Facts of checks: out of the facets of events into rows, pinned to the version that was looked at."""

from collections.abc import Iterable
from datetime import datetime
from fnmatch import fnmatchcase

from headwater.errors import NotFoundError
from headwater.events import Event, RunEvent, find_facet
from headwater.events import facets as known
from headwater.events.event import Dataset
from headwater.events.facet import PRODUCER
from headwater.graph.facts import Facts, Row
from headwater.graph.store import GraphChange, GraphState, GraphStore
from headwater.graph.tables import CHECKS, WHOLE
from headwater.graph.versions import has_table
from headwater.lake.engine.predicates import Compare
from headwater.lake.tables import Warehouse

PASS, WARN, FAIL, MEASURED = "pass", "warn", "fail", "measured"
_MILD = ("warn", "warning", "info")  # severities of checks whose failure does not count as one
_OWN = f"{PRODUCER}:"


def producer_of(source: str) -> str:
    """The producer of events that Headwater itself makes from what a source says: `check-data`, `dbt` …"""
    return _OWN + source


def add_checks(facts: Facts, event: Event, dataset: Dataset, id: str) -> None:
    """Add what an event says of the quality of a dataset. RAISES: EventError for facets that are not well formed."""
    facets = {name: value for own in ("facets", "input_facets", "output_facets") for name, value in _of(dataset, own)}
    version = find_facet(known.VersionFacet, dataset.facets)
    said: Row = {
        "run": event.run.run_id if isinstance(event, RunEvent) else event.event_time,
        "dataset": id,
        "version": version.dataset_version if version is not None else None,
        "time": datetime.fromisoformat(event.event_time),
        "source": event.producer.removeprefix(_OWN),
    }
    checked = find_facet(known.DataQualityAssertionsFacet, facets)
    for each in checked.assertions if checked is not None else ():
        facts.add(
            CHECKS,
            **said,
            column=each.column or WHOLE,
            check=each.name or each.assertion,
            outcome=PASS if each.success else WARN if (each.severity or "").lower() in _MILD else FAIL,
            expected=each.expected,
            actual=each.actual,
            message=each.description,
        )
    metrics = find_facet(known.DataQualityMetricsFacet, facets)
    if metrics is not None:
        whole = {"rowCount": metrics.row_count, "bytes": metrics.bytes, "fileCount": metrics.file_count}
        for column, figures in {WHOLE: whole, **metrics.column_metrics}.items():
            for name, value in figures.items():
                if value is not None:
                    facts.add(CHECKS, **said, column=column, check=name, outcome=MEASURED, actual=str(value))


def _of(dataset: Dataset, name: str) -> Iterable[tuple[str, object]]:
    return getattr(dataset, name, {}).items()


def pin_checks(warehouse: Warehouse, facts: Facts) -> None:
    """Pin checks of lake tables: to the table that had the name, and to the snapshot that was the latest at the time
    of the check where none is named. A table that was made after the check is another one."""
    for row in facts.rows[CHECKS.name].values():
        if row["table_uuid"] is not None or not has_table(warehouse, row["dataset"]):
            continue
        table = warehouse.table(row["dataset"])
        if table.metadata.created_millis > row["time"].timestamp() * 1000:
            continue
        version = row["version"]
        if version is None or not version.isdigit():
            try:
                snapshot = table.snapshot(row["time"])
            except NotFoundError:  # it has expired
                continue
            row["version"] = str(snapshot.snapshot_id) if snapshot is not None else None
        row["table_uuid"] = table.store.table_uuid


def forget_check(store: GraphStore, check: str, like: str | None = None) -> int:
    """Remove the results of a check, of all datasets or of those like a pattern; returns how many there were."""
    change = GraphChange(record={"kind": "checks", "sources": [check]})

    def ready() -> bool:
        rows = store.table(CHECKS).to_arrow(where=Compare("check", "=", check)).to_pylist()
        chosen = [row for row in rows if like is None or fnmatchcase(row["dataset"], like)]
        change.removed = {CHECKS.name: [tuple(row[name] for name in CHECKS.key) for row in chosen]}
        return bool(chosen)

    store.apply(change, ready)
    return len(change.removed[CHECKS.name])


def read_checks(state: GraphState, *, history: bool = False) -> list[Row]:
    """The checks of a state of the graph by name: the newest fact of each, or with `history` all of them."""
    rows: list[Row] = state.read(CHECKS).to_pylist()
    rows.sort(key=lambda row: (row["dataset"], row["column"], row["check"], row["time"], row["run"]))
    if history:
        return rows
    return list({(row["dataset"], row["column"], row["check"]): row for row in rows}.values())
