"""Naming: from the objects by which Spark knows a table to the dataset that it is.

The rules are OpenLineage's: a table of the session catalog is the place where its files are, with its name as a
symlink; a table behind JDBC is named by its server; a table of another catalog by what that catalog is.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from headwater.errors import EngineError, HeadwaterError, MissingDependencyError
from headwater.events.facets import CatalogFacet, Identifier
from headwater.events.naming import DatasetName, hive_name, jdbc_name, kafka_name, lake_name, memory_name, path_name
from headwater.model.names import TableName
from headwater.spark.agent.context import OpenLineageContext
from headwater.spark.agent.datasets import JdbcQuery, PlanDataset
from headwater.spark.agent.described import Described, describe
from headwater.spark.agent.scala import each
from headwater.spark.plan.dump import shared_dumper
from headwater.spark.source.options import Options

SESSION_CATALOG = "spark_catalog"
LAKE_SOURCE = "headwater"  # the name of our data source
PLACE = ("warehouse", "table", "path")  # the options of it that name a table


def file_dataset(paths: list[str], *, format: str | None = None, schema: Any = ()) -> list[PlanDataset]:
    """The folders or files of a scan; files that lie in one folder are that folder, if there are several."""
    names = list(dict.fromkeys(path_name(path) for path in paths))
    if len(names) > 1:
        folders = [DatasetName(name.namespace, name.name.rpartition("/")[0] or "/") for name in names]
        are_files = all("." in name.name.rpartition("/")[2] for name in names)  # the parts of a dataset
        names = list(dict.fromkeys(folders)) if are_files else names
    return [
        PlanDataset(name, TableName.of(_shown(name)), tuple(schema), uri=str(name), layer="file", format=format)
        for name in names
    ]


def scanned_files(known: Mapping[TableName, PlanDataset], paths: list[str]) -> list[PlanDataset]:
    """The datasets that files of a scan belong to: those that are known, else their folders."""
    by_name = {dataset.name: dataset for dataset in known.values()}
    found: dict[PlanDataset, None] = {}
    unknown: dict[str, None] = {}
    for path in paths:
        name = path_name(path, whole_table=False)
        while name not in by_name and name.name:
            name = DatasetName(name.namespace, name.name.rpartition("/")[0])
        if name in by_name:
            found[by_name[name]] = None
        else:
            folder, _, file = path.rpartition("/")
            unknown[folder if file.startswith("part-") else path] = None
    return [*found, *file_dataset(list(unknown))]


def delta_dataset(uri: str, version: object = None) -> PlanDataset:
    """A table of Delta Lake by its place alone."""
    (found,) = file_dataset([uri], format="delta")
    return dataclasses.replace(found, layer="delta", version=None if version is None else str(version))


def _shown(name: DatasetName) -> str:
    return name.name if name.namespace == "file" else str(name)


def jdbc_dataset(url: str, table: str, *, schema: Any = (), prepared: str = "") -> PlanDataset:
    """A table behind JDBC, or the query that stands for one; `prepared` is what `prepareQuery` puts before that."""
    text = table.strip()
    # `(SELECT …) alias` is how JDBC sources carry a query
    query = text[1 : text.rindex(")")].strip() if text.startswith("(") else None
    name = jdbc_name(url, "query" if query else text.replace('"', "").replace("`", ""))
    dialect = name.namespace.partition(":")[0]
    shown = TableName.of(name.namespace, name.name)
    inner = JdbcQuery(query, dialect, url, prepared) if query else None
    return PlanDataset(name, shown, tuple(schema), uri=name.namespace, layer="jdbc", query=inner)


def catalog_table(context: OpenLineageContext, table: Described) -> PlanDataset:
    """A table or view of the session catalog, by what `describe` says of it; on Databricks, of Unity Catalog."""
    parts = tuple(table["table"])
    if len(parts) < 3 or parts[0] == SESSION_CATALOG:
        parts = ("default", *parts)[-2:]
    provider, columns = table.get("provider"), _columns(table)
    if provider == "jdbc" and "url" in table:
        text = table.get("dbtable") or f"({table.get('query')}) q"
        jdbc = jdbc_dataset(table["url"], text, schema=columns, prepared=table.get("prepareQuery", ""))
        return dataclasses.replace(jdbc, table=TableName(parts), symlinks=(_symlink(context, parts),))
    if table["type"] == "VIEW":
        link = _symlink(context, parts, "VIEW")
        return PlanDataset(DatasetName(link.namespace, link.name), TableName(parts), columns, (), None, "view")
    uri = table.get("location") or _default_path(context, parts)
    layer = "hive" if provider == "hive" else "delta" if provider == "delta" else "file"
    if provider == "hive":  # its input format's class says the file format
        given = table.get("input", "").lower()
        provider = next((name for name in ("parquet", "orc", "avro", "text") if name in given), "hive")
    name, links = path_name(uri, whole_table=False), (_symlink(context, parts),)
    found = PlanDataset(name, TableName(parts), columns, links, uri, layer, provider)
    if len(parts) > 2:
        return _other_catalog(context, found, parts[0])
    return dataclasses.replace(found, catalog=_session_catalog(context))


def _session_catalog(context: OpenLineageContext) -> CatalogFacet | None:
    """Hive's metastore, where the session catalog is kept there."""
    if not context.has_hive:
        return None
    where = None if context.metastore is None else hive_name(context.metastore, "", "").namespace
    warehouse = str(path_name(context.warehouse, whole_table=False))
    return CatalogFacet(
        framework="hive", type="hive", name="default", metadata_uri=where, warehouse_uri=warehouse, source="spark"
    )


def _other_catalog(context: OpenLineageContext, dataset: PlanDataset, name: str) -> PlanDataset:
    """A table with the catalog that it is found in, by the catalog's settings; addresses are named, not shown."""
    if dataset.layer is None or name == SESSION_CATALOG:
        return dataset
    prefix = f"spark.sql.catalog.{name}."
    warehouse, uri = context.setting(f"{prefix}warehouse"), context.setting(f"{prefix}uri")
    facet = CatalogFacet(
        framework=dataset.layer,
        type=context.setting(f"{prefix}type") or dataset.layer,
        name=name,
        metadata_uri=dataset.uri if dataset.layer == "jdbc" else None if uri is None else str(path_name(uri)),
        warehouse_uri=None if warehouse is None else str(path_name(warehouse, whole_table=False)),
        source="spark",
    )
    return dataclasses.replace(dataset, catalog=facet)


def _columns(table: Described) -> tuple[tuple[str, str], ...]:
    return tuple((name, type) for name, type in table.get("schema", ()))


def _symlink(context: OpenLineageContext, parts: tuple[str, ...], kind: str = "TABLE") -> Identifier:
    if len(parts) > 2:
        return _link(parts, kind)
    if context.metastore is not None:
        name = hive_name(context.metastore, parts[0], parts[-1])
        return Identifier(namespace=name.namespace, name=name.name, type=kind)
    warehouse = path_name(context.warehouse, whole_table=False)
    return Identifier(namespace=str(warehouse), name=".".join(parts), type=kind)


def _identifier(context: OpenLineageContext, parts: Sequence[str]) -> Any:
    return context.state.sqlParser().parseTableIdentifier(_quoted(parts))


def _quoted(parts: Sequence[str]) -> str:
    return ".".join(f"`{part}`" for part in parts)


def _default_path(context: OpenLineageContext, parts: Sequence[str]) -> str:
    """Return where the session catalog puts a table that says nothing about it."""
    if context.spark_context is not None:
        with suppress(MissingDependencyError, EngineError):  # a Spark that cannot compile is asked call by call
            return str(shared_dumper(context.spark_context).defaultPath(context.state, _quoted(parts)))
    return str(context.state.catalog().defaultTablePath(_identifier(context, parts)).toString())


def named_table(context: OpenLineageContext, parts: list[str]) -> PlanDataset:
    """A table by its name alone. One that is not there (any more) is where the catalog would have put it."""
    if len(parts) > 2 and parts[0] != SESSION_CATALOG:
        return catalog_name(context, parts[0], parts[1:])
    names = _in_session(context, parts)
    try:
        found = context.state.catalog().getTableMetadata(_identifier(context, names))
        return catalog_table(context, describe(context, found))
    except (Py4JError, PySparkException):  # it is not there yet, or a moment ago it still was
        uri = _default_path(context, names)
        name = path_name(uri, whole_table=False)
        return PlanDataset(name, TableName(names), (), (_symlink(context, names),), uri)


def _in_session(context: OpenLineageContext, parts: list[str]) -> tuple[str, ...]:
    """The database and name of a table of the session catalog."""
    return tuple(parts[-2:]) if len(parts) > 1 else (str(context.session.catalog().currentDatabase()), parts[0])


def catalog_name(context: OpenLineageContext, catalog: str, parts: Sequence[str]) -> PlanDataset:
    """A table of another catalog by its name alone, before it is there or after it is gone: by the settings of its
    catalog, so that it has the name it has while it is there."""
    conf = context.session.conf()
    table, name = TableName((catalog, *parts)), ".".join(parts)
    prefix = f"spark.sql.catalog.{catalog}"
    url, warehouse = conf.get(f"{prefix}.url", None), conf.get(f"{prefix}.warehouse", None)
    if url is not None and str(url).startswith("jdbc:"):
        found = jdbc_name(str(url), name)
        return PlanDataset(found, table, uri=found.namespace, layer="jdbc")
    if warehouse is not None and "headwater" in str(conf.get(prefix, None)):
        return PlanDataset(lake_name(str(warehouse), ".".join(parts[-2:])), table, layer="headwater")
    links = (_link((catalog, *parts)),)
    if warehouse is not None and str(conf.get(f"{prefix}.type", None)) == "hadoop":  # Iceberg without a metastore
        uri = "/".join((str(warehouse), *parts))
        return PlanDataset(path_name(uri, whole_table=False), table, (), links, uri, "iceberg", "iceberg")
    return PlanDataset(DatasetName(catalog, name), table)


def last_known(context: OpenLineageContext, dataset: PlanDataset) -> PlanDataset:
    """A table that is gone, by the name it had when it was seen last, if it was."""
    return context.known.get(dataset.table, dataset) if dataset.layer is None else dataset


def named_view(context: OpenLineageContext, parts: list[str]) -> PlanDataset:
    """A view of the session catalog by its name alone."""
    names = _in_session(context, parts)
    link = _symlink(context, names, "VIEW")
    return PlanDataset(DatasetName(link.namespace, link.name), TableName(names), layer="view")


def temporary_view(name: str) -> PlanDataset:
    """A view that lives as long as its session."""
    return PlanDataset(memory_name(name), TableName.of(name), layer="memory")


# ------------------------------------------------------------------------------------- tables of other catalogs


def v2_table(
    context: OpenLineageContext,
    table: Any,
    *,
    catalog: str | None = None,
    parts: Sequence[str] = (),
    options: Any = None,
) -> PlanDataset:
    """A table of a catalog or source of Spark's second generation, by whatever it tells of itself.

    `parts` is its name in its catalog; `options` gives, when called, those that it is read or written with.
    """
    found = _v2_table(context, table, catalog, parts, options)
    return found if catalog is None else _other_catalog(context, found, catalog)


def _v2_table(
    context: OpenLineageContext, table: Any, catalog: str | None, parts: Sequence[str], options: Any
) -> PlanDataset:
    described = describe(context, table)
    if "type" in described:
        return catalog_table(context, described)
    kind, properties, schema = described["class"], described.get("properties", {}), _columns(described)
    names = (catalog, *parts) if catalog is not None and parts else (str(described.get("name", kind)),)
    if "headwater.warehouse" in properties:
        name = lake_name(properties["headwater.warehouse"], ".".join(names[-2:]))
        version, table_uuid = properties.get("headwater.snapshot"), properties.get("headwater.table") or None
        return PlanDataset(name, TableName(names), schema, layer="headwater", version=version, table_uuid=table_uuid)
    if kind.startswith("JDBC"):
        name = jdbc_name(str(table.jdbcOptions().url()), ".".join(names[1:]) or names[-1])
        return PlanDataset(name, TableName(names), schema, uri=name.namespace, layer="jdbc")
    if kind.startswith("Kafka"):
        return kafka_source(options() if options is not None else {}, schema)
    if kind == "PythonTable":
        return _python_table(described, options, schema)
    if "location" in described:
        return _iceberg_table(table, described, names)
    found = _by_location(table, described)
    if found is not None:
        uri, layer, version = found
        format, name = properties.get("provider") or layer, path_name(uri, whole_table=layer == "file")
        if catalog is None or parts[0] == layer:  # a path in the place of a name
            return PlanDataset(name, TableName.of(_shown(name)), schema, (), uri, layer, format, version)
        link = _symlink(context, tuple(parts)) if catalog == SESSION_CATALOG else _link(names)
        table_name = TableName(names[1:] if catalog == SESSION_CATALOG else names)
        return PlanDataset(name, table_name, schema, (link,), uri, layer, format, version)
    if catalog is None:
        source = kind.removesuffix("Table").lower() or kind.lower()
        return PlanDataset(memory_name(source), TableName.of(source), schema, layer="memory")
    return PlanDataset(DatasetName(names[0], ".".join(names[1:])), TableName(names), schema)


def _link(names: Sequence[str], kind: str = "TABLE") -> Identifier:
    return Identifier(namespace=names[0], name=".".join(names[1:]), type=kind)


def _iceberg_table(table: Any, described: Described, names: tuple[str, ...]) -> PlanDataset:
    """A table of Iceberg, at the snapshot that is read; the tables of its metadata are tables of their own."""
    uri, schema = described["location"], _columns(described)
    name, links = path_name(uri, whole_table=False), (_link(names),) if len(names) > 1 else ()
    if described["class"] == "SparkRewriteTable":  # its own compaction, under a name that lives for one job
        return PlanDataset(name, TableName.of(_shown(name)), schema, (), uri, "iceberg", "iceberg")
    if "metadata" in described:
        name = DatasetName(name.namespace, f"{name.name}.{described['metadata'].lower()}")
        return PlanDataset(name, TableName(names), schema, links, uri, "iceberg")
    if names[-1] == f"branch_{described.get('branch')}":
        names, links = names[:-1], (_link(names[:-1]),)
    version = described.get("snapshot")
    return PlanDataset(name, TableName(names), schema, links, uri, "iceberg", "iceberg", version, live=table)


def _python_table(table: Described, options: Any, schema: tuple[tuple[str, str], ...]) -> PlanDataset:
    """A data source written in Python: the path it is given, else its name. Ours are lake tables."""
    source = str(table.get("name", "python"))
    given = {str(key): str(value) for key, value in options().items()} if options is not None else {}
    lake = _lake_table(given, schema) if source == LAKE_SOURCE else None
    if lake is not None:
        return lake
    path = given.get("path")
    name = DatasetName("python", source) if path is None else path_name(path)
    return PlanDataset(name, TableName.of(str(name) if path else source), schema, layer="python", format=source)


def _lake_table(given: dict[str, str], schema: tuple[tuple[str, str], ...]) -> PlanDataset | None:
    """The lake table that the options of `format("headwater")` name, None when they name none."""
    try:
        place = Options({name: value for name, value in given.items() if name.lower() in PLACE}).place()
    except HeadwaterError:
        return None
    name = lake_name(place.warehouse, place.table)
    return PlanDataset(name, TableName((place.warehouse, *place.table.split("."))), schema, layer="headwater")


def kafka_source(options: Mapping[Any, Any], schema: Any) -> PlanDataset:
    """The topics that the options of a source name."""
    given = {str(key).lower(): str(value) for key, value in options.items()}
    named = ("topic", "subscribe", "subscribepattern", "assign")
    topic = next((given[name] for name in named if given.get(name)), "?")
    return kafka_dataset(given.get("kafka.bootstrap.servers", "unknown"), topic, schema=schema)


def kafka_dataset(servers: str, topic: str, *, schema: Any = ()) -> PlanDataset:
    """A topic."""
    name = kafka_name(servers, topic)
    return PlanDataset(name, TableName.of(name.namespace, name.name), tuple(schema), layer="kafka")


def _by_location(table: Any, described: Described) -> tuple[str, str, str | None] | None:
    """Address, layer and version of a table that is files: Delta, Spark's own file sources."""
    kind, properties = described["class"], described.get("properties", {})
    if kind == "DeltaTableV2":
        return str(table.path().toString()), "delta", str(table.initialSnapshot().version())
    if kind in ("ParquetTable", "CSVTable", "JsonTable", "OrcTable", "TextTable", "AvroTable"):
        paths = [str(path) for path in each(table.paths())]
        return (paths[0], "file", None) if paths else None
    if "location" in properties:
        return properties["location"], "file", None
    return None
