"""The front end for every dialect that sqlglot parses."""

import dataclasses
import logging
import re
from collections.abc import Iterable

from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from headwater.errors import Issue, IssueCode, Severity
from headwater.events.naming import file_table
from headwater.lineage.effects import SchemaEffect, UseColumns
from headwater.lineage.resolver import SchemaResolver
from headwater.lineage.script import Lowered, failed
from headwater.lineage.trace import given_up
from headwater.lineage.values import OutOfTime
from headwater.model.relation import Resolution
from headwater.sql import (
    alterations,
    creates,
    expressions,
    generators,
    inserts,
    loads,
    lookup,
    merges,
    nested,
    pivots,
    updates,
    variables,
)
from headwater.sql.cursors import keep_cursor, lower_fetch, read_fetch
from headwater.sql.dialects import canonical_dialect
from headwater.sql.given_functions import functions_of
from headwater.sql.loads import find_unload
from headwater.sql.lowering import Lowering, Node
from headwater.sql.program import Program
from headwater.sql.query_functions import note_functions
from headwater.sql.renames import lower_move
from headwater.sql.split import Piece, loose_tokens, parse_piece, split_inner
from headwater.sql.streams import lower_stream
from headwater.sql.table_only import lower_tables, lower_tokens
from headwater.sql.triggers import with_rows
from headwater.sql.variables import (
    as_condition,
    forget_variables,
    into_variables,
    keep_record,
    lower_assignment,
    without_into,
)
from headwater.sql.without_lineage import kind_without_lineage
from headwater.sql.writes import STATEMENTS, take_out_writes
from headwater.text import Source

REGISTERED = (
    *(alterations, creates, expressions, generators, inserts, loads, lookup),
    *(merges, nested, pivots, updates, variables),
)
"""The modules whose functions lower the nodes: importing them registers them."""

_MOST_EARLIER = 16
logging.getLogger("sqlglot").addHandler(logging.NullHandler())  # what it warns of, we report as issues


class SqlFrontEnd:
    """Text of one dialect to relation trees, by sqlglot's parser and our own name resolution.
    It remembers the functions and variables of a script, so it belongs to one script at a time; `split` begins anew.
    RAISES: DialectError when the dialect is not known."""

    def __init__(self, dialect: str | None = None) -> None:
        self.dialect = canonical_dialect(dialect)
        self._program = Program(self.dialect)

    def foresee(self, texts: Iterable[tuple[str, SchemaResolver]]) -> None:
        """Do nothing: a text is read the quicker for nothing that could be known beforehand."""

    def split(self, source: Source) -> Iterable[Piece]:
        """Cut a script into statements, in order; what is executed is found by lowering each before the next."""
        return self._program.pieces(source)

    @property
    def program(self) -> Program:
        """The state of the script."""
        return self._program

    def know(self, texts: Iterable[str]) -> None:
        """Take in the functions that other texts define: the script may call them."""
        self._program.given = tuple(functions_of(text, self.dialect) for text in texts)

    def note(self, statement: Piece, source: Source) -> None:
        """Take in the function that a statement defines, of a text that `split` does not see."""
        for _ in note_functions([statement], source, self.dialect, self._program.query_functions):
            pass

    def lower(self, statement: Piece, *, source: Source, resolver: SchemaResolver, deadline: float) -> Lowered:
        """Understand one statement; one that cannot be read is an issue."""
        source = statement.source or source
        lowering = Lowering(
            source=source, resolver=resolver, dialect=self.dialect, piece=statement, deadline=deadline
        )
        self._program.lend(lowering, statement)
        lowering.earlier = tuple(self._program.earlier[-_MOST_EARLIER:])
        if self.dialect == "snowflake":  # RESULT_SCAN(LAST_QUERY_ID())
            self._program.earlier.append(statement)
        for name in statement.names:
            lowering.variables.setdefault(name, None)
        if statement.opaque is not None:
            return _hidden(lowering, statement)
        lowered = self._lower(lowering, statement)
        return _doubted(lowered, statement) if statement.doubt is not None else lowered

    def _lower(self, lowering: Lowering, statement: Piece) -> Lowered:
        fetch = read_fetch(statement.tokens)
        try:
            assigned = lower_fetch(lowering, *fetch) if fetch is not None else lower_assignment(lowering, statement)
        except (OutOfTime, RecursionError) as stop:
            return Lowered("SET", issues=(given_up(stop),))
        if assigned is not None:
            return _settled(lowering, assigned)
        statement, taken = (
            (statement, list(statement.into)) if statement.into else without_into(statement, self.dialect)
        )
        try:
            tree = parse_piece(statement, self.dialect)
        except ParseError as err:
            return _unread(lowering, statement, _syntax_error(statement, lowering, err))
        except Exception as err:  # the parser fails in many ways on what is not SQL
            why = "it is nested too deeply" if isinstance(err, RecursionError) else str(err).split("\n")[0]
            unread = failed("UNKNOWN", f"the statement cannot be read: {why}", statement.span)
            return _unread(lowering, statement, unread)
        if tree is None:
            unread = failed("UNKNOWN", statement.problem or "there is no statement here", statement.span)
            tokens = loose_tokens(statement, self.dialect)
            return _unread(lowering, dataclasses.replace(statement, tokens=tokens), unread)
        if lowering.trigger is not None:
            tree = with_rows(tree, lowering.trigger)
        if taken and isinstance(tree, exp.Select):
            tree.set("into", into_variables(taken))
        elif taken:
            forget_variables(lowering, taken)
        lowered = _lower_tree(lowering, tree, statement)
        if statement.record is not None:
            keep_record(lowering, statement.record, tree)
        if statement.cursor is not None:
            keep_cursor(lowering, statement.cursor, tree)
        return as_condition(lowered, tree, statement.condition_of) if statement.condition_of else lowered


def _hidden(lowering: Lowering, statement: Piece) -> Lowered:
    """A statement that is executed from a string which is not known, with the tables that are known of it."""
    known = [token for token in statement.tokens if "headwater_hole_" not in token.text]
    kind = "EXECUTE"
    lowered = lower_tokens(lowering, known, kind) if statement.source is not None else Lowered(kind, table_only=True)
    reason = str(statement.opaque)
    hint = "a string is followed when it is made of constants and of variables that the script sets to constants"
    if "string" not in reason:
        hint = "give its definition in the same script, or in one before it"
    issue = Issue(IssueCode.UNSUPPORTED_STATEMENT, Severity.WARNING, reason, statement.span, hint=hint)
    return dataclasses.replace(lowered, issues=(issue,))


def _doubted(lowered: Lowered, statement: Piece) -> Lowered:
    """A statement in which a value is not known."""
    issue = Issue(IssueCode.APPROXIMATE_LINEAGE, Severity.INFO, str(statement.doubt), statement.span)
    return dataclasses.replace(lowered, issues=(*lowered.issues, issue), approximate=statement.doubt)


def _lower_tree(lowering: Lowering, tree: Node, statement: Piece) -> Lowered:
    if isinstance(tree, exp.Command | exp.Execute):
        read = lower_move(lowering, tree, statement) or lower_stream(lowering, tree, statement)
        if read is not None:
            return _settled(lowering, read)
        kind = kind_without_lineage(statement.tokens)
        if kind is not None:
            return Lowered(kind)
    lower = next((STATEMENTS[base] for base in type(tree).__mro__ if base in STATEMENTS), None)
    if tree.meta.get("lossy"):
        message = "a clause of the statement cannot be read here: columns that it uses may be missing"
        lowering.report(IssueCode.APPROXIMATE_LINEAGE, message)
    if lower is None:
        if isinstance(tree, _WITHOUT_LINEAGE) or (isinstance(tree, exp.Command) and tree.name.upper() in _SILENT):
            return Lowered((tree.name if isinstance(tree, exp.Command) else tree.key).upper())
        called = tree
        while isinstance(called, exp.Dot):  # package.load(1)
            called = called.expression
        if isinstance(called, exp.Anonymous) or (lowering.dialect == "oracle" and isinstance(tree, exp.Column)):
            of_collection = isinstance(tree, exp.Column) and tree.name.upper() in ("EXTEND", "DELETE", "TRIM")
            return Lowered("CALL") if of_collection else _unsupported(lowering, exp.Command(this="CALL"), statement)
        if isinstance(tree, exp.Condition | exp.Alias):  # the parser takes `SELEC a` for an expression
            unread = failed("UNKNOWN", "this is an expression, not a statement", statement.span)
            return _unread(lowering, statement, unread)
        return _unsupported(lowering, tree, statement)
    try:
        within = take_out_writes(lowering, tree)
        lowered = lower(lowering, tree)
        if within:
            lowered = dataclasses.replace(lowered, writes=(*within, *lowered.writes))
    except (OutOfTime, RecursionError) as stop:
        return dataclasses.replace(lower_tables(lowering, tree, tree.key.upper()), issues=(given_up(stop),))
    except Exception as err:  # a tree of a shape we have not met: the other statements must not suffer for it
        message = f"the statement has a shape that is not understood here ({type(err).__name__}: {err})"
        issue = Issue(IssueCode.UNSUPPORTED_STATEMENT, Severity.WARNING, message, statement.span)
        return dataclasses.replace(lower_tables(lowering, tree, tree.key.upper()), issues=(issue,))
    return _settled(lowering, lowered)


def _unread(lowering: Lowering, statement: Piece, lowered: Lowered) -> Lowered:
    """A statement that cannot be parsed: its tables, or nothing when its first words say that it has no lineage."""
    kind = kind_without_lineage(statement.tokens)
    if kind is not None:
        return Lowered(kind)
    first = statement.tokens[0].text.upper() if statement.tokens else ""
    if first in ("EXEC", "EXECUTE", "CALL"):
        return _unsupported(lowering, exp.Execute(), statement)
    if first in ("GRAPH", "ASSERT", "DEFINE", "IMPORT", "EXPORT", "RUN"):
        return _unsupported(lowering, exp.Command(this=first), statement)
    return dataclasses.replace(lower_tokens(lowering, statement.tokens, "UNKNOWN"), issues=lowered.issues)


def _settled(lowering: Lowering, lowered: Lowered) -> Lowered:
    """A statement with what was learnt on the way: the columns that its tables must have, and issues."""
    for item in lowering.stored:
        item.settle()
    if lowering.side_writes:
        lowered = dataclasses.replace(lowered, writes=(*lowered.writes, *lowering.side_writes))
    uses: list[SchemaEffect] = [
        UseColumns(item.table.name, tuple(dict.fromkeys(item.used)))
        for item in lowering.stored
        if item.used and item.table.resolution is not Resolution.IMPORTED
    ]
    return dataclasses.replace(lowered, effects=(*uses, *lowered.effects), issues=(*lowered.issues, *lowering.issues))


_WITHOUT_LINEAGE = (
    *(exp.Transaction, exp.Commit, exp.Rollback, exp.Describe, exp.Show, exp.Comment, exp.Grant),
    *(exp.Analyze, exp.Kill, exp.Pragma, exp.Refresh, exp.Uncache, exp.Semicolon, exp.Revoke),
)
_SILENT = frozenset({"SET", "SHOW", "EXPLAIN", "VACUUM", "GRANT", "REVOKE", "OPTIMIZE", "RESET", "ANALYZE", "FETCH"})


def _unsupported(lowering: Lowering, tree: Node, statement: Piece) -> Lowered:
    name = (tree.name if isinstance(tree, exp.Command) else tree.key).upper() or "UNKNOWN"
    issue = Issue(
        IssueCode.UNSUPPORTED_STATEMENT,
        Severity.INFO,
        f"statements of the kind {name} have no column lineage here",
        statement.span,
    )
    if isinstance(tree, exp.Execute) or name == "CALL":
        lowered = Lowered(name, table_only=True)
    elif isinstance(tree, exp.Command):
        if name == "UNLOAD":
            unloaded = _lower_unload(lowering, statement)
            if unloaded is not None:
                return unloaded
        lowered = lower_tokens(lowering, statement.tokens, name)
    else:
        lowered = lower_tables(lowering, tree, name)
    return dataclasses.replace(lowered, issues=(issue,))


def _lower_unload(lowering: Lowering, statement: Piece) -> Lowered | None:
    """UNLOAD ('query') TO 'path': the parser keeps it as text, the query is inside."""
    source = lowering.source
    start = statement.offset + statement.tokens[0].start
    found = find_unload(source.text, start, statement.offset + statement.tokens[-1].end + 1)
    if found is None:
        return None
    start, end, path = found
    quoted = source.text[start - 1] == "'"
    for piece in split_inner(source, lowering.dialect, start=start, end=end, quoted=quoted):
        try:
            tree = parse_piece(piece, lowering.dialect)
        except SqlglotError:
            return None
        inner = Lowering(source=source, resolver=lowering.resolver, dialect=lowering.dialect, piece=piece)
        inner.functions, inner.query_functions = lowering.functions, lowering.query_functions
        lowered = _lower_tree(inner, tree, piece)
        writes = tuple(
            dataclasses.replace(write, statement_type="UNLOAD", target=file_table(path)) for write in lowered.writes
        )
        return dataclasses.replace(lowered, statement_type="UNLOAD", writes=writes)
    return None


_MISSING = re.compile(r"Required keyword: '\w+' missing for <class '(?:\w+\.)*(\w+)'>")
"""Which part of several is said to be missing differs from process to process."""


def _syntax_error(statement: Piece, lowering: Lowering, err: ParseError) -> Lowered:
    detail = err.errors[0] if err.errors else {}
    message = _MISSING.sub(
        r"a part of `\1` is missing", str(detail.get("description") or err).split("\n")[0].rstrip(".")
    )
    marked = str(detail.get("highlight") or "")
    span = statement.span
    before = detail.get("start_context")
    if marked and before is not None:
        at = statement.text.find(str(before)[-40:] + marked, max(0, statement.tokens[0].start - 100))
        if at >= 0:
            start = at + len(str(before)[-40:])
            span = lowering.place(start, start + len(marked)) or span
    return failed("UNKNOWN", f"syntax error near `{marked}`: {message}" if marked else message, span)
