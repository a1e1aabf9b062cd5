"""CREATE STREAM (Snowflake): the changes of a table, or of the files of a stage, as rows.
A stream has the columns of its table and three that say what kind of change a row is. Who reads it reads the table
through it: so the stream has edges from the table, and what reads the stream has edges from the stream."""

import dataclasses

from sqlglot import exp

from headwater.lineage.effects import ColumnDefinition, CreateTable
from headwater.lineage.known_table import KnownTable
from headwater.lineage.moves import same_rows
from headwater.lineage.script import Lowered
from headwater.model.names import TableName
from headwater.model.relation import Assignment, Literal, Resolution
from headwater.sql.lowering import Lowering, Node
from headwater.sql.split import Piece
from headwater.sql.words import Words, words_of
from headwater.text import Span

_CHANGE = tuple(ColumnDefinition(f"METADATA${name}") for name in ("ACTION", "ISUPDATE", "ROW_ID"))
_FILE = tuple(
    ColumnDefinition(name) for name in ("RELATIVE_PATH", "SIZE", "LAST_MODIFIED", "MD5", "ETAG", "FILE_URL")
)
_KINDS = frozenset({"TABLE", "VIEW"})
_BEFORE = frozenset({"EXTERNAL", "DYNAMIC", "EVENT", "ICEBERG", "MATERIALIZED"})


def lower_stream(lowering: Lowering, tree: Node, piece: Piece) -> Lowered | None:
    """The statement, if it creates a stream; None for any other."""
    if not isinstance(tree, exp.Command) or tree.name.upper() != "CREATE":
        return None
    words = words_of(lowering, piece)
    if words is None:
        return None
    words.take("CREATE")
    words.take("OR", "REPLACE")
    if not words.take("STREAM"):
        return None
    words.take("IF", "NOT", "EXISTS")
    name = words.name()
    source = _source(lowering, words) if name is not None else None
    if name is None or source is None:
        return None
    table, span = source
    if table.resolution is Resolution.UNKNOWN and not table.name.name.startswith("@"):
        lowering.add_issue(lowering.resolver.unknown_table(table, span))
    written, quoted = lowering.table_name(name[0])
    target = lowering.resolver.resolve(written, quoted=quoted).name
    write = same_rows("CREATE_STREAM", table, target, span, name[1])
    there = {column.name.upper() for column in table.columns}  # a stream that is cloned has them
    added = tuple(column for column in _CHANGE if column.name not in there)
    write = dataclasses.replace(
        write, assignments=(*write.assignments, *(Assignment(each.name, Literal()) for each in added))
    )
    effect = CreateTable(written, (*table.columns, *added), complete=table.complete, span=name[1])
    return Lowered("CREATE_STREAM", (write,), (effect,))


def _source(lowering: Lowering, words: Words) -> tuple[KnownTable, Span] | None:
    """The table, view, stage or stream that a stream is on."""
    if not words.skip_to("ON"):
        found = words.name() if words.skip_to("CLONE") else None
        return _known(lowering, found)
    while words.take_any(_BEFORE):
        pass
    if words.take_any(_KINDS):
        return _known(lowering, words.name())
    if words.take("DIRECTORY", "(") or words.take("STAGE"):
        words.take("@")
        found = words.name()
        if found is not None:
            parts = lowering.table_name(found[0])[0].parts
            return KnownTable(TableName(("@" + ".".join(parts),)), _FILE, Resolution.IMPLIED, True), found[1]
    return None


def _known(lowering: Lowering, found: tuple[Node, Span] | None) -> tuple[KnownTable, Span] | None:
    if found is None:
        return None
    name, quoted = lowering.table_name(found[0])
    return lowering.resolver.resolve(name, quoted=quoted), found[1]
