"""Files in which other tools keep the results of their checks, read as events: dbt, Great Expectations, Soda.
A file is known by what it holds, not by its name. Checks that were skipped, or could not be run, say nothing of data:
they are counted and left out."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from headwater.errors import InputError
from headwater.events import EventType, InputDataset, Job, Run, RunEvent, by_key, timestamp
from headwater.events.event import MOST_BYTES
from headwater.events.facets import Assertion
from headwater.events.facets import DataQualityAssertionsFacet as Assertions
from headwater.graph.checks import producer_of
from headwater.graph.observed import ingest
from headwater.graph.store import GraphStore
from headwater.graph.tables import DATASETS
from headwater.graph.versions import tables_told

_Json: TypeAlias = Mapping[str, Any]
_Check: TypeAlias = tuple[str, Assertion | None]
"""The dataset and the result of a check; None of one that was not carried out."""


@dataclass(frozen=True, slots=True)
class ResultFile:
    """The checks of one run."""

    source: str
    job: str
    run: str
    time: datetime
    checks: tuple[_Check, ...]

    @property
    def left_out(self) -> int:
        return sum(result is None for _, result in self.checks)

    def event(self, called: Callable[[str], str]) -> RunEvent:
        """The results as an event of a run that read the tables; `called` gives the name of a table in the graph."""
        by_table: dict[str, list[Assertion]] = {}
        for dataset, result in self.checks:
            if result is not None:
                by_table.setdefault(called(dataset), []).append(result)
        return RunEvent(
            event_type=EventType.COMPLETE,
            event_time=timestamp(self.time),
            producer=producer_of(self.source),
            run=Run(run_id=self.run),
            job=Job(namespace=self.source, name=self.job),
            inputs=tuple(
                InputDataset(namespace="", name=dataset, input_facets=by_key(Assertions(assertions=tuple(results))))
                for dataset, results in by_table.items()
            ),
        )


def ingest_results(store: GraphStore, path: Path, table: str | None = None) -> ResultFile | None:
    """Bring the checks of a result file into the graph; None if it is none. `table` is the table that they are of.

    RAISES: InputError when the file cannot be read, or lacks what it refers to.
    """
    found = read_results(path)
    if found is not None:
        known = set(tables_told(store.warehouse))
        if store.exists and store.states():
            known.update(store.state().read(DATASETS, ["dataset"]).column(0).to_pylist())
        ingest(store, [found.event(lambda name: table or _known(name, known))], source=str(path))
    return found


def read_results(path: Path) -> ResultFile | None:
    """The checks of a result file, None if it is none. RAISES: as `ingest_results`."""
    try:
        found = msgspec.json.decode(path.read_bytes()) if path.stat().st_size <= MOST_BYTES else None
    except OSError as err:
        raise InputError(f"{path} cannot be read: {err.strerror}") from err
    except msgspec.DecodeError:  # one JSON a line: events
        return None
    if not isinstance(found, dict):
        return None
    metadata = found.get("metadata") or {}
    try:
        if "run-results" in str(metadata.get("dbt_schema_version")):
            return _of_dbt(found, path)
        if "great_expectations_version" in (found.get("meta") or {}):
            return _of_great_expectations(found)
        if "scanStartTimestamp" in found and isinstance(found.get("checks"), list):
            return _of_soda(found)
    except (KeyError, TypeError, ValueError, AttributeError) as err:
        raise InputError(f"{path} is not as its tool writes it: {type(err).__name__} {err}") from err
    return None


def _known(name: str, known: Collection[str]) -> str:
    """The name under which the graph or the lake knows a table: as it is, in another case, or with more in front."""
    if name in known:
        return name
    same = [each for each in known if each.casefold() == name.casefold()]
    same = same or [each for each in known if each.casefold().endswith(f".{name.casefold()}")]
    return same[0] if len(same) == 1 else name


def _moment(text: object) -> datetime:
    found = datetime.fromisoformat(str(text))
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _result(kind: object, name: object, outcome: object, actual: object, **more: str | None) -> Assertion | None:
    """The result of a check, None if it was not carried out."""
    if outcome not in ("pass", "warn", "fail"):
        return None
    shown, severity = None if actual is None else str(actual), "warn" if outcome == "warn" else "error"
    return Assertion(
        assertion=str(kind), name=str(name), success=outcome == "pass", severity=severity, actual=shown, **more
    )


def _of_dbt(found: _Json, path: Path) -> ResultFile:
    beside = path.with_name(path.name.replace("run_results", "manifest"))
    if beside == path or not beside.is_file():
        raise InputError(
            f"{path} has the names of tests, not those of tables, and {beside.name} is not beside it",
            hint="dbt writes both to `target/`",
        )
    manifest = msgspec.json.decode(beside.read_bytes())
    run, project = found["metadata"], str(manifest["metadata"].get("project_name") or "dbt")
    checks = tuple(check for each in found["results"] for check in _dbt_checks(each, manifest))
    return ResultFile("dbt", project, str(run["invocation_id"]), _moment(run["generated_at"]), checks)


def _dbt_checks(result: _Json, manifest: _Json) -> Iterator[_Check]:
    test = manifest["nodes"].get(result["unique_id"]) or {}
    if test.get("resource_type") != "test":
        return
    about = test.get("test_metadata") or {}
    kind, more = about.get("name") or "custom_sql", {"column": test.get("column_name")}
    more["description"] = result.get("message")
    found = _result(kind, test["name"], result["status"], result.get("failures"), **more)
    yield from ((dataset, found) for dataset in _dbt_tables(test, about, manifest))


def _dbt_tables(test: _Json, about: _Json, manifest: _Json) -> Iterator[str]:
    """The table of a test that is declared with one; every table that the SQL of another one reads."""
    relations = {**manifest["nodes"], **(manifest.get("sources") or {})}
    reads = [id for id in test["depends_on"]["nodes"] if id in relations]
    model = str((about.get("kwargs") or {}).get("model"))  # ref('orders'), in manifests without `attached_node`
    declared = [id for id in reads if f"'{relations[id]['name']}'" in model]
    for id in [test["attached_node"]] if test.get("attached_node") else declared or reads:
        each = relations[id]
        name = each.get("alias") or each.get("identifier") or each["name"]
        yield ".".join(part for part in (each.get("database"), each.get("schema"), name) if part)


def _of_great_expectations(found: _Json) -> ResultFile:
    meta = found["meta"]
    batch, asset = meta.get("batch_spec") or {}, meta.get("active_batch_definition") or {}
    table = ".".join(part for part in (batch.get("schema_name"), batch.get("table_name")) if part)
    dataset = table or batch.get("path") or asset["data_asset_name"]
    suite = str(found.get("suite_name") or meta.get("expectation_suite_name") or "suite")
    began = meta["run_id"]["run_time"]
    checks = [(dataset, check) for each in found["results"] for check in _expectations(each)]
    return ResultFile("great-expectations", suite, f"{suite}@{began}", _moment(began), tuple(checks))


def _expectations(result: _Json) -> Iterator[Assertion | None]:
    raised = result.get("exception_info") or {}
    if raised.get("raised_exception") or any(isinstance(each, dict) for each in raised.values()):
        yield None
        return
    config, seen = result["expectation_config"], result.get("result") or {}
    given = {name: value for name, value in config["kwargs"].items() if name != "batch_id"}
    columns = [value for name in ("column", "column_A", "column_B") if (value := given.pop(name, None)) is not None]
    columns += given.pop("column_list", None) or ()
    text = ", ".join(f"{name}={value}" for name, value in sorted(given.items()))
    kind, counts = str(config.get("type") or config["expectation_type"]), ("unexpected_count", "element_count")
    actual = seen.get("observed_value")
    if actual is None and all(name in seen for name in counts):
        actual = "{} of {} unexpected".format(*(seen[name] for name in counts))
    outcome = "pass" if result["success"] else "warn" if config.get("severity") in ("warning", "info") else "fail"
    name = f"{kind}({text})" if text else kind
    for column in columns or [None]:
        yield _result(kind, name, outcome, actual, column=column, expected=text or None)


def _of_soda(found: _Json) -> ResultFile:
    began, scan = str(found["scanStartTimestamp"]), str(found.get("definitionName") or "scan")
    checks = []
    for each in found["checks"]:
        table, outcome, value = each.get("table"), each["outcome"], (each.get("diagnostics") or {}).get("value")
        kind, outcome = each.get("type") or "check", outcome if table else None
        checks.append((str(table), _result(kind, each["name"], outcome, value, column=each.get("column"))))
    return ResultFile("soda", scan, f"{scan}@{began}", _moment(found.get("dataTimestamp") or began), tuple(checks))
