"""Naming: from the objects by which Spark knows a table to the dataset that it is.

The rules are OpenLineage's: a table of the session catalog is the place where its files are, with its name as a
symlink; a table behind JDBC is named by its server; a table of another catalog by what that catalog is.
"""

from collections.abc import Sequence
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from headwater.events.facets import Identifier
from headwater.events.naming import DatasetName, hive_name, jdbc_name, kafka_name, lake_name, memory_name, path_name
from headwater.model.names import TableName
from headwater.spark.agent.datasets import JdbcQuery, PlanDataset
from headwater.spark.agent.scala import class_name, columns_of, each, lookup, option

SESSION_CATALOG = "spark_catalog"


def file_dataset(paths: list[str], *, format: str | None = None, schema: Any = ()) -> list[PlanDataset]:
    """The folders or files of a scan; files that lie in one folder are that folder, if there are several."""
    names = list(dict.fromkeys(path_name(path) for path in paths))
    if len(names) > 1:
        folders = [DatasetName(name.namespace, name.name.rpartition("/")[0] or "/") for name in names]
        names = list(dict.fromkeys(folders)) if _look_like_files(names) else names
    return [
        PlanDataset(name, TableName.of(_shown(name)), tuple(schema), uri=str(name), layer="file", format=format)
        for name in names
    ]


def _shown(name: DatasetName) -> str:
    return name.name if name.namespace == "file" else str(name)


def _look_like_files(names: list[DatasetName]) -> bool:
    """Many names with an ending in few folders: the parts of a dataset, not datasets."""
    return all("." in name.name.rpartition("/")[2] for name in names)


def jdbc_dataset(url: str, table: str, *, schema: Any = ()) -> PlanDataset:
    """A table behind JDBC, or the query that stands for one."""
    text = table.strip()
    query = _inner_query(text)
    name = jdbc_name(url, "query" if query else text.replace('"', "").replace("`", ""))
    dialect = name.namespace.partition(":")[0]
    shown = TableName.of(name.namespace, name.name)
    inner = JdbcQuery(query, dialect, url) if query else None
    return PlanDataset(name, shown, tuple(schema), uri=name.namespace, layer="jdbc", query=inner)


def _inner_query(text: str) -> str | None:
    """The query of `(SELECT …) alias`, which is how JDBC sources carry one."""
    if not text.startswith("("):
        return None
    return text[1 : text.rindex(")")].strip()


def catalog_table(session: Any, table: Any) -> PlanDataset:
    """A table or view of the session catalog, by its `CatalogTable`."""
    database = option(table.identifier().database()) or "default"
    parts = (str(database), str(table.identifier().table()))
    provider = option(table.provider())
    properties = table.storage().properties()
    columns = columns_of(table.schema())
    if provider == "jdbc" and lookup(properties, "url"):
        text = lookup(properties, "dbtable") or f"({lookup(properties, 'query')}) q"
        jdbc = jdbc_dataset(lookup(properties, "url") or "", text, schema=columns)
        return PlanDataset(jdbc.name, TableName(parts), columns, (_symlink(session, parts),), jdbc.uri, "jdbc")
    if table.tableType().name() == "VIEW":
        link = _symlink(session, parts, "VIEW")
        return PlanDataset(DatasetName(link.namespace, link.name), TableName(parts), columns, (), None, "view")
    location = option(table.storage().locationUri())
    if location is None:
        location = session.sessionState().catalog().defaultTablePath(table.identifier())
    uri = str(location.toString())
    layer = "hive" if provider == "hive" else "delta" if provider == "delta" else "file"
    return PlanDataset(
        path_name(uri, whole_table=False),
        TableName(parts),
        columns,
        (_symlink(session, parts),),
        uri,
        layer,
        _format_of(table) if provider == "hive" else provider,
    )


def _format_of(table: Any) -> str:
    """The file format of a Hive table, from its input format's class."""
    given = str(option(table.storage().inputFormat()) or "").lower()
    return next((name for name in ("parquet", "orc", "avro", "text") if name in given), "hive")


def _symlink(session: Any, parts: tuple[str, ...], kind: str = "TABLE") -> Identifier:
    metastore = session.sparkContext().hadoopConfiguration().get("hive.metastore.uris")
    if metastore:
        name = hive_name(metastore, parts[0], parts[-1])
        return Identifier(namespace=name.namespace, name=name.name, type=kind)
    warehouse = path_name(session.sessionState().conf().warehousePath(), whole_table=False)
    return Identifier(namespace=str(warehouse), name=".".join(parts), type=kind)


def named_table(session: Any, parts: list[str]) -> PlanDataset:
    """A table by its name alone. One that is not there (any more) is where the catalog would have put it."""
    if len(parts) > 2 and parts[0] != SESSION_CATALOG:
        return catalog_name(session, parts[0], parts[1:])
    names = tuple(parts[-2:]) if len(parts) > 1 else (str(session.catalog().currentDatabase()), parts[0])
    state = session.sessionState()
    identifier = state.sqlParser().parseTableIdentifier(".".join(f"`{part}`" for part in names))
    try:
        return catalog_table(session, state.catalog().getTableMetadata(identifier))
    except (Py4JError, PySparkException):  # it is not there yet, or a moment ago it still was
        uri = str(state.catalog().defaultTablePath(identifier).toString())
        name = path_name(uri, whole_table=False)
        return PlanDataset(name, TableName(names), (), (_symlink(session, names),), uri)


def catalog_name(session: Any, catalog: str, parts: Sequence[str]) -> PlanDataset:
    """A table of another catalog by its name alone, before it is there or after it is gone: by the settings of its
    catalog, so that it has the name it has while it is there."""
    conf = session.conf()
    table, name = TableName((catalog, *parts)), ".".join(parts)
    prefix = f"spark.sql.catalog.{catalog}"
    url, warehouse = conf.get(f"{prefix}.url", None), conf.get(f"{prefix}.warehouse", None)
    if url is not None and str(url).startswith("jdbc:"):
        found = jdbc_name(str(url), name)
        return PlanDataset(found, table, uri=found.namespace, layer="jdbc")
    if warehouse is not None and "headwater" in str(conf.get(prefix, None)):
        return PlanDataset(lake_name(str(warehouse), ".".join(parts[-2:])), table, layer="headwater")
    return PlanDataset(DatasetName(catalog, name), table)


def named_view(session: Any, parts: list[str]) -> PlanDataset:
    """A view of the session catalog by its name alone."""
    names = tuple(parts[-2:]) if len(parts) > 1 else (str(session.catalog().currentDatabase()), parts[0])
    link = _symlink(session, names, "VIEW")
    return PlanDataset(DatasetName(link.namespace, link.name), TableName(names), layer="view")


def temporary_view(name: str) -> PlanDataset:
    """A view that lives as long as its session."""
    return PlanDataset(memory_name(name), TableName.of(name), layer="memory")


# ------------------------------------------------------------------------------------- tables of other catalogs


def v2_table(
    session: Any, table: Any, *, catalog: Any = None, identifier: Any = None, options: Any = None
) -> PlanDataset:
    """A table of a catalog or source of Spark's second generation, by whatever it tells of itself."""
    kind = class_name(table)
    if kind == "V1Table":
        return catalog_table(session, table.v1Table())
    if kind == "RowLevelOperationTable":  # a table, dressed up to be rewritten
        return v2_table(session, table.table(), catalog=catalog, identifier=identifier, options=options)
    parts = _parts(table, catalog, identifier)
    properties = _properties(table)
    schema = _columns(table)
    if "headwater.warehouse" in properties:
        name = lake_name(properties["headwater.warehouse"], ".".join(parts[-2:]))
        return PlanDataset(
            name, TableName(parts), schema, layer="headwater", version=properties.get("headwater.snapshot")
        )
    if kind.startswith("JDBC"):
        return _jdbc_table(table, parts, schema)
    if kind.startswith("Kafka"):
        return _kafka_table(options, schema)
    found = _by_location(table, kind, properties)
    if found is not None:
        uri, layer, version = found
        links = () if catalog is None else (Identifier(namespace=parts[0], name=".".join(parts[1:]), type="TABLE"),)
        format = properties.get("provider") or layer
        return PlanDataset(path_name(uri), TableName(parts), schema, links, uri, layer, format, version)
    if catalog is None:
        source = kind.removesuffix("Table").lower() or kind.lower()
        return PlanDataset(memory_name(source), TableName.of(source), schema, layer="memory")
    return PlanDataset(DatasetName(parts[0], ".".join(parts[1:])), TableName(parts), schema)


def _parts(table: Any, catalog: Any, identifier: Any) -> tuple[str, ...]:
    if catalog is None or identifier is None:
        return (str(table.name()),)
    return (str(catalog.name()), *map(str, identifier.namespace()), str(identifier.name()))


def _properties(table: Any) -> dict[str, str]:
    try:
        return {str(key): str(value) for key, value in table.properties().items()}
    except Exception:  # a table that cannot be asked has none
        return {}


def _columns(table: Any) -> tuple[tuple[str, str], ...]:
    try:
        return columns_of(table.schema())
    except Exception:
        return ()


def _jdbc_table(table: Any, parts: tuple[str, ...], schema: tuple[tuple[str, str], ...]) -> PlanDataset:
    url = str(table.jdbcOptions().url())
    name = jdbc_name(url, ".".join(parts[1:]) or parts[-1])
    return PlanDataset(name, TableName(parts), schema, uri=name.namespace, layer="jdbc")


def _kafka_table(options: Any, schema: tuple[tuple[str, str], ...]) -> PlanDataset:
    given = {str(key).lower(): str(value) for key, value in options.items()} if options is not None else {}
    topic = (
        given.get("topic") or given.get("subscribe") or given.get("subscribepattern") or given.get("assign") or "?"
    )
    return kafka_dataset(given.get("kafka.bootstrap.servers", "unknown"), topic, schema=schema)


def kafka_dataset(servers: str, topic: str, *, schema: Any = ()) -> PlanDataset:
    """A topic."""
    name = kafka_name(servers, topic)
    return PlanDataset(name, TableName.of(name.namespace, name.name), tuple(schema), layer="kafka")


def _by_location(table: Any, kind: str, properties: dict[str, str]) -> tuple[str, str, str | None] | None:
    """Address, layer and version of a table that is files: Iceberg, Delta, Spark's own file sources."""
    if kind == "SparkTable":  # Iceberg
        snapshot = properties.get("current-snapshot-id")
        return properties.get("location", str(table.name())), "iceberg", None if snapshot == "none" else snapshot
    if kind == "DeltaTableV2":
        return str(table.path().toString()), "delta", str(table.initialSnapshot().version())
    if kind in ("ParquetTable", "CSVTable", "JsonTable", "OrcTable", "TextTable", "AvroTable"):
        paths = [str(path) for path in each(table.paths())]
        return (paths[0], "file", None) if paths else None
    if "location" in properties:
        return properties["location"], "file", None
    return None
