"""Table lineage of statements that could not be resolved: ZetaSQL's parser still knows which tables they name."""

from typing import Any

from headwater.errors import Issue, IssueCode, Severity
from headwater.lineage.script import Lowered, failed
from headwater.model.names import TableName
from headwater.model.relation import Relation, Scan, Write
from headwater.zetasql.catalog import Path, split_path
from headwater.zetasql.failures import CannotResolve, Reason
from headwater.zetasql.split import ScriptPiece, parse_piece, unwrap
from headwater.zetasql.statements import ScriptState, Setting, place_of

_TARGET_FIELDS = ("target_path", "name")
_NO_TARGET = frozenset({"QueryStatement", "CallStatement", "ExportDataStatement", "AssertStatement"})
_VALUES = {"VariableDeclaration": "default_value", "SingleAssignment": "expression"}


def tables_only(state: ScriptState, piece: ScriptPiece, setting: Setting, failure: CannotResolve) -> Lowered:
    """The tables a statement reads and the one it writes; an error when it is no GoogleSQL at all."""
    span = failure.span or piece.span
    piece = parse_piece(setting.source, piece, state.reader.engine, state.reader.dialect)
    if piece.node is None or failure.reason is Reason.SYNTAX:
        return failed("UNKNOWN", failure.message, span)
    target = None if piece.kind in _NO_TARGET or _is_expression(piece) else target_path(piece.node)
    relations: tuple[Relation, ...] = named_tables(state, piece, setting, but=target)
    written = None if target is None else setting.resolver.resolve(TableName(split_path(target))).name
    kind = setting.text(piece.start, piece.end).split(None, 1)[0].upper()
    issue = Issue(code_of(failure.reason), Severity.WARNING, f"only tables are known: {failure.message}", span)
    return Lowered(kind, (Write(kind, written, (), relations),), issues=(issue,), table_only=True)


def named_tables(
    state: ScriptState, piece: ScriptPiece, setting: Setting, *, but: Path | None = None
) -> tuple[Scan, ...]:
    """The tables a piece names, as scans of no columns."""
    text = setting.text(piece.start, piece.end)
    if piece.kind in _VALUES:
        value = getattr(piece.node, _VALUES[piece.kind])
        if unwrap(value) is None:  # a declaration without a default, whose type is none
            return ()
        text = setting.text(*place_of(value, piece, piece.node))
    names = state.reader.table_names(f"SELECT ({text})" if _is_expression(piece) else text)
    resolve = setting.resolver.resolve
    return tuple(Scan(resolve(TableName(split_path(name))).name, ()) for name in names if name != but)


def _is_expression(piece: ScriptPiece) -> bool:
    return not piece.kind.endswith("Statement") or piece.kind in ("IfStatement", "WhileStatement")


def code_of(reason: Reason) -> IssueCode:
    """The issue that says why a statement was not resolved."""
    match reason:
        case Reason.UNKNOWN_TABLE:
            return IssueCode.UNKNOWN_TABLE
        case Reason.UNKNOWN_COLUMN:
            return IssueCode.UNKNOWN_COLUMN
        case Reason.SYNTAX:
            return IssueCode.PARSE_ERROR
        case _:
            return IssueCode.APPROXIMATE_LINEAGE


def target_path(node: Any) -> Path | None:
    """The path of the table that a DML or DDL statement writes, from its syntax."""
    while node is not None:
        fields = type(node).DESCRIPTOR.fields_by_name
        for name in _TARGET_FIELDS:
            if name in fields and fields[name].message_type is not None and node.HasField(name):
                path = unwrap(getattr(node, name))
                if path is None or "names" not in type(path).DESCRIPTOR.fields_by_name:
                    return None
                return tuple(part.id_string for part in path.names)
        node = node.parent if "parent" in fields else None
    return None
