"""Spark's description of a table, in one piece.

A question to the JVM costs a fraction of a millisecond, and a table takes some forty of them; so the dump of a plan
says all of a table of the session catalog (`described_field`), and any other table is asked once (`describe`). A
Spark that cannot compile is asked call by call. Either way there is

    {"table": [database, name], "type": "MANAGED", "provider", "location", "input", "url", "dbtable", "query",
     "schema": [[column, type], …]}

for a table of the session catalog, and for any other

    {"class": "SparkTable", "name", "properties": {name: text}, "schema": [[column, type], …],
     "location", "branch", "snapshot", "metadata"}

where what is not known is missing; the last line is for tables of Iceberg only.
"""

from contextlib import suppress
from typing import Any, TypeAlias

from py4j.protocol import Py4JError

from headwater.errors import EngineError, MissingDependencyError
from headwater.spark.agent.context import OpenLineageContext
from headwater.spark.agent.recorded import Recorded
from headwater.spark.agent.scala import class_name, columns_of, lookup, option
from headwater.spark.plan.dump import describe_table
from headwater.spark.plan.node import PlanNode

Described: TypeAlias = dict[str, Any]


def described_field(context: OpenLineageContext, node: PlanNode, name: str) -> Described | None:
    """The table of the session catalog that is a field of a node; None when the field is empty."""
    value = node.get(name)
    if not isinstance(value, dict):
        return None
    if "type" in value and value.get("provider") != "jdbc":  # dumps leave addresses out: they may carry passwords
        return value
    live = getattr(node.jvm, name)()
    return describe(context, live.get() if class_name(live) == "Some" else live)


def describe(context: OpenLineageContext, table: Any) -> Described:
    """A live table of either generation, or one that was written down."""
    if isinstance(table, Recorded):
        described: Described = table.described().value
        return described
    try:
        assert context.spark_context is not None
        return describe_table(context.spark_context, table)
    except (MissingDependencyError, EngineError):
        return _ask(table)


def _ask(table: Any) -> Described:
    kind = class_name(table)
    if kind == "V1Table":
        return _ask(table.v1Table())
    if kind == "RowLevelOperationTable":  # a table, dressed up to be rewritten
        return _ask(table.table())
    return _ask_catalog(table) if kind == "CatalogTable" else _ask_other(table, kind)


def _ask_catalog(table: Any) -> Described:
    database, storage = option(table.identifier().database()), table.storage()
    location = option(storage.locationUri())
    found = {
        "type": str(table.tableType().name()),
        "provider": option(table.provider()),
        "location": None if location is None else str(location.toString()),
        "input": option(storage.inputFormat()),
    }
    found |= {name: lookup(storage.properties(), name) for name in ("url", "dbtable", "query", "prepareQuery")}
    described: Described = {name: value for name, value in found.items() if value is not None}
    described["table"] = [*([database] if database else []), str(table.identifier().table())]
    described["schema"] = columns_of(table.schema())
    return described


def _ask_other(table: Any, kind: str) -> Described:
    described: Described = {"class": kind, "name": str(table.name()), "properties": {}, "schema": ()}
    with suppress(Exception):  # a table that cannot be asked has none
        described["properties"] = {str(key): str(value) for key, value in table.properties().items()}
    with suppress(Exception):
        described["schema"] = columns_of(table.schema())
    is_iceberg = str(table.getClass().getName()).startswith("org.apache.iceberg.")
    return described | _ask_iceberg(table) if is_iceberg else described


def _ask_iceberg(table: Any) -> Described:
    inner, branch = table.table(), table.branch()
    head = inner.currentSnapshot() if branch is None else inner.snapshot(branch)
    snapshot = table.snapshotId() or (None if head is None else head.snapshotId())
    found = {"location": inner.location(), "branch": branch, "snapshot": snapshot}
    with suppress(Py4JError):  # only a table of metadata has one
        found["metadata"] = inner.metadataTableType()
    return {name: str(value) for name, value in found.items() if value is not None}
