"""The warehouse over HTTP: tables, their schemas, snapshots, levels, files and rows, and SQL that only reads."""

from datetime import UTC, datetime
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.responses import Response

from headwater.events.titles import job_title
from headwater.lake.metadata.snapshot import Snapshot
from headwater.lake.tables import Table
from headwater.lake.tables.names import OWN_DATABASES
from headwater.model.schema import Schema
from headwater.server import answers
from headwater.server.graph_api import Many, Name, column_marks
from headwater.server.route import Moment, endpoint
from headwater.server.service import Service
from headwater.server.sql_worker import Question, RowAsked, Rows, RowsBehind, rows_of

_FEW_FILES = 2_000
_FEW_SNAPSHOTS = 500


class TablesQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    own: bool = False  # also those that the graph, and refreshes, are kept in


class TableQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    table: Name


class TableAtQuestion(TableQuestion, frozen=True, kw_only=True):
    at: Moment | None = None
    limit: Many = 50


class SqlQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    sql: Annotated[str, Meta(min_length=1, max_length=100_000)]
    database: Annotated[str, Meta(max_length=200)] = "default"
    name: Annotated[str, Meta(max_length=100)] = ""  # by which it can be stopped
    explain: bool = False  # only say how it would be run, and what it would read


class WhyRowQuestion(TableQuestion, frozen=True, kw_only=True):
    row: Annotated[dict[str, str | None], Meta(min_length=1, max_length=1_000)]  # values of columns, as text
    at: Moment | None = None
    column: Annotated[str, Meta(max_length=200)] | None = None  # only the rows that make or decide it


class StopQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=100)]


@endpoint("GET", "/tables")
def tables(service: Service, question: TablesQuestion) -> answers.Tables:
    """The tables of the warehouse, by database; those of our own books, if they are asked for, come last."""
    found: list[answers.TableRow] = []
    for database in service.warehouse.list_databases(own=question.own):
        for name in service.warehouse.list_tables(database):
            table = service.warehouse.table(f"{database}.{name}")
            found.append({**_table_row(table), "own": database in OWN_DATABASES})
    return {
        "tables": sorted(found, key=lambda each: (each["own"], each["table"])),
        "warehouse": service.warehouse.url,
    }


def _table_row(table: Table) -> answers.TableRow:
    snapshot = table.snapshot()
    schema = table.schema
    return {
        "table": str(table.name),
        "columns": len(schema.fields),
        "primary_key": schema.primary_keys,
        "comment": schema.comment,
        "snapshot": snapshot.snapshot_id if snapshot is not None else None,
        "time": _time(snapshot.timestamp) if snapshot is not None else None,
        "rows": snapshot.summary.total_records if snapshot is not None else 0,
        "files": snapshot.summary.total_files if snapshot is not None else 0,
        "bytes": snapshot.summary.total_size if snapshot is not None else 0,
    }


@endpoint("GET", "/table")
def table(service: Service, question: TableQuestion) -> answers.TableDetail:
    """One table: its schema, options, tags, and how its files stand in levels."""
    source = service.warehouse.table(question.table)
    stats = source.stats()
    tags: list[answers.TableTag] = [
        {"tag": name, "snapshot": each.snapshot_id} for name, each in source.tags().items()
    ]
    schema = _schema_json(source.schema)
    if service.store.states():
        marks = column_marks(service.graph().graph, str(source.name), source.schema.names)
        for column in schema["columns"]:
            column["marks"] = marks.get(column["name"], [])
    return {
        **_table_row(source),
        "schema": schema,
        "tags": tags,
        "levels": stats.levels,
        "buckets": stats.buckets,
        "partitions": stats.partitions,
        "most_runs": stats.most_runs,
        "snapshots": stats.snapshots,
    }


def _schema_json(schema: Schema) -> answers.TableSchema:
    return {
        "id": schema.id,
        "time": _time(schema.time_millis) if schema.time_millis else None,
        "columns": [
            {
                "id": field.id,
                "name": field.name,
                "type": str(field.type),
                "nullable": field.nullable,
                "description": field.description,
                "key": field.name in schema.primary_keys,
                "partition": field.name in schema.partition_keys,
            }
            for field in schema.fields
        ],
        "options": schema.options,
        "comment": schema.comment,
    }


@endpoint("GET", "/schemas")
def schemas(service: Service, question: TableQuestion) -> list[answers.TableSchema]:
    """Every version of a table's schema, oldest first."""
    return [_schema_json(schema) for schema in service.warehouse.table(question.table).schemas()]


@endpoint("GET", "/snapshots")
def snapshots(service: Service, question: TableQuestion) -> answers.Snapshots:
    """The snapshots of a table that are kept, newest first, each with the run and the inputs it was made from."""
    table = service.warehouse.table(question.table)
    kept = table.snapshots()
    shown = [_snapshot_json(str(table.name), each) for each in reversed(kept[-_FEW_SNAPSHOTS:])]
    return {"total": len(kept), "snapshots": shown}


def _snapshot_json(table: str, snapshot: Snapshot) -> answers.SnapshotRow:
    origin = snapshot.origin
    return {
        "snapshot": snapshot.snapshot_id,
        "schema": snapshot.schema_id,
        "time": _time(snapshot.timestamp),
        "operation": snapshot.operation.value,
        "user": snapshot.commit_user,
        "summary": snapshot.summary,
        "run": origin.run_id if origin is not None else None,
        "job": origin.job if origin is not None else None,
        "title": job_title(origin.job, table) if origin is not None and origin.job else None,
        "sql": origin.sql if origin is not None else None,
        "inputs": [
            {"dataset": each.dataset, "snapshot": each.snapshot_id, "columns": each.columns}
            for each in (origin.inputs if origin is not None else ())
        ],
    }


@endpoint("GET", "/files")
def files(service: Service, question: TableQuestion) -> answers.FilesAnswer:
    """The live data files of a table, by level and bucket."""
    entries = service.warehouse.table(question.table).store.latest().entries
    found: list[answers.FileRow] = [
        {
            "partition": [str(value) for value in entry.partition],
            "bucket": entry.bucket,
            "level": entry.file.level,
            "name": entry.file.name,
            "rows": entry.file.rows,
            "deletes": entry.file.deletes,
            "bytes": entry.file.size,
            "sequence": entry.file.sequence,
        }
        for entry in entries
    ]
    found.sort(key=lambda each: (each["level"], each["bucket"], each["sequence"]))
    return {"total": len(found), "files": found[:_FEW_FILES]}


@endpoint("GET", "/rows")
def rows(service: Service, question: TableAtQuestion) -> Rows:
    """The first rows of a table, now or as of a moment."""
    found = service.warehouse.table(question.table).to_arrow(limit=question.limit + 1, at=question.at)
    more = found.num_rows > question.limit
    return rows_of(found.slice(0, question.limit), question.limit, more=more)


@endpoint("POST", "/sql")
def sql(service: Service, question: SqlQuestion) -> Rows:
    """The rows of a query. Nothing can be changed, and a query may take so long, so much memory and so many rows
    only."""
    bounds = service.options.limits.sql
    asked = Question(service.warehouse.url, question.database, question.sql, bounds, question.explain)
    return Response(service.sql.ask(asked, question.name), media_type="application/json")  # type: ignore[return-value]


@endpoint("POST", "/why-row")
def why_row(service: Service, question: WhyRowQuestion) -> RowsBehind:
    """The rows that a row is made of, one hop down, with the limits of a query."""
    bounds = service.options.limits.sql
    row = RowAsked(question.table, question.row, question.at, question.column)
    asked = Question(service.warehouse.url, "default", "", bounds, row=row)
    return Response(service.sql.ask(asked), media_type="application/json")  # type: ignore[return-value]


@endpoint("POST", "/stop")
def stop(service: Service, question: StopQuestion) -> answers.Stopped:
    """Stop a query by the name it was asked with."""
    return {"stopped": service.sql.cancel(question.name)}


def _time(millis: int) -> datetime:
    return datetime.fromtimestamp(millis / 1000, UTC)
