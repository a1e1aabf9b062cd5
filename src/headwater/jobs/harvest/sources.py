"""What an estate is made of: folders of SQL, dbt projects and manifests, query logs, files of events."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePath
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from headwater.analysis.texts import read_sql
from headwater.errors import InputError
from headwater.jobs.harvest.dbt.manifest import read_manifest
from headwater.jobs.harvest.dbt.project import PROJECT_FILE
from headwater.jobs.harvest.dbt.scripts import read_dbt
from headwater.jobs.harvest.shapes import shape_of
from headwater.jobs.harvest.targets import Patterns
from headwater.jobs.harvest.units import Script
from headwater.lineage.schema import SchemaTable
from headwater.sql.dialects import dialect_names

_TEXT = ("query_text", "query", "sql", "statement_text", "statement", "text")
_USER = ("user_email", "user_name", "usename", "user", "username")
_TIME = ("start_time", "creation_time", "started", "executed_at", "timestamp", "time", "ts")
_ID = ("query_id", "job_id", "id")
_LOGS = (".parquet", ".csv", ".json", ".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class Estate:
    """Everything that is harvested together."""

    scripts: tuple[Script, ...]
    roots: tuple[str, ...]  # what was named; what was found there earlier and is there no more, is removed
    events: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()  # files that had to be guessed at
    tables: tuple[SchemaTable, ...] = ()  # that it declares and does not make


@dataclass(frozen=True, slots=True)
class Rules:
    """The files of a folder that count, and the tables that they make."""

    targets: Patterns = field(default_factory=Patterns)
    exclude: tuple[str, ...] = ()  # patterns of paths below what was named
    variables: Mapping[str, Any] = field(default_factory=dict)  # of dbt projects

    def takes(self, file: Path, root: Path) -> bool:
        """Return whether a file below a root is harvested."""
        inside = PurePath(file.relative_to(root)) if file.is_relative_to(root) else PurePath(file)
        steps = [inside, *inside.parents]
        return not any(step.match(pattern.rstrip("/")) for pattern in self.exclude for step in steps)


def read_estate(names: Sequence[str], dialect: str | None = None, rules: Rules | None = None) -> Estate:
    """The texts that `PATH` or `DIALECT=PATH` name, in order.

    RAISES: InputError when something cannot be read or is of no known kind.
    """
    rules = rules or Rules()
    scripts: list[Script] = []
    roots: list[str] = []
    events: list[Path] = []
    warnings: list[str] = []
    tables: list[SchemaTable] = []
    for name in names:
        own, path = _parted(name, dialect)
        if _is_events(path):
            events.append(path)
            continue
        roots.append(str(path))
        if (path / PROJECT_FILE).is_file() or path.name.endswith("manifest.json"):
            if path.is_dir():
                found = read_dbt(path, own, rules.variables, partial(rules.takes, root=path))
            else:
                found = read_manifest(path, own, rules.variables)
            scripts += found.scripts
            tables += found.tables
            warnings += found.warnings
            continue
        scripts += _scripts_at(path, own, warnings, rules)
    seen: dict[str, Script] = {}
    for script in scripts:
        if script.name in seen:
            raise InputError(f"{script.name} was named twice")
        seen[script.name] = script
    return Estate(tuple(scripts), tuple(sorted(set(roots))), tuple(events), tuple(warnings), tuple(tables))


def _parted(name: str, dialect: str | None) -> tuple[str | None, Path]:
    before, equals, path = name.partition("=")
    if equals and before.lower() in dialect_names() and not Path(name).exists():
        return before.lower(), Path(path)
    return dialect, Path(name)


def _scripts_at(path: Path, dialect: str | None, warnings: list[str], rules: Rules) -> Iterator[Script]:
    if path.is_dir():
        found = sorted(file for file in path.rglob("*.sql") if rules.takes(file, path))
        for file in found:
            try:
                text = read_sql(file, warnings.append)
            except InputError as err:
                warnings.append(f"{err}; it was left out")
                continue
            yield _script(file, text, dialect, str(path), rules)
    elif path.suffix.lower() in _LOGS:
        yield from _entries(path, dialect)
    else:
        yield _script(path, read_sql(path, warnings.append), dialect, str(path), rules)


def _script(file: Path, text: str, dialect: str | None, root: str, rules: Rules) -> Script:
    target = rules.targets.target(file)
    if target is None:
        return Script(str(file), text, dialect, root)
    namespace = target.catalog, target.schema
    return Script(str(file), text, dialect, root, makes=target.written(dialect), namespace=namespace)


# ------------------------------------------------------------------------------------------------ query logs


def _entries(path: Path, dialect: str | None) -> Iterator[Script]:
    """The texts of a query log, oldest first. A statement that was run often is taken once, as it was run last."""
    table = _read_log(path)
    columns = {name.lower(): table.column(name).to_pylist() for name in table.column_names}
    texts = _column(columns, _TEXT)
    if texts is None:
        raise InputError(f"{path} has no column with the text of queries", hint=f"name it {' or '.join(_TEXT[:3])}")
    users, times, ids = (_column(columns, names) or [None] * len(texts) for names in (_USER, _TIME, _ID))
    dialects = columns.get("dialect", [dialect] * len(texts))
    moments = [_moment(time) for time in times]
    order = sorted(range(len(texts)), key=lambda at: (moments[at] is not None, moments[at] or _NEVER, at))
    last = set({shape_of(texts[at]): at for at in order if texts[at]}.values())
    for number, at in enumerate(at for at in order if at in last):
        name = f"{path}:{ids[at] if ids[at] is not None else number}"
        user = str(users[at]) if users[at] is not None else None
        yield Script(name, texts[at], dialects[at] or dialect, str(path), user=user, time=moments[at])


_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


def _read_log(path: Path) -> pa.Table:
    try:
        match path.suffix.lower():
            case ".parquet":
                return pyarrow.parquet.read_table(path)
            case ".csv":
                return pyarrow.csv.read_csv(path, parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True))
            case _:
                return pyarrow.json.read_json(path)
    except (OSError, pa.ArrowInvalid) as err:
        raise InputError(f"{path} cannot be read as a query log: {err}") from err


def _column(columns: dict[str, list[Any]], names: Sequence[str]) -> list[Any] | None:
    return next((columns[name] for name in names if name in columns), None)


def _moment(value: Any) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, int | float):
        value = datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)


def _is_events(path: Path) -> bool:
    """Return whether a file holds OpenLineage events: its first line has the time of one."""
    if path.suffix.lower() not in (".ndjson", ".jsonl", ".json") or not path.is_file():
        return False
    with path.open("rb") as lines:
        return b'"eventTime"' in lines.readline(1 << 20)
