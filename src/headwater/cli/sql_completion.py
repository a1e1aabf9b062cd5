"""The words that can stand at the cursor in a statement: columns of its tables, tables, databases, words of SQL."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_WORDS = (
    *("ALTER", "AND", "AS", "ASC", "BETWEEN", "BY", "CASE", "CAST", "COLUMN", "COUNT", "CREATE", "CROSS"),
    *("DATABASE", "DATABASES", "DELETE", "DESC", "DESCRIBE", "DISTINCT", "DROP", "ELSE", "END", "EXCEPT", "EXISTS"),
    *("EXPLAIN", "FROM", "FULL", "GROUP", "HAVING", "IF", "IN", "INNER", "INSERT", "INTERSECT", "INTO", "IS"),
    *("JOIN", "KEY", "LEFT", "LIKE", "LIMIT", "MAX", "MERGE", "MIN", "NOT", "NULL", "OF", "OFFSET", "ON", "OR"),
    *("ORDER", "OVER", "OVERWRITE", "PARTITION", "PARTITIONED", "PRIMARY", "QUALIFY", "REPLACE", "RIGHT", "SELECT"),
    *("SET", "SHOW", "SUM", "TABLE", "TABLES", "THEN", "TIMESTAMP", "TRUNCATE", "UNION", "UPDATE", "USE", "USING"),
    *("VALUES", "VERSION", "VIEW", "WHEN", "WHERE", "WINDOW", "WITH"),
)
_AT_CURSOR = re.compile(r'[\w.$"]*$')
_NAMES_TABLE = re.compile(r"(?i)\b(?:from|join|into|update|table|describe)\s+$|\bfrom\s+[\w\s.,]*,\s*$")
_TABLE = re.compile(
    r'(?i)(?:\b(?:from|join|into|update|table)|,)\s+([\w"]+(?:\.[\w"$]+)?)'
    r"(?:\s+(?:as\s+)?(?!(?:on|where|join|left|right|inner|cross|full|group|order|set|using|version|limit)\b)(\w+))?"
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A word that completes what was typed, and what it is. `name` is what was typed of it, if not its beginning."""

    text: str
    kind: str
    name: str | None = None


def complete_sql(session: Any, before: str, after: str = "") -> tuple[str, list[Candidate]]:
    """The word at the cursor, as far as it is typed, and what it can become, the likeliest first."""
    found = _AT_CURSOR.search(before)
    word = found.group() if found else ""
    head, dot, last = word.rpartition(".")
    statement = before[: len(before) - len(word)].rpartition(";")[2]
    known = _tables_of(session, statement + " " + after.partition(";")[0])
    if dot:
        options = _members(session, head.replace('"', ""), known)
    elif _NAMES_TABLE.search(statement):
        options = [*_tables(session), *(_tables_elsewhere(session) if last else ())]
    else:
        options = [*_columns(known), *(Candidate(each, "alias") for each in known), *_tables(session)]
        options += [Candidate(each, "") for each in _WORDS]
    typed = last.lower().lstrip('"')
    fitting = [each for each in options if (each.name or each.text).lower().startswith(typed)]
    return last, list(dict.fromkeys(fitting))


def _tables_of(session: Any, statement: str) -> dict[str, Any]:
    """The tables that a statement names and that there are, by alias or name."""
    found: dict[str, Any] = {}
    for name, alias in _TABLE.findall(statement):
        table = _open(session, name.replace('"', ""))
        if table is not None:
            found[alias or name.rpartition(".")[2].replace('"', "")] = table
    return found


def _open(session: Any, name: str) -> Any:
    database, _, table = name.rpartition(".")
    if not session.warehouse.has_table(f"{database or session.database}.{table}"):
        return None
    return session.table(name)


def _members(session: Any, head: str, known: dict[str, Any]) -> list[Candidate]:
    """The columns of an alias or table, or the tables of a database."""
    by_name = {name.lower(): table for name, table in known.items()}
    table = by_name.get(head.lower()) or _open(session, head)
    if table is not None:
        return [Candidate(name, "column") for name in table.schema.names]
    if session.warehouse.has_database(head):
        return [Candidate(each, "table") for each in session.warehouse.list_tables(head)]
    return []


def _columns(known: dict[str, Any]) -> Iterator[Candidate]:
    for alias, table in known.items():
        yield from (Candidate(name, f"column of {alias}") for name in table.schema.names)


def _tables(session: Any) -> list[Candidate]:
    warehouse, database = session.warehouse, session.database
    tables = warehouse.list_tables(database) if warehouse.has_database(database) else []
    return [
        *(Candidate(each, "table") for each in tables),
        *(Candidate(each, "database") for each in warehouse.list_databases(own=False)),
    ]


def _tables_elsewhere(session: Any) -> Iterator[Candidate]:
    """The tables of other databases, which need the name of theirs."""
    warehouse = session.warehouse
    for database in warehouse.list_databases(own=False):
        if database != session.database:
            for name in warehouse.list_tables(database):
                yield Candidate(f"{database}.{name}", "table", name)
