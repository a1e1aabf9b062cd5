"""GoogleSQL with a fallback: ZetaSQL first, then by name, then by table.

ZetaSQL is the real analyzer: it needs the columns of every table and forgives nothing. A statement that it cannot
resolve goes to the sqlglot front end, which resolves by name what it can, and the statement is marked approximate,
with ZetaSQL's message. What that cannot read either keeps its tables.
"""

import dataclasses
import re

from headwater.errors import Issue, IssueCode, Severity
from headwater.lineage.script import Lowered
from headwater.sql.branches import CodeBranch
from headwater.sql.frontend import SqlFrontEnd
from headwater.sql.split import Piece as Statement
from headwater.sql.split import split_inner
from headwater.sql.tokens import as_query
from headwater.zetasql.catalog import find_table
from headwater.zetasql.failures import CannotResolve, Reason
from headwater.zetasql.frontend import GoogleSqlFrontEnd
from headwater.zetasql.provider import TableProvider
from headwater.zetasql.split import ScriptPiece
from headwater.zetasql.statements import ComputedText, ScriptState, Setting, place_of
from headwater.zetasql.tables import code_of, named_tables

_CONDITIONS = {"IfStatement": "IF", "WhileStatement": "WHILE"}
_SET_ANEW = re.compile(r"\bSET\s+(\w+)\s*=\s*(?!\1\s*\|\||CONCAT\s*\(\s*\1\b)", re.IGNORECASE)
"""Assignments, but for those that add to a text."""

_VARIABLES = frozenset({"VariableDeclaration", "SingleAssignment", "AssignmentFromStruct"})


def open_google_sql(dialect: str, *, fallback: bool, provider: TableProvider | None = None) -> GoogleSqlFrontEnd:
    """A front end for `bigquery` or `spanner`; without `fallback`, what ZetaSQL cannot resolve keeps its tables only.

    `provider` is asked for tables that are not known.

    RAISES: MissingDependencyError or EngineError when ZetaSQL cannot be started.
    """
    by_name = ByName()
    return GoogleSqlFrontEnd(
        dialect=dialect, fallback=by_name if fallback else None, computes=by_name.executed_texts, provider=provider
    )


class ByName:
    """Statements that ZetaSQL gave up, as the sqlglot front end understands them.

    It is told of the functions and variables of the script only when it is first needed.
    """

    def __init__(self) -> None:
        self._front_end = SqlFrontEnd("bigquery")
        self._definitions: list[tuple[ScriptPiece, Setting]] = []
        self._told = 0

    def __call__(self, state: ScriptState, piece: ScriptPiece, setting: Setting, failure: CannotResolve) -> Lowered:
        """The statement by its names.

        RAISES: the failure, when it cannot be read that way either.
        """
        last = self._tell(state)
        lowered = last if piece.kind in _VARIABLES else self._lower(piece, setting)
        if lowered is None or any(issue.severity is Severity.ERROR for issue in lowered.issues):
            raise failure
        if failure.reason is Reason.TYPES and _lacks_types(state, piece, setting):
            return lowered  # nobody said what the types are: names decide, and no name is in doubt
        is_unknown = failure.reason is Reason.UNKNOWN_TABLE and _says(lowered, IssueCode.UNKNOWN_TABLE)
        if is_unknown or failure.reason is Reason.OPEN_TABLE:
            return lowered  # names decide, as in every other dialect: what is in doubt is said column by column
        unknown = re.match(r"Unrecognized name: (\w+)", failure.message)
        if unknown is not None and unknown[1].lower() in self._front_end.program.variables:
            return lowered  # a variable whose value ZetaSQL could not resolve
        if "EXTERNAL_QUERY" in failure.message.upper() and not _says(lowered, IssueCode.APPROXIMATE_LINEAGE):
            return lowered  # the query that it sends was read
        if failure.reason is Reason.UNKNOWN_FUNCTION:
            lowered = _with_tables(state, piece, setting, lowered)
        return _approximate(lowered, piece, failure)

    def executed_texts(self, state: ScriptState, piece: ScriptPiece, setting: Setting) -> list[ComputedText]:
        """The strings that an expression may give, as the variables of the script stand."""
        self._tell(state)
        statement = self._statement(piece, setting)
        if statement is None:
            return []
        found: list[ComputedText] = []
        for each in self._front_end.program.executed_texts(statement):
            unknown = f"the executed string is not known: it depends on {each.shown}"
            value = f"a value in the executed string is not known: {each.shown}"
            found.append(
                ComputedText(each.text, unknown if each.hides == "names" else None, value if each.hides else None)
            )
        return found

    def _tell(self, state: ScriptState) -> Lowered | None:
        """Take in the functions and variables that have been defined since; returns what the last of them reads."""
        last = None
        if state.definitions is not self._definitions:  # another script
            self._front_end, self._definitions, self._told = SqlFrontEnd("bigquery"), state.definitions, 0
        for piece, setting in state.definitions[self._told :]:
            last = self._lower(piece, setting)
            if setting.depth:  # a variable of a procedure, which may have the name of another one
                words = re.findall(r"\w+", setting.text(piece.start, piece.end).lower())
                self._front_end.program.forget_texts(words)
        self._told = len(state.definitions)
        return last

    def _lower(self, piece: ScriptPiece, setting: Setting) -> Lowered | None:
        statement = self._statement(piece, setting)
        if statement is None:
            return None
        self._front_end.note(statement, setting.source)
        lowered = self._front_end.lower(
            statement, source=setting.source, resolver=setting.resolver, deadline=setting.deadline
        )
        if statement.record is None:
            return lowered
        writes = tuple(dataclasses.replace(write, statement_type="FOR") for write in lowered.writes)
        return dataclasses.replace(lowered, statement_type="FOR", writes=writes)

    def _statement(self, piece: ScriptPiece, setting: Setting) -> Statement | None:
        source = setting.source
        loops = piece.kind == "ForInStatement"
        place = place_of(piece.node.query, piece, piece.node) if loops else (piece.start, piece.end)
        start, end = map(source.character_at, place)
        statement = next(iter(split_inner(source, "bigquery", start=start, end=end)), None)
        if statement is None:
            return None
        if piece.kind in _CONDITIONS:
            tokens, condition = as_query(statement.tokens), _CONDITIONS[piece.kind]
            statement = dataclasses.replace(statement, tokens=tokens, condition_of=condition)
        record = piece.node.variable.id_string.lower() if loops else None
        statement = dataclasses.replace(statement, record=record)
        branches = tuple(CodeBranch(*each) for each in piece.branches)
        if any(branch.loops for branch in branches):  # what comes later in the text may have been done before
            later = _SET_ANEW.finditer(source.text, end)
            self._front_end.program.forget_texts(found[1].lower() for found in later)
        own = None if setting.exact else source  # places in an executed string are not places in the script
        return dataclasses.replace(statement, conditional=piece.conditional, branches=branches, source=own)


def _lacks_types(state: ScriptState, piece: ScriptPiece, setting: Setting) -> bool:
    paths = state.reader.table_names(setting.text(piece.start, piece.end))
    tables = [find_table(path, setting.resolver) for path in paths]
    return any(column.type is None for table in tables if table is not None for column in table.columns)


def _approximate(lowered: Lowered, piece: ScriptPiece, failure: CannotResolve) -> Lowered:
    code = code_of(failure.reason)
    if not _says(lowered, code):  # it was not noticed there: say it
        message = f"resolved by name only: {failure.message}"
        issue = Issue(code, Severity.WARNING, message, failure.span or piece.span)
        lowered = dataclasses.replace(lowered, issues=(issue, *lowered.issues))
    return dataclasses.replace(lowered, approximate=failure.message)


def _says(lowered: Lowered, code: IssueCode) -> bool:
    return any(issue.code is code for issue in lowered.issues)


def _with_tables(state: ScriptState, piece: ScriptPiece, setting: Setting, lowered: Lowered) -> Lowered:
    """The same with every table that the text names: those handed to an unknown table function are read, too."""
    if len(lowered.writes) != 1:
        return lowered
    write = lowered.writes[0]
    scans = named_tables(state, piece, setting)
    return dataclasses.replace(lowered, writes=(dataclasses.replace(write, relations=(*write.relations, *scans)),))
