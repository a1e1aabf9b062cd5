"""Columns of Spark's SQL that are written with their catalog: `catalog.database.table.column`."""

from collections.abc import Iterable

from sqlglot import exp

from headwater.query.parse import Node


def table_parts(column: Node, tables: Iterable[Node], database: str) -> tuple[list[Node], Node | None]:
    """The parts of a column that name its table together with a database, and that table; none for others.
    `database` is that of tables without one. A field of a field looks the same: `line.price.net.amount`."""
    named = [node for node in tables if not node.alias]
    parts = [part for part in column.parts if isinstance(part, exp.Identifier)]
    texts = [part.name.casefold() for part in parts]
    for count in (3, 2):
        if len(column.parts) <= count:
            continue
        for node in named:
            catalog, *known = [node.catalog.casefold(), (node.db or database).casefold(), node.name.casefold()]
            if texts[:count][-2:] == known and (count == 2 or _may_be(texts[0], catalog, tables)):
                return parts[:count], node
    return [], None


def _may_be(text: str, catalog: str, tables: Iterable[Node]) -> bool:
    """Return whether a name is that of a table's catalog; of a table without one, any that no table has."""
    return text == catalog if catalog else all(node.alias_or_name.casefold() != text for node in tables)
