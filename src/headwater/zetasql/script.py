"""A GoogleSQL script cut into pieces: its statements, also those inside IF, LOOP, FOR, BEGIN … EXCEPTION.

ZetaSQL's parser gives the tree of a whole script. When the script does not parse, it is cut at its semicolons and the
parts are parsed one by one, so that one bad statement does not take the others with it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from headwater.text import Source, Span
from headwater.zetasql.engine import Engine
from headwater.zetasql.failures import CannotResolve, read_error
from headwater.zetasql.instance import ServiceError
from headwater.zetasql.options import language_bytes


@dataclass(frozen=True, slots=True)
class Piece:
    """One statement of a script, or a control statement's own part of it (an IF's condition, a FOR's query).

    `start` and `end` are byte offsets; `kind` is the name of the syntax node; `conditional` says that it may not run,
    or run more than once. A piece that could not be parsed has no node but a `problem`.
    """

    span: Span
    start: int
    end: int
    kind: str
    node: Any = None
    conditional: bool = False
    problem: str | None = None
    problem_span: Span | None = None


def split_script(source: Source, engine: Engine, dialect: str = "bigquery") -> list[Piece]:
    """The pieces of a script, in order."""
    data = source.text.encode()
    try:
        return list(_parsed(source, engine, data, 0, dialect))
    except ServiceError:
        return list(_split_roughly(source, engine, data, dialect))


def _parsed(source: Source, engine: Engine, data: bytes, start: int, dialect: str) -> Iterator[Piece]:
    script = engine.parse(data.decode(), language_bytes(dialect))
    return pieces_of(source, script.statement_list_node.statement_list, start)


def pieces_of(
    source: Source, statements: Iterable[Any], offset: int, *, conditional: bool = False
) -> Iterator[Piece]:
    """The pieces of a list of statements whose text begins at byte `offset` of the source."""
    for wrapped in statements:
        node = unwrap(wrapped)
        kind = kind_of(node)
        if kind == "HintedStatement":
            node = unwrap(node.statement)
            kind = kind_of(node)
        bodies = _bodies(node, kind)
        if bodies is None:
            yield _piece(source, node, kind, offset, conditional)
            continue
        head, lists = bodies
        if head is not None:
            yield _piece(source, head, kind, offset, conditional)
        for body, may_skip in lists:
            yield from pieces_of(source, body.statement_list, offset, conditional=conditional or may_skip)


def _bodies(node: Any, kind: str) -> tuple[Any, list[tuple[Any, bool]]] | None:
    """The statement lists inside a control statement, each with whether it may be skipped; None for a plain one.

    The first value is the part of the control statement that reads data itself.
    """
    match kind:
        case "IfStatement":
            branches = [clause.body for clause in node.elseif_clauses.elseif_clauses]
            return node.condition, [(body, True) for body in (node.then_list, *branches, node.else_list)]
        case "CaseStatement":
            branches = [clause.body for clause in node.when_then_clauses.when_then_clauses]
            return None, [(body, True) for body in (*branches, node.else_list)]
        case "WhileStatement":
            condition = node.condition if unwrap(node.condition) is not None else None
            return condition, [(node.parent.body, True)]
        case "RepeatStatement":
            return None, [(node.parent.body, True)]
        case "ForInStatement":
            return node, [(node.parent.body, True)]
        case "BeginEndBlock":
            handlers = [handler.statement_list for handler in node.handler_list.exception_handler_list]
            return None, [(node.statement_list_node, False), *((handler, True) for handler in handlers)]
        case _:
            return None


def _piece(source: Source, node: Any, kind: str, offset: int, conditional: bool) -> Piece:
    place = location(node)
    start, end = offset + place.start, offset + place.end
    return Piece(source.span_of_bytes(start, end), start, end, kind, unwrap(node), conditional)


# ------------------------------------------------------------------------------------------- syntax nodes


def unwrap(node: Any) -> Any:
    """The concrete syntax node inside any number of `Any…` wrappers; None when a wrapper is empty."""
    while type(node).__name__.startswith("AnyAST"):
        inner = node.WhichOneof("node")
        if inner is None:
            return None
        node = getattr(node, inner)
    return node


def kind_of(node: Any) -> str:
    """`IfStatement` for an ASTIfStatementProto."""
    return type(node).__name__.removeprefix("AST").removesuffix("Proto")


def location(node: Any) -> Any:
    """The byte range of a syntax node in the text that was parsed."""
    node = unwrap(node)
    while "parse_location_range" not in type(node).DESCRIPTOR.fields_by_name:
        node = node.parent
    return node.parse_location_range


# --------------------------------------------------------------------------------------- scripts with errors

_ROUGH = re.compile(
    rb"""
    '''(?:[^\\]|\\.)*?''' | \"\"\"(?:[^\\]|\\.)*?\"\"\" | '(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*" | `[^`]*`
    | --[^\n]* | \#[^\n]* | /\*.*?\*/ | ;
    """,
    re.DOTALL | re.VERBOSE,
)
_BLOCK = re.compile(
    rb"\s*(?:\w+\s*:\s*)?(?:IF|BEGIN|LOOP|WHILE|FOR|REPEAT|CASE|CREATE\b.{0,60}\bPROCEDURE)\b", re.I | re.S
)
_BLANK = re.compile(rb"(?:\s|--[^\n]*(?:\n|$)|\#[^\n]*(?:\n|$)|/\*.*?\*/)*", re.DOTALL)
_MAX_PARTS = 100


def _split_roughly(source: Source, engine: Engine, data: bytes, dialect: str) -> Iterator[Piece]:
    ends = [match.start() for match in _ROUGH.finditer(data) if match.group() == b";"]
    if not ends or data[ends[-1] + 1 :].strip():
        ends.append(len(data))
    begin, at = 0, 0
    while at < len(ends):
        blank = _BLANK.match(data, begin, ends[at])
        start = blank.end() if blank else begin
        if start >= ends[at]:
            begin, at = ends[at] + 1, at + 1
            continue
        taken, pieces = _longest(source, engine, data, start, ends[at:], dialect)
        yield from pieces
        at += taken
        begin = ends[at - 1] + 1


def _longest(
    source: Source, engine: Engine, data: bytes, start: int, ends: list[int], dialect: str
) -> tuple[int, list[Piece]]:
    """Parse up to the first semicolon, or, for a block, to the first one at which it is whole."""
    tries = _MAX_PARTS if _BLOCK.match(data, start) else 1
    problem: CannotResolve | None = None
    for count, end in enumerate(ends[:tries], start=1):
        try:
            return count, list(_parsed(source, engine, data[start:end], start, dialect))
        except ServiceError as err:
            problem = problem or read_error(err, source, start, end - start)
    end = ends[0]
    said, place = (problem.message, problem.span) if problem is not None else ("", None)
    span = source.span_of_bytes(start, end)
    return 1, [Piece(span, start, end, "Broken", problem=said, problem_span=place)]
