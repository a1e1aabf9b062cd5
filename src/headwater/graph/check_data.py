"""Checks of lake tables in SQL. All that is declared for a table is one query on one snapshot of it."""

import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from datetime import time as time_of_day
from pathlib import Path
from typing import Any

import msgspec

from headwater.errors import HeadwaterError, InputError, NotFoundError, UsageError
from headwater.events import EventType, InputDataset, Job, Run, RunEvent, by_key, new_run_id
from headwater.events.facets import Assertion, DataQualityAssertionsFacet, DataQualityMetricsFacet, VersionFacet
from headwater.graph.checks import producer_of
from headwater.lake.metadata.snapshot import Snapshot
from headwater.lake.tables import Table, Warehouse
from headwater.lake.tables.time_travel import At, ByTime, parse_at
from headwater.query import Session, connect
from headwater.query.parse import quoted
from headwater.safe_yaml import read_yaml
from headwater.text import suggest

_JOB = "check-data"


class _Declared(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Bounds(_Declared, frozen=True):
    """The least and the greatest value that are allowed."""

    min: Any = None
    max: Any = None


class RowCounts(_Declared, frozen=True):
    """The least and the greatest number of rows."""

    min: int | None = None
    max: int | None = None


class Freshness(_Declared, frozen=True):
    """The greatest age of the newest value of a column; without a column, of the snapshot."""

    max_age: str
    column: str | None = None


class ColumnChecks(_Declared, frozen=True):
    """The checks of one column. Nulls are in range, accepted and unique."""

    not_null: bool = False
    unique: bool = False
    range: Bounds | None = None
    accepted_values: list[Any] | None = None


class TableChecks(_Declared, frozen=True):
    """The checks of a table; `unique` lists the columns that are unique together."""

    row_count: RowCounts | None = None
    freshness: Freshness | None = None
    unique: list[str] = []
    columns: dict[str, ColumnChecks] = {}


class _File(_Declared, frozen=True):
    tables: dict[str, TableChecks]


def declare(plain: dict[str, Any]) -> TableChecks:
    """The checks of a table from plain values. RAISES: UsageError when they are not such."""
    try:
        return msgspec.convert(plain, TableChecks)
    except msgspec.ValidationError as err:
        raise UsageError(f"these are no checks: {err}") from err


def read_checks_file(path: Path) -> dict[str, TableChecks]:
    """The checks that a TOML or YAML file declares, by table. RAISES: InputError when it is not such a file."""
    try:
        text = path.read_text(encoding="utf-8")
        found = tomllib.loads(text) if path.suffix.lower() == ".toml" else read_yaml(text)
        return msgspec.convert(found, _File).tables
    except OSError as err:
        raise InputError(f"{path} cannot be read: {err.strerror}") from err
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, InputError, msgspec.ValidationError) as err:
        hint = "docs/guides/data-quality.md shows a file of checks"
        raise InputError(f"{path} is no file of checks: {err}", hint=hint) from err


@dataclass(frozen=True, slots=True)
class _Check:
    """One check: an expression in SQL, and what its value means."""

    kind: str
    columns: tuple[str, ...]  # none: the table as a whole
    sql: str
    expected: str
    judge: Callable[[Any], tuple[bool, str]]


def check_tables(warehouse: Warehouse, checks: Mapping[str, TableChecks], at: At | None = None) -> RunEvent:
    """Run the checks of tables, on their latest snapshots or at a moment, and return an event with the results.

    RAISES: NotFoundError for a table or moment that is not there, UsageError for a check that cannot be run.
    """
    with connect(warehouse) as session:
        inputs = tuple(_checked(session, name, declared, at) for name, declared in checks.items())
    return RunEvent(
        event_type=EventType.COMPLETE,
        producer=producer_of(_JOB),
        run=Run(run_id=new_run_id()),
        job=Job(namespace="headwater", name=_JOB),
        inputs=inputs,
    )


def _checked(session: Session, name: str, declared: TableChecks, at: At | None) -> InputDataset:
    table = session.warehouse.table(name)
    snapshot = table.snapshot(at)
    checks = list(_checks(table, snapshot, declared))
    expressions = ", ".join(["count(*)", *(check.sql for check in checks)])
    version = f" VERSION AS OF {snapshot.snapshot_id}" if snapshot is not None else ""
    names = ".".join(quoted(part) for part in (table.name.database, table.name.table))
    try:
        [(rows, *values)] = session.sql(f"SELECT {expressions} FROM {names}{version}")
    except HeadwaterError as err:
        raise UsageError(f"the checks of {table.name} cannot be run: {err.message}", hint=err.hint) from err
    results, nulls = [], {}
    for check, value in zip(checks, values):
        success, actual = check.judge(value)
        for column in check.columns or (None,):
            kind, about = check.kind.partition("(")[0], {"expected": check.expected, "actual": actual}
            results.append(
                Assertion(assertion=kind, name=check.kind, success=success, column=column, **about, content=check.sql)
            )
            if check.kind == "not_null" and column is not None:
                nulls[column] = {"nullCount": value}
    return InputDataset(
        namespace=f"headwater:{table.store.files.url}",
        name=str(table.name),
        facets=by_key(VersionFacet(dataset_version=str(snapshot.snapshot_id)) if snapshot is not None else None),
        input_facets=by_key(
            DataQualityAssertionsFacet(assertions=tuple(results)),
            DataQualityMetricsFacet(row_count=rows, column_metrics=nulls),
        ),
    )


def _checks(table: Table, snapshot: Snapshot | None, declared: TableChecks) -> Iterator[_Check]:
    def sql(column: str) -> str:
        return quoted(_stored_name(table, snapshot, column))

    if declared.row_count is not None:
        yield _Check("row_count", (), "count(*)", _shown(declared.row_count), _within(declared.row_count))
    if declared.freshness is not None:
        yield _freshness(declared.freshness, snapshot, sql)
    if declared.unique:
        columns = [sql(column) for column in declared.unique]
        there = f"FILTER (WHERE {' AND '.join(f'{column} IS NOT NULL' for column in columns)})"
        text = f"count(*) {there} - count(DISTINCT ROW({', '.join(columns)})) {there}"
        yield _Check(f"unique({', '.join(declared.unique)})", tuple(declared.unique), text, "0", _none("duplicate"))
    for name, column in declared.columns.items():
        yield from _column_checks(name, sql(name), column)


def _column_checks(name: str, sql: str, declared: ColumnChecks) -> Iterator[_Check]:
    if declared.not_null:
        yield _Check("not_null", (name,), f"count(*) FILTER (WHERE {sql} IS NULL)", "0", _none("null"))
    if declared.unique:
        yield _Check("unique", (name,), f"count({sql}) - count(DISTINCT {sql})", "0", _none("duplicate"))
    if declared.range is not None:
        sides = (("<", declared.range.min), (">", declared.range.max))
        outside = " OR ".join(f"{sql} {sign} {_literal(value)}" for sign, value in sides if value is not None)
        text = f"count(*) FILTER (WHERE {outside or 'false'})"
        yield _Check("range", (name,), text, _shown(declared.range), _none("outside"))
    if declared.accepted_values is not None:
        accepted = ", ".join(map(_literal, declared.accepted_values)) or "NULL"
        text = f"count(*) FILTER (WHERE {sql} NOT IN ({accepted}))"
        yield _Check("accepted_values", (name,), text, ", ".join(map(str, declared.accepted_values)), _none("other"))


def _freshness(declared: Freshness, snapshot: Snapshot | None, sql: Callable[[str], str]) -> _Check:
    now = time.time()
    try:
        oldest = parse_at(f"{declared.max_age} ago", now=now)
    except UsageError as err:
        raise UsageError(f"`{declared.max_age}` is not an age", hint="for example `24h` or `2 days`") from err
    assert isinstance(oldest, ByTime)
    written = snapshot.timestamp / 1000 if snapshot is not None else None

    def judge(seconds: float | None) -> tuple[bool, str]:
        if seconds is None:
            return False, "there is none"
        return seconds * 1000 >= oldest.millis, f"{max(0, now - seconds):.0f} s old"

    text = f"epoch(max({sql(declared.column)}))" if declared.column is not None else f"{written or 'NULL'}::DOUBLE"
    return _Check("freshness", (), text, f"at most {declared.max_age}", judge)


def _none(what: str) -> Callable[[Any], tuple[bool, str]]:
    return lambda count: (count == 0, f"{count} {what}")


def _shown(bounds: Bounds | RowCounts) -> str:
    return "..".join("" if each is None else str(each) for each in (bounds.min, bounds.max))


def _within(bounds: RowCounts) -> Callable[[Any], tuple[bool, str]]:
    least, most = bounds.min, bounds.max
    return lambda count: ((least is None or count >= least) and (most is None or count <= most), str(count))


def _stored_name(table: Table, snapshot: Snapshot | None, column: str) -> str:
    """The name that a column has at a snapshot; it may have another one now. RAISES: NotFoundError."""
    schema = table.schema
    then = table.store.schemas.get_schema(snapshot.schema_id) if snapshot is not None else schema
    for known in (schema, then):
        for each in known.fields:
            stored = next((field.name for field in then.fields if field.id == each.id), None)
            if each.name == column and stored is not None:
                return stored
    hint = suggest(column, then.names, f"columns: {', '.join(then.names)}")
    raise NotFoundError(f"`{column}` is not a column of {table.name}", hint=hint)


def _literal(value: Any) -> str:
    if isinstance(value, bool | int | float):
        return str(value)
    text = value.isoformat() if isinstance(value, date | datetime | time_of_day) else str(value)
    return "'" + text.replace("'", "''") + "'"
