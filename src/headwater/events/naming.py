"""What a dataset is called in an event: a namespace (where it lives) and a name there.

The rules are OpenLineage's, so that events of other tools name the same dataset alike; lake tables, which it has no
rule for, are `headwater:` and their warehouse, then `database.table`. No name ever carries a password: user, secret
and query string of a URL are dropped.
"""

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

_SCHEMES = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfs": "abfss", "wasb": "wasbs"}
"""Spellings of one store under one name."""

_PARTITION = re.compile(r"[^/=]+=[^/]*")
_BY_DATABASE = {"postgresql": "postgres", "mariadb": "mysql", "sqlserver": "mssql"}
_PORTS = {"postgres": 5432, "mysql": 3306, "mssql": 1433, "oracle": 1521, "redshift": 5439, "trino": 8080}
_OPTION = re.compile(r"[;?&]\s*([\w.]+)\s*=\s*([^;?&]*)")


@dataclass(frozen=True, slots=True, order=True)
class DatasetName:
    """A dataset's full name.

    >>> str(path_name("s3a://bucket/raw/orders/"))
    's3://bucket/raw/orders'
    """

    namespace: str
    name: str

    def __str__(self) -> str:
        joint = "" if self.name.startswith("/") or self.namespace.endswith("/") else "/"
        return f"{self.namespace}{joint}{self.name}"


def path_name(uri: str, *, whole_table: bool = True) -> DatasetName:
    """The dataset that a file or folder is.

    With `whole_table`, trailing `key=value` folders are left off: one partition of a table is not another dataset.

    >>> path_name("file:/data/orders/day=2026-01-01")
    DatasetName(namespace='file', name='/data/orders')
    >>> path_name("abfs://raw@shop.dfs.core.windows.net/orders").namespace
    'abfss://raw@shop.dfs.core.windows.net'
    """
    if not re.match(r"[A-Za-z][\w+.-]*:", uri):
        return DatasetName("file", _folder(uri, whole_table))
    url = urlsplit(uri)
    scheme = _SCHEMES.get(url.scheme.lower(), url.scheme.lower())
    path = _folder(unquote(url.path), whole_table)
    if scheme == "file":
        return DatasetName(f"file://{url.hostname}" if url.hostname else "file", path)
    if scheme in ("abfss", "wasbs"):  # the part before @ is the container, not a user
        return DatasetName(f"{scheme}://{url.netloc}", path)
    where = _host(url.netloc)
    if scheme in ("s3", "gs"):
        return DatasetName(f"{scheme}://{where}", path.lstrip("/") or "/")
    return DatasetName(f"{scheme}://{where}" if where else scheme, path)


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
    text = url.removeprefix("jdbc:")
    engine, _, rest = text.partition(":")
    engine = engine.lower()
    if engine == "oracle":
        return _oracle(rest, table)
    system = _BY_DATABASE.get(engine, engine)
    if not rest.startswith("//"):  # an embedded database: derby:path, h2:mem:x, sqlite:file
        database = re.split(r"[;?]", rest)[0]
        return DatasetName(system, _qualified(database, table))
    options = {key.lower(): value for key, value in _OPTION.findall(rest)}
    address, _, path = re.split(r"[;?]", rest[2:])[0].partition("/")
    database = path.split("/")[0] or options.get("databasename") or options.get("database") or ""
    return DatasetName(f"{system}://{_with_port(_host(address), system)}", _qualified(database, table))


def _oracle(rest: str, table: str) -> DatasetName:
    """`thin:@//host:port/service`, `thin:@host:port:sid`, with or without `user/password` before the @."""
    address = re.split(r"[;?]", rest.rpartition("@")[2])[0].removeprefix("//")
    found = re.match(r"([^:/]+)(?::(\d+))?[:/]?(.*)", address)
    host, port, service = found.groups() if found else (address, None, "")
    return DatasetName(f"oracle://{host}:{port or _PORTS['oracle']}", _qualified(service, table))


def _with_port(address: str, system: str) -> str:
    first = address.split(",")[0]
    port = _PORTS.get(system)
    return first if port is None or re.search(r":\d+$", first) else f"{first}:{port}"


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
    return DatasetName(f"kafka://{servers.split(',')[0].strip()}", topic)


def lake_name(warehouse: str, table: str) -> DatasetName:
    """A table (`database.table`) of a Headwater warehouse.

    >>> lake_name("/data/lake/", "shop.orders")
    DatasetName(namespace='headwater:/data/lake', name='shop.orders')
    """
    return DatasetName(f"headwater:{_plain_location(warehouse)}", table)


def _plain_location(warehouse: str) -> str:
    """A warehouse's location in one spelling: no `file:` in front, no slash behind, no credentials inside."""
    text = re.sub(r"^file:/{1,3}(?=[^/])", "/", warehouse)
    text = re.sub(r"^([a-z0-9]+)://", lambda found: f"{_SCHEMES.get(found[1], found[1])}://", text)
    return re.sub(r"(?<=://)[^/@]*@(?!.*\.core\.windows\.net)", "", text).rstrip("/") or "/"


def memory_name(name: str) -> DatasetName:
    """Data that lives in a session only: a temporary view, a local relation, an RDD."""
    return DatasetName("inmemory://", name)
