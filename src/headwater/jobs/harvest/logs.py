"""Query logs: files with one statement a row, as warehouses and people export them.

The case of column names does not matter. Beside the text, a log may tell who ran it, when, in which database, and
which tables the warehouse itself says were read and written.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from headwater.errors import InputError
from headwater.jobs.harvest.shapes import shape_of
from headwater.jobs.harvest.units import Script
from headwater.lazy import arrow_csv as csv
from headwater.lazy import arrow_parquet as pq

LOGS = (".parquet", ".csv", ".json", ".jsonl", ".ndjson")
_TEXT = ("query_text", "query", "sql", "statement_text", "statement", "text")
_USER = ("user_email", "user_name", "usename", "user", "username", "executed_by")
_TIME = ("start_time", "creation_time", "createtime", "started", "executed_at", "timestamp", "time", "ts")
_ID = ("query_id", "job_id", "statement_id", "queryid", "id")
_CATALOG = ("default_catalog", "database_name", "catalog", "project_id")
_SCHEMA = ("default_schema", "schema_name", "schema")
_READS = ("referenced_tables", "base_objects_accessed", "direct_objects_accessed", "inputs", "source_tables")
_WRITES = ("destination_table", "objects_modified", "output", "target_tables")
_EVENT = ("metadata", "context", "iometadata")  # the objects of an event of Trino in which its fields stand
_USED = frozenset((*_TEXT, *_USER, *_TIME, *_ID, *_CATALOG, *_SCHEMA, *_READS, *_WRITES, "dialect"))
_DIALECTS = (("base_objects_accessed", "snowflake"), ("referenced_tables", "bigquery"), ("iometadata", "trino"))
"""A column that only one warehouse has, and its dialect."""
_ONE_DATABASE = ("postgres", "redshift")  # in which names of tables do not begin with the database
_PARTS = (("project_id", "catalogname", "catalog"), ("dataset_id", "schema"), ("table_id", "table"))
_ZONE = re.compile(r" ([+-]\d\d:?\d\d)$")  # Snowflake writes a space before it
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)

Row = dict[str, Any]


def read_log(path: Path, dialect: str | None) -> Iterator[Script]:
    """The statements of a query log, oldest first. One that was run often is taken once, as it was run last.

    RAISES: InputError when the file cannot be read, or has no column with the text of statements.
    """
    rows = _rows(path)
    names = {name for row in rows for name in row}
    if rows and not names & set(_TEXT):
        raise InputError(f"{path} has no column with the text of queries", hint=f"name it {' or '.join(_TEXT[:3])}")
    dialect = dialect or next((each for name, each in _DIALECTS if name in names), None)
    scripts = [_script(path, row, dialect) for row in rows if str(_first(row, _TEXT) or "").strip()]
    found: dict[Any, Script] = {}
    for script in sorted(scripts, key=lambda each: each.time or _NEVER):
        key = shape_of(script.text), script.namespace
        before = found.pop(key, None)
        if before is not None and not script.observed_reads:  # an answer from a cache names no tables
            seen = before.observed_reads, before.observed_writes
            script = replace(script, observed_reads=seen[0], observed_writes=seen[1])
        found[key] = script
    taken: set[str] = set()
    for number, script in enumerate(found.values()):
        is_named = script.name != f"{path}:" and script.name not in taken
        taken.add(script.name)
        yield script if is_named else replace(script, name=f"{path}:{number}")


def _script(path: Path, row: Row, dialect: str | None) -> Script:
    id, user = _first(row, _ID), _first(row, _USER)
    dialect = row.get("dialect") or dialect
    catalog = _first(row, _CATALOG) if dialect not in _ONE_DATABASE else None
    return Script(
        f"{path}:{id if id is not None else ''}",
        str(_first(row, _TEXT)),
        dialect,
        str(path),
        namespace=(catalog or None, _first(row, _SCHEMA) or None),
        user=str(user) if user is not None else None,
        time=_moment(_first(row, _TIME)),
        observed_reads=tuple(dict.fromkeys(table for name in _READS for table in _named(row.get(name)))),
        observed_writes=tuple(dict.fromkeys(table for name in _WRITES for table in _named(row.get(name)))),
    )


def _first(row: Row, names: Sequence[str]) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _named(value: Any) -> Iterator[str]:
    """The tables in a value: a name, an object with the parts of one, or a list of these, maybe as a text of JSON."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            value = msgspec.json.decode(value)
        except msgspec.DecodeError:
            return
    if isinstance(value, str):
        for name in value.split(","):
            yield from [plain] if (plain := name.strip(' "`')) else []
    elif isinstance(value, list):
        for each in value:
            yield from _named(each)
    elif isinstance(value, Mapping):
        yield from _named_by(_lowered(value))


def _named_by(value: Row) -> Iterator[str]:
    """The table of an object. What Snowflake says of functions and stages is passed over, and what BigQuery says of
    the hidden tables in which it keeps results."""
    name = value.get("objectname")
    if name is not None:
        if str(value.get("objectdomain", "table")).lower().endswith(("table", "view")):
            yield str(name).replace('"', "")
        return
    parts = [_first(value, names) for names in _PARTS]
    if parts[2] is not None and not str(parts[1]).startswith("_"):
        yield ".".join(str(part) for part in parts if part).partition("$")[0]  # a partition is a part of its table


# ------------------------------------------------------------------------------------------------ files


def _rows(path: Path) -> list[Row]:
    try:
        match path.suffix.lower():
            case ".parquet":
                names = pq.read_schema(path).names
                table = pq.read_table(path, columns=[name for name in names if _is_used(name)])
                return [_lowered(row) for row in table.to_pylist()]
            case ".csv":
                return [_lowered(row) for row in _read_csv(path).to_pylist()]
            case _:
                found = [_flat(row) for row in _read_json(path) if isinstance(row, Mapping)]
                return [row for row in found if row.get("querystate") != "FAILED"]
    except (OSError, ValueError, msgspec.DecodeError) as err:
        raise InputError(f"{path} cannot be read as a query log: {err}") from err


def _is_used(name: str) -> bool:
    return name.lower() in _USED


def _read_csv(path: Path) -> Any:
    reading = csv.ReadOptions(block_size=1 << 26)  # a row must fit in a block
    parsing = csv.ParseOptions(newlines_in_values=True)
    table = csv.read_csv(path, reading, parsing)
    return table.select([name for name in table.column_names if _is_used(name)])


def _read_json(path: Path) -> Iterable[Any]:
    """The objects of a file: a list of them, or one on each line."""
    data = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    is_list = data.lstrip()[:1] == b"["
    found: Iterable[Any] = msgspec.json.decode(data) if is_list else msgspec.json.Decoder().decode_lines(data)
    return found


def _flat(row: Mapping[str, Any]) -> Row:
    """A row with the fields of an event of Trino beside its others."""
    flat = _lowered(row)
    for name in _EVENT:
        if isinstance(flat.get(name), Mapping):
            flat |= _lowered(flat[name])
    return flat


def _lowered(row: Mapping[str, Any]) -> Row:
    return {name.lower(): value for name, value in row.items()}


def _moment(value: Any) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(_ZONE.sub(r"\1", value.strip().replace(" UTC", "+00:00")))
        except ValueError:
            return None
    if isinstance(value, int | float):
        value = datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
