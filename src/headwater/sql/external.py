"""EXTERNAL_QUERY(connection, 'query'): rows of another database, by a query in that database's own language.

The language of a connection is a part of the schema (`SchemaMetadata.connections`). Tables of the query are named
after the connection: `us.crm.public.people` is `public.people` behind the connection `us.crm`. Without a language,
a query that means the same in all languages that such a database can have is followed; else lineage ends at the
connection itself.
"""

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from headwater.errors import DialectError
from headwater.model.names import TableName
from headwater.sql.dialects import canonical_dialect, sqlglot_dialect
from headwater.sql.lowering import Lowering, Node


def external_source(lowering: Lowering, function: Node) -> tuple[TableName, Node | None] | None:
    """The connection that EXTERNAL_QUERY names, and its query, if its language is known; None for other functions."""
    if not isinstance(function, exp.Anonymous) or function.name.upper() != "EXTERNAL_QUERY":
        return None
    texts = [each.name for each in function.expressions if isinstance(each, exp.Literal) and each.is_string]
    if not texts:
        return None
    connection = TableName(tuple(texts[0].replace("/", ".").split(".")))
    return connection, _query(lowering, texts[0], connection, texts[1]) if len(texts) > 1 else None


def _query(lowering: Lowering, written: str, connection: TableName, text: str) -> Node | None:
    known = {each.name.lower(): each.dialect for each in lowering.resolver.schema.connections}
    dialect = known.get(written.lower())
    trees = [_parsed(text, each) for each in ((dialect,) if dialect is not None else _LANGUAGES)]
    tree = trees[0]
    if not isinstance(tree, exp.Query) or any(other != tree for other in trees[1:]):
        return None
    own = {each.alias for each in tree.find_all(exp.CTE)}
    for table in list(tree.find_all(exp.Table)):
        if table.name not in own or table.args.get("db"):
            catalog, db = table.args.get("catalog"), table.args.get("db")
            place = f"{connection}.{catalog.name}" if catalog is not None else str(connection)
            table.set("catalog" if db is not None else "db", exp.to_identifier(place, quoted=True))
    return tree


_LANGUAGES = ("postgres", "mysql", "bigquery")
"""The languages of Cloud SQL, AlloyDB and Spanner."""


def _parsed(text: str, dialect: str) -> Node | None:
    try:
        return sqlglot.parse_one(text, read=sqlglot_dialect(canonical_dialect(dialect)))
    except (SqlglotError, DialectError):
        return None
