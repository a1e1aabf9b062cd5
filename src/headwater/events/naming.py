"""The name of a dataset in an event: a namespace (where it lives) and a name there.
The rules are OpenLineage's, so that events of other tools name the same dataset alike; lake tables, which it has no
rule for, are `headwater:` and their warehouse, then `database.table`. No name ever carries a password: user, secret
and query string of a URL are dropped."""

import posixpath
import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from headwater.events.jdbc import jdbc_address
from headwater.model.names import TableName, is_path

_SCHEMES = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfs": "abfss", "wasb": "wasbs"}
"""Spellings of one store under one name."""

_TREES = frozenset({"file", "hdfs", "dbfs"})
"""File systems, in which `a/../b` is `b`; in an object store it is a name like any other."""

_PARTITION = re.compile(r"[^/=]+=[^/]*")
_CREDENTIALS = re.compile(r"^([A-Za-z][\w+.-]*://)[^/@:]*:(?!\d+(?:/|$))[^@]*@")
"""User and secret before a host. A secret may have slashes in it, as AWS's do; a number before a slash is a port."""
_PORTS = {"postgres": 5432, "mysql": 3306, "mssql": 1433, "oracle": 1521, "redshift": 5439, "trino": 8080}


@dataclass(frozen=True, slots=True, order=True)
class DatasetName:
    """A dataset's full name.

    >>> str(path_name("s3a://bucket/raw/orders/")), str(path_name("/data/orders"))
    ('s3://bucket/raw/orders', 'file:/data/orders')
    """

    namespace: str
    name: str

    def __str__(self) -> str:
        if self.namespace == "file":  # the local disk: its address is the scheme and the path
            return f"file:{self.name}"
        joint = "" if self.name.startswith("/") or self.namespace.endswith("/") else "/"
        return f"{self.namespace}{joint}{self.name}"


@lru_cache(1024)
def path_name(uri: str, *, whole_table: bool = True) -> DatasetName:
    """The dataset that a file or folder is.

    With `whole_table`, trailing `key=value` folders are left off: one partition of a table is not another dataset.

    >>> path_name("file:/data/orders/day=2026-01-01")
    DatasetName(namespace='file', name='/data/orders')
    >>> path_name("abfs://raw@shop.dfs.core.windows.net/orders").namespace
    'abfss://raw@shop.dfs.core.windows.net'
    """
    if not re.match(r"[A-Za-z][\w+.-]*:", uri):
        return DatasetName("file", _folder(_plain_path(uri), whole_table))
    url = urlsplit(_CREDENTIALS.sub(r"\1", uri))
    scheme = _SCHEMES.get(url.scheme.lower(), url.scheme.lower())
    path = unquote(url.path)
    path = _folder(_plain_path(path) if scheme in _TREES else path, whole_table)
    if scheme == "file":
        return DatasetName(f"file://{url.hostname}" if url.hostname else "file", path)
    if scheme in ("abfss", "wasbs"):  # the part before @ is the container, not a user
        return DatasetName(f"{scheme}://{url.netloc}", path)
    where = _host(url.netloc)
    if scheme in ("s3", "gs"):
        return DatasetName(f"{scheme}://{where}", path.lstrip("/") or "/")
    return DatasetName(f"{scheme}://{where}" if where else scheme, path)


def file_table(uri: str) -> TableName:
    """The table that a file, a folder or a stage is in SQL text: one name, however it is spelt.

    The graph calls files of events the same (`headwater.graph.observed`), so that both are one dataset. A stage of
    Snowflake (`@stage/path`) has no other spelling than its own.

    >>> [str(file_table(uri)) for uri in ("./a/../b.parquet", "file:///x", "s3a://bucket/x/", "@stage/in/", "out/")]
    ['b.parquet', '/x', 's3://bucket/x', '@stage/in', './out']
    """
    if uri.startswith("@"):
        return TableName((uri.rstrip("/"),))
    try:
        name = path_name(uri)
    except ValueError:  # no URL, though it looks like one
        return TableName((uri,))
    path = file_id(name)
    return TableName((path if is_path(path) else f"./{path}",))  # a folder that is named as a table could be


def file_id(name: DatasetName) -> str:
    """A file's full name in one text; one of the local disk goes by its path alone."""
    return name.name if name.namespace == "file" else str(name)


def _plain_path(path: str) -> str:
    """A path of a file system without `.`, `..` and doubled slashes: `./a//../b` is `b`."""
    return posixpath.normpath("/" + path.lstrip("/") if path.startswith("/") else path) if path else path


def _folder(path: str, whole_table: bool) -> str:
    parts = path.rstrip("/").split("/")
    while whole_table and len(parts) > 1 and _PARTITION.fullmatch(parts[-1]):
        parts.pop()
    return "/".join(parts) or "/"


def _host(netloc: str) -> str:
    return netloc.rpartition("@")[2]


def jdbc_name(url: str, table: str) -> DatasetName:
    """The dataset that a table read over JDBC is; the URL's user, password and options go no further.

    >>> jdbc_name("jdbc:postgresql://me:secret@db.example/shop?password=x", "public.orders")
    DatasetName(namespace='postgres://db.example:5432', name='shop.public.orders')
    >>> jdbc_name("jdbc:sqlserver://db.example:1433;databaseName=shop;password=x", "dbo.orders")
    DatasetName(namespace='mssql://db.example:1433', name='shop.dbo.orders')
    """
    address = jdbc_address(url)
    name = _qualified(address.database or "", table)
    if address.host is None:
        return DatasetName(address.system, name)
    port = address.port or _PORTS.get(address.system)
    return DatasetName(f"{address.system}://{address.host}" + (f":{port}" if port else ""), name)


def _qualified(database: str, table: str) -> str:
    return f"{database}.{table}" if database and not table.startswith(f"{database}.") else table


def hive_name(metastore: str, database: str, table: str) -> DatasetName:
    """A table of a Hive metastore (`thrift://host:9083`).

    >>> hive_name("thrift://meta:9083", "shop", "orders")
    DatasetName(namespace='hive://meta:9083', name='shop.orders')
    """
    first = metastore.split(",")[0]
    return DatasetName(f"hive://{_host(urlsplit(first).netloc)}", f"{database}.{table}")


def kafka_name(servers: str, topic: str) -> DatasetName:
    """A topic, by the first of its bootstrap servers."""
    return DatasetName(f"kafka://{_host(servers.split(',')[0].strip())}", topic)


def lake_name(warehouse: str, table: str) -> DatasetName:
    """A table (`database.table`) of a Headwater warehouse.

    >>> lake_name("/data/lake/", "shop.orders")
    DatasetName(namespace='headwater:/data/lake', name='shop.orders')
    """
    return DatasetName(f"headwater:{_plain_location(warehouse)}", table)


def _plain_location(warehouse: str) -> str:
    """A warehouse's location in one spelling: without `file:`, a slash at the end, credentials and a query."""
    text = re.sub(r"^file:/{1,3}(?=[^/])", "/", warehouse)
    text = re.sub(r"^([a-z0-9]+)://", lambda found: f"{_SCHEMES.get(found[1], found[1])}://", text)
    if "://" in text:
        text = _CREDENTIALS.sub(r"\1", text).partition("?")[0]
    return re.sub(r"(?<=://)[^/]*@(?!.*\.core\.windows\.net)", "", text).rstrip("/") or "/"


def memory_name(name: str) -> DatasetName:
    """Data that lives in a session only: a temporary view, a local relation, an RDD."""
    return DatasetName("inmemory://", name)
