"""The questions of the catalog in Spark's JVM, and the answers: one function for each question, JSON in and out.

Runs in the driver's Python, called back by the JVM. An error of ours is an answer too; anything else is one with the
code `engine-failed`, so that no question is left without an answer.
"""

import base64
import datetime
from collections.abc import Callable
from typing import Any

import msgspec
from pyspark.serializers import CPickleSerializer
from pyspark.sql.types import StructType

from headwater.errors import EngineError, HeadwaterError, NotFoundError
from headwater.lake.metadata.entries import read_database_entry
from headwater.lake.tables import Table, Warehouse
from headwater.lake.tables.maintenance import forget_folder
from headwater.lake.tables.names import parse_name
from headwater.lake.tables.store import TableStore
from headwater.lake.tables.time_travel import At
from headwater.model.schema import Schema
from headwater.spark.catalog.ddl import Partitioning, schema_changes, table_schema
from headwater.spark.catalog.reads import plan_read
from headwater.spark.source.commits import WritePlan, Written, finish_query, undo
from headwater.spark.source.options import Options, TablePlace
from headwater.spark.source.planning import plan_write
from headwater.spark.source.types import spark_schema

Request = dict[str, Any]
Answer = dict[str, Any]
_pickle: Any = CPickleSerializer()


class Door:
    """A `java.util.function.Function` that the JVM calls."""

    class Java:
        implements = ("java.util.function.Function",)

    def apply(self, request: str) -> str:
        return msgspec.json.encode(answer(msgspec.json.decode(request))).decode()


def answer(request: Request) -> Answer:
    """The answer to one question; never an exception."""
    try:
        return _QUESTIONS[request["op"]](request) or {}
    except HeadwaterError as err:
        hint = f" ({err.hint})" if err.hint else ""
        return {"error": err.code, "message": f"{err.message}{hint}"}
    except Exception as err:  # Spark waits for an answer, whatever happened
        return {"error": EngineError.code, "message": f"{type(err).__name__}: {err}"}


def _databases(request: Request) -> Answer:
    names = _warehouse(request).list_databases()
    return {"names": names if "default" in names else ["default", *names]}


def _database(request: Request) -> Answer:
    warehouse, name = _warehouse(request), request["database"]
    if name == "default":
        return {"properties": {}}
    if not warehouse.has_database(name):
        raise NotFoundError(f"there is no database `{name}`")
    entry = read_database_entry(warehouse.files, f"{name}/database.json")
    return {"properties": {"comment": entry.comment} if entry.comment else {}}


def _create_database(request: Request) -> None:
    comment = request["properties"].get("comment")
    _warehouse(request).create_database(request["database"], comment=comment)


def _load(request: Request) -> Answer:
    at: At | None = request.get("version")
    if "micros" in request:
        at = datetime.datetime.fromtimestamp(0, datetime.UTC) + datetime.timedelta(microseconds=request["micros"])
    return _facts(request, _table(request), at)


def _stage(request: Request) -> Answer:
    table = _warehouse(request).begin_table(request["table"], _schema(request))
    return _facts(request, table) | {"folder": table.store.paths.folder}


def _publish(request: Request) -> None:
    _warehouse(request).publish_table(_begun(request), replace=request["replaces"])


def _alter(request: Request) -> Answer:
    table = _table(request)
    table.alter(*schema_changes(request["changes"], table.schema))
    return _facts(request, table)


def _drop(request: Request) -> Answer:
    warehouse, name = _warehouse(request), request["table"]
    there = warehouse.has_table(name)
    warehouse.drop_table(name, if_exists=True)
    return {"dropped": there}


def _rename(request: Request) -> None:
    _warehouse(request).rename_table(request["table"], request["to"])


def _truncate(request: Request) -> None:
    table = _table(request)
    table.overwrite(table.arrow_schema.empty_table())


def _plan_write(request: Request) -> Answer:
    schema = StructType.fromJson(msgspec.json.decode(request["schema"]))
    return {"plan": msgspec.to_builtins(plan_write(Options(request["options"]), schema))}


def _commit(request: Request) -> Answer:
    plan = msgspec.convert(request["plan"], WritePlan)
    snapshot = finish_query(plan, _messages(request), request.get("execution"))
    return {"snapshot": snapshot.snapshot_id}


_QUESTIONS: dict[str, Callable[[Request], Answer | None]] = {
    "databases": _databases,
    "database": _database,
    "create-database": _create_database,
    "drop-database": lambda asked: _warehouse(asked).drop_database(asked["database"], cascade=asked["cascade"]),
    "tables": lambda asked: {"names": _warehouse(asked).list_tables(asked["database"])},
    "load": _load,
    "create": lambda asked: _facts(asked, _warehouse(asked).create_table(asked["table"], _schema(asked))),
    "stage": _stage,
    "publish": _publish,
    "give-up": lambda asked: forget_folder(_begun(asked).store),
    "alter": _alter,
    "drop": _drop,
    "rename": _rename,
    "truncate": _truncate,
    "plan-read": lambda asked: plan_read(asked["options"], asked["schema"]),
    "plan-write": _plan_write,
    "commit": _commit,
    "abort": lambda asked: undo(msgspec.convert(asked["plan"], WritePlan), _messages(asked)),
}


def _place(request: Request, table: str) -> TablePlace:
    given = {name: value for name, value in request["options"].items() if name.startswith(("warehouse", "storage."))}
    return Options({**given, "table": table}).place()


def _warehouse(request: Request) -> Warehouse:
    return _place(request, "default.any").open_warehouse()


def _table(request: Request) -> Table:
    return _place(request, request["table"]).open()


def _begun(request: Request) -> Table:
    """A table that has no name yet."""
    return Table(TableStore(parse_name(request["table"]), _warehouse(request).files, request["folder"]))


def _schema(request: Request) -> Schema:
    columns = StructType.fromJson(msgspec.json.decode(request["schema"]))
    partitions = [Partitioning(**each) for each in request["partitions"]]
    return table_schema(columns, partitions, request["properties"], tuple(request["primary_key"]))


def _messages(request: Request) -> list[Written]:
    return [_pickle.loads(base64.b64decode(each)) for each in request["messages"]]


def _facts(request: Request, table: Table, at: At | None = None) -> Answer:
    """Return what Spark needs to know of a table: it is read at this snapshot, whatever is committed later."""
    snapshot = table.snapshot(at)
    shape = table.store.shape(snapshot.schema_id if snapshot is not None and at is not None else None)
    schema, id = shape.schema, snapshot.snapshot_id if snapshot is not None else 0
    summary = snapshot.summary if snapshot is not None else None
    properties = {
        **schema.options,
        "provider": "headwater",
        "headwater.warehouse": _place(request, "default.any").warehouse,
        "headwater.snapshot": str(id),
        "headwater.table": table.store.table_uuid or "",
    }
    if schema.primary_keys:
        properties["primary-key"] = ",".join(schema.primary_keys)
    if schema.comment:
        properties["comment"] = schema.comment
    return {
        "name": str(table.name),
        "uuid": table.metadata.table_uuid,
        "schema": spark_schema(schema).json(),
        "snapshot": id,
        "schema_id": schema.id,
        "primary_key": schema.primary_keys,
        "partition_by": schema.partition_keys,
        "whole_rows": shape.keeps_rows_whole,
        "rows": summary.total_records if summary is not None else 0,
        "bytes": summary.total_size if summary is not None else 0,
        "properties": properties,
    }
