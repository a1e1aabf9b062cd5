"""Statements that give tables other names or move whole partitions, and that the parser leaves as text.

RENAME [TABLE | VIEW | DICTIONARY] a TO b, …          Oracle, MySQL, ClickHouse, Teradata, Exasol, Db2
EXCHANGE TABLES a AND b                               ClickHouse
sp_rename 'a', 'b' [, 'COLUMN']                       T-SQL
ALTER SCHEMA s TRANSFER a                             T-SQL
ALTER TABLE a …
  SET SCHEMA s | REPLACE WITH TABLE b                 PostgreSQL | Doris
  EXCHANGE PARTITION … WITH TABLE b                   Oracle, MySQL (both get rows), Hive (a gets them)
  SWITCH [PARTITION …] TO b                           T-SQL
  MOVE PARTITION … TO TABLE b                         ClickHouse
  ATTACH PARTITION … FROM b, ATTACH PARTITION b …     ClickHouse, PostgreSQL
  APPEND FROM b                                       Redshift
"""

from sqlglot import exp

from headwater.errors import InputError
from headwater.lineage.effects import AlterColumns, RenameTable, SwapTables
from headwater.lineage.moves import Moves
from headwater.lineage.script import Lowered
from headwater.model.names import TableName, parse_parts
from headwater.sql.inserts import move_rows
from headwater.sql.lowering import Lowering, Node
from headwater.sql.split import Piece
from headwater.sql.words import Words, words_of
from headwater.text import Span

_FIRST = frozenset({"RENAME", "EXCHANGE", "ALTER"})
_RENAMED = frozenset({"TABLE", "TABLES", "VIEW", "DICTIONARY"})
_HIVE = frozenset({"hive", "spark", "spark2", "databricks"})


def lower_move(lowering: Lowering, tree: Node, piece: Piece) -> Lowered | None:
    """The statement, if it is one of those above; None for any other."""
    if isinstance(tree, exp.Execute):
        return _procedure(lowering, tree)
    words = words_of(lowering, piece) if tree.name.upper() in _FIRST else None
    if words is None:
        return None
    match tree.name.upper():
        case "RENAME":
            return _rename(lowering, words)
        case "EXCHANGE":
            words.take("EXCHANGE")
            one = words.name() if words.take("TABLES") or words.take("DICTIONARIES") else None
            other = words.name() if words.take("AND") else None
            return None if one is None or other is None else _swap(lowering, one, other, "EXCHANGE")
    return _alter(lowering, words)


def _rename(lowering: Lowering, words: Words) -> Lowered | None:
    words.take("RENAME")
    words.take_any(_RENAMED)
    words.take("IF", "EXISTS")
    moves = Moves(lowering.resolver, "RENAME_TABLE")
    while True:
        old = words.name()
        new = words.name() if words.take("TO") or words.take("AS") else None
        if old is None or new is None:
            return None
        effect = RenameTable(lowering.table_name(old[0])[0], lowering.table_name(new[0])[0])
        moves.add(effect, span=old[1], to=new[1])
        if not words.take(","):
            return moves.lowered(None)


def _swap(lowering: Lowering, one: tuple[Node, Span], other: tuple[Node, Span], kind: str) -> Lowered:
    moves = Moves(lowering.resolver, kind)
    effect = SwapTables(lowering.table_name(one[0])[0], lowering.table_name(other[0])[0])
    moves.add(effect, span=one[1], to=other[1])
    return moves.lowered(None)


def _alter(lowering: Lowering, words: Words) -> Lowered | None:
    words.take("ALTER")
    if words.take("SCHEMA"):
        schema = words.name()
        transfers = words.take("TRANSFER")
        words.take("OBJECT", "::")
        table = words.name()
        return _set_schema(lowering, table, schema) if transfers and table and schema else None
    while words.take_any(frozenset({"MATERIALIZED", "FOREIGN", "EXTERNAL"})):
        pass
    kind = words.take_any(frozenset({"TABLE", "VIEW"}))
    words.take("IF", "EXISTS")
    words.take("ONLY")
    table = words.name() if kind else None
    if table is None:
        return None
    if words.take("SET", "SCHEMA"):
        schema = words.name()
        return _set_schema(lowering, table, schema) if schema is not None else None
    if words.take("REPLACE", "WITH", "TABLE"):
        other = words.name()
        return _swap(lowering, table, other, "ALTER_TABLE") if other is not None else None
    return _partitions(lowering, table[0], words)


def _set_schema(lowering: Lowering, table: tuple[Node, Span], schema: tuple[Node, Span]) -> Lowered:
    """The same table in another schema."""
    moves = Moves(lowering.resolver, "ALTER_TABLE")
    name = lowering.table_name(table[0])[0]
    to = TableName((*lowering.table_name(schema[0])[0].parts, name.name))
    moves.add(RenameTable(name, to), span=table[1], to=schema[1])
    return moves.lowered(None)


def _partitions(lowering: Lowering, table: Node, words: Words) -> Lowered | None:
    """Rows of whole partitions that go from one table to another."""
    if words.take("APPEND", "FROM"):  # by name, and the source is empty afterwards
        other = words.name()
        return move_rows(lowering, [(table, other[0])], "INSERT", by_name=True) if other is not None else None
    if words.take("EXCHANGE"):
        other = words.name() if words.skip_to("WITH", "TABLE") else None
        if other is None:
            return None
        pairs = [(table, other[0])] if lowering.dialect in _HIVE else [(table, other[0]), (other[0], table)]
        return move_rows(lowering, pairs)
    if words.take("SWITCH"):
        other = words.name() if words.skip_to("TO") else None
        return move_rows(lowering, [(other[0], table)]) if other is not None else None
    if words.take("MOVE"):
        other = words.name() if words.skip_to("TO", "TABLE") else None
        return move_rows(lowering, [(other[0], table)]) if other is not None else None
    if words.take("ATTACH", "PARTITION"):
        part = words.name() if lowering.dialect != "clickhouse" else None
        other = words.name() if part is None and words.skip_to("FROM") else part
        return move_rows(lowering, [(table, other[0])]) if other is not None else None
    return None


# ---------------------------------------------------------------------------------------------------- sp_rename


def _procedure(lowering: Lowering, tree: Node) -> Lowered | None:
    """EXEC sp_rename of a table or column; None for other procedures, and for names that are not constants."""
    if tree.this is None or tree.this.name.lower() != "sp_rename":
        return None
    given, places = _arguments(lowering, tree)
    span, to = places.get("objname"), places.get("newname")
    old, new, kind = given.get("objname"), given.get("newname"), (given.get("objtype") or "object").lower()
    if old is None or new is None or kind not in ("object", "column"):
        return Lowered("RENAME") if old and new and "objtype" in given else None
    try:
        parts = parse_parts(old)
    except InputError:
        return None
    moves = Moves(lowering.resolver, "RENAME_TABLE" if kind == "object" else "ALTER_TABLE")
    if kind == "object":
        moves.add(RenameTable(TableName(parts), TableName.of(new)), span=span, to=to)
    else:
        moves.add(AlterColumns(TableName(parts[:-1] or ("?",)), rename=((parts[-1], new),)), span=span, to=to)
    return moves.lowered(None)


def _arguments(lowering: Lowering, tree: Node) -> tuple[dict[str, str], dict[str, Span | None]]:
    """The constant arguments of a call and their places: those without a name are @objname, @newname, @objtype."""
    given: dict[str, str] = {}
    places: dict[str, Span | None] = {}
    for name, each in zip(("objname", "newname", "objtype"), tree.expressions):
        value = each
        if isinstance(each, exp.EQ):
            name, value = each.this.name.lower(), each.expression
        if isinstance(value, exp.National) or (isinstance(value, exp.Literal) and value.is_string):
            given[name], places[name] = value.name, lowering.span(value)
    return given, places
