"""The target of a JDBC address: its system, one host and the database, and never anything else.
Every vendor writes addresses in its own way, and most let a password stand in them: before an `@`, behind `;`, `?`,
`:`, `/` or `,`, in parentheses. So nothing is taken over that is not known to be a host, a port or a database. Of an
address that is not understood, only the system stays."""

import re
from dataclasses import dataclass

_SYSTEMS = {
    "postgresql": "postgres",
    "mariadb": "mysql",
    "mysql+srv": "mysql",
    "sqlserver": "mssql",
    "ch": "clickhouse",
}
_SYSTEMS |= {
    name: name for name in ("mysql", "redshift", "oracle", "db2", "greenplum", "trino", "h2", "hsqldb", "derby")
}
"""The name of a system by its word in addresses. Of several words (`aws-wrapper:postgresql:`) it is one of these."""

_IN_FILES = frozenset({"derby", "h2", "hsqldb", "sqlite", "duckdb", "cloudspanner"})
"""Systems whose database is a path; it may be the whole address."""

_BARE_HOSTS = {"sybase": "Tds:", "exa": "", "phoenix": "", "as400": ""}
"""Systems whose address can be `host:port/database` without `//`, and the word before that."""

_KEY = r"[\w.$ -]+="
_PARAMETERS = re.compile(rf"(?:^|[;?/&])(?={_KEY})|(?<!:)[:,](?={_KEY})|[;?]\s*$")
_VALUE = r"\{(?:[^}]|\}\})*\}|'(?:[^']|'')*'|\"[^\"]*\""
_HOST = re.compile(r"(\[[0-9A-Fa-f:.%]+\]|[\w.\\$-]+)(?::(\d+))?")
_NAME = re.compile(r"[\w.$~%+\\-]+")
_LISTED = re.compile(r"(?:[^@()]*@)?\[?\s*(?:address\s*=\s*)?\(", re.IGNORECASE)
_DATABASES = ("databasename", "database", "db", "dbname", "projectid")
_SERVERS = ("servername", "server")


@dataclass(frozen=True, slots=True)
class JdbcAddress:
    """The parts of a JDBC address that may be shown; None for what cannot be told."""

    system: str
    host: str | None = None
    port: int | None = None
    database: str | None = None


def jdbc_address(url: str) -> JdbcAddress:
    """Return where a JDBC address leads.

    >>> jdbc_address("jdbc:db2://db.example:50000/shop:user=me;password=secret;")
    JdbcAddress(system='db2', host='db.example', port=50000, database='shop')
    >>> jdbc_address("jdbc:unheard-of:me/secret")
    JdbcAddress(system='unheard-of', host=None, port=None, database=None)
    """
    text = re.sub(r"^\s*jdbc:", "", url, flags=re.IGNORECASE)
    first, _, rest = text.partition(":")
    first = first.lower()
    system = _SYSTEMS.get(first, first if re.fullmatch(r"[\w+.-]+", first) else "jdbc")
    if system == "oracle":
        return _oracle(rest)
    words = re.match(r"(?:[\w+.-]+:)+(?=//)", text)
    if words is not None:
        known = [_SYSTEMS[word] for word in words.group().lower().split(":") if word in _SYSTEMS]
        return _network(known[-1] if known else system, text[words.end() + 2 :])
    if system in _IN_FILES:
        return JdbcAddress(system, database=re.split(r"[;?]", rest)[0] or None)
    before, _ = _split(rest)
    if system == "postgres":
        return JdbcAddress(system, database=before if _NAME.fullmatch(before) else None)
    word = _BARE_HOSTS.get(system)
    return JdbcAddress(system) if word is None else _place(system, before.removeprefix(word), {})


def _network(system: str, text: str) -> JdbcAddress:
    """Return what follows `//`."""
    if _LISTED.match(text):
        # MySQL's `(host=h,port=1,password=p)/database` and `address=(host=h)(port=1)(password=p)/database`
        hosts = re.findall(r"[(,]\s*host\s*=\s*([^(),\s]+)", text, re.IGNORECASE)
        ports = re.findall(r"[(,]\s*port\s*=\s*(\d+)", text, re.IGNORECASE)
        host, _ = _host(hosts[0] if hosts else "")
        behind = re.search(rf"\)\s*\]?\s*/({_NAME.pattern})(?=[?;]{_KEY}|[?;]?\s*$)", text)
        return JdbcAddress(system, host, int(ports[0]) if ports else None, behind[1] if behind else None)
    service = re.match(r"https?://", text)  # BigQuery: the address of a service, whose path is no database
    text = text[service.end() :] if service else text
    before, parameters = _split(text)
    if "@" in before and "@" in text[len(before) :]:  # which of them ends the password cannot be told
        return JdbcAddress(system)
    found = _place(system, before.partition("/")[0] if service else before, parameters)
    if system in _IN_FILES and found.host is not None:
        path = re.split(r"[;?]", before.rpartition("@")[2])[0].partition("/")[2]
        return JdbcAddress(system, found.host, found.port, path or None)
    return found


def _split(text: str) -> tuple[str, dict[str, str]]:
    """Return what stands before the parameters, and these: they begin where a separator is followed by `key=`.
    A `:` or a `,` counts only in the path (`host/database:user=…`): before that, it may be part of a password."""
    for found in _PARAMETERS.finditer(text):
        if found.group() not in (":", ",") or "/" in text[: found.start()]:
            separators = {"?": "&;", "/": ",", ",": ","}.get(found.group(), ";")
            return text[: found.start()], _parameters(text[found.end() :], separators)
    return text, {}


def _parameters(text: str, separators: str) -> dict[str, str]:
    """Keys in lower case and their first values, which may have separators in them when in braces or quotes."""
    pattern = rf"\s*([\w.$ -]+?)\s*=\s*({_VALUE}|[^{separators}]*)[^{separators}]*(?:[{separators}]|$)"
    pairs = [(key.lower(), value) for key, value in re.findall(pattern, text)]
    return {key: value[1:-1] if value[:1] in ("{", "'", '"') else value for key, value in reversed(pairs)}


def _place(system: str, text: str, parameters: dict[str, str]) -> JdbcAddress:
    """`host:port/database`; what stands before an `@` is gone, and with it anything that looks like a host there."""
    _, at, place = text.rpartition("@")
    authority, _, path = place.partition("/")
    authority = authority.strip("[]") if "," in authority else authority
    host, port = _host(authority, rest_may_follow=bool(at))
    if not authority:
        host, port = _host(next((parameters[key] for key in _SERVERS if key in parameters), ""))
    elif host is None:  # not understood: neither is what follows it
        path = ""
    own = _NAME.match(path)
    return JdbcAddress(system, host, port, own.group() if own else _database(parameters))


def _host(text: str, *, rest_may_follow: bool = False) -> tuple[str | None, int | None]:
    """The first of some hosts, if it is one; with `rest_may_follow`, whatever follows it is left out."""
    first = text.partition(",")[0].strip()
    found = _HOST.fullmatch(first) or (_HOST.match(first) if rest_may_follow else None)
    return (None, None) if found is None else (found[1], int(found[2]) if found[2] else None)


def _database(parameters: dict[str, str]) -> str | None:
    given = next((parameters[key] for key in _DATABASES if parameters.get(key)), "")
    return given if _NAME.fullmatch(given) else None


def _oracle(text: str) -> JdbcAddress:
    """`thin:@//host:port/service`, `thin:@host:port:sid`, with or without `user/password` before the @; or `@(…)`."""
    if re.search(r"@\s*\(", text):
        return _described(text)
    before = re.split(rf"\?(?={_KEY})", text)[0]
    if "@" not in before or "@" in text[len(before) :]:  # a password alone, or it cannot be told where it ends
        return JdbcAddress("oracle")
    address = re.sub(r"^(?:\w+:)?//", "", before.rpartition("@")[2])
    found = re.match(r"((?:\[[^\]]*\]|[^:/,]+)(?::\d+)?)(?:,[^:/]*(?::\d+)?)*(?:[:/]([\w.$-]+))?", address)
    host, port = _host(found[1]) if found else (None, None)
    return JdbcAddress("oracle", host, port, found[2] if found and host else None)


def _described(text: str) -> JdbcAddress:
    """Oracle's `(DESCRIPTION=(ADDRESS=(HOST=h)(PORT=1))(CONNECT_DATA=(SERVICE_NAME=s)))`."""
    host, port, service = (
        re.search(rf"\(\s*(?:{key})\s*=\s*([\w.$-]+)\s*\)", text, re.IGNORECASE)
        for key in ("HOST", "PORT", "SERVICE_NAME|SID")
    )
    number = int(port[1]) if port and port[1].isdecimal() else None
    return JdbcAddress("oracle", host[1] if host else None, number, service[1] if service else None)
