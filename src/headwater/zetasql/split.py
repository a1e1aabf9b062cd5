"""A GoogleSQL script cut into pieces: its statements, also those inside IF, LOOP, FOR, BEGIN … EXCEPTION.
ZetaSQL's parser gives the tree of a whole script. When the script does not parse, it is cut at its semicolons and the
parts are parsed one by one, so that one bad statement does not take the others with it."""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from headwater.errors import EngineCrashError, TimeLimitError
from headwater.text import Source, Span
from headwater.zetasql.engine import ZetaSqlEngine
from headwater.zetasql.failures import CannotResolve, Reason, read_error
from headwater.zetasql.instance import ServiceError
from headwater.zetasql.options import language_bytes

Branch: TypeAlias = tuple[int, int, bool, bool]
"""An arm of a control statement: the number of the statement and of the arm, whether it loops, whether it is ELSE."""

_NUMBERS = itertools.count()


@dataclass(frozen=True, slots=True)
class ScriptPiece:
    """One statement of a script, or a control statement's own part of it (an IF's condition, a FOR's query).
    `start` and `end` are byte offsets; `kind` is the name of the syntax node; `conditional` says that it may not run,
    or run more than once. A piece that could not be parsed has no node but a `problem`."""

    span: Span
    start: int
    end: int
    kind: str
    node: Any = None
    conditional: bool = False
    branches: tuple[Branch, ...] = ()
    problem: str | None = None
    problem_span: Span | None = None


def split_script(source: Source, engine: ZetaSqlEngine, dialect: str = "bigquery") -> list[ScriptPiece]:
    """The pieces of a script, in order."""
    data = source.text.encode()
    plain = _split_plain(source, data)
    if plain is not None:
        return plain

    def parse(part: bytes, start: int) -> list[ScriptPiece]:
        script = engine.parse(part.decode(), language_bytes(dialect))
        return list(pieces_of(source, script.statement_list_node.statement_list, start))

    try:
        return parse(data, 0)
    except (ServiceError, EngineCrashError, TimeLimitError):
        return list(_split_roughly(source, data, parse))


def _split_plain(source: Source, data: bytes) -> list[ScriptPiece] | None:
    """The statements of a script without blocks, variables or routines: no parse is needed to cut it at semicolons.
    None when there is anything that does not begin as a plain statement does."""
    pieces = []
    for start, end in _rough_ranges(data):
        if not _PLAIN.match(data, start, end):
            return None
        end = start + len(data[start:end].rstrip())
        pieces.append(ScriptPiece(source.span_of_bytes(start, end), start, end, "Statement"))
    return pieces


def parse_piece(source: Source, piece: ScriptPiece, engine: ZetaSqlEngine, dialect: str) -> ScriptPiece:
    """A plain piece with its syntax node; as it is when it cannot be parsed."""
    if piece.node is not None or piece.kind == "Broken":
        return piece
    data = source.text[source.character_at(piece.start) : source.character_at(piece.end)].encode()
    try:
        script = engine.parse(data.decode(), language_bytes(dialect))
    except (ServiceError, EngineCrashError, TimeLimitError):
        return piece
    return next(pieces_of(source, script.statement_list_node.statement_list, piece.start), piece)


def pieces_of(
    source: Source, statements: Iterable[Any], offset: int, *, branches: tuple[Branch, ...] = ()
) -> Iterator[ScriptPiece]:
    """The pieces of a list of statements whose text begins at byte `offset` of the source."""
    for wrapped in statements:
        node = unwrap(wrapped)
        kind = kind_of(node)
        if kind == "HintedStatement":
            node = unwrap(node.statement)
            kind = kind_of(node)
        bodies = _bodies(node, kind)
        if bodies is None:
            yield _piece(source, node, kind=kind, offset=offset, branches=branches)
            continue
        head, lists = bodies
        if head is not None:
            yield _piece(source, head, kind=kind, offset=offset, branches=branches)
        number, decides = next(_NUMBERS), kind in ("IfStatement", "CaseStatement")
        for arm, (body, may_skip) in enumerate(lists):
            own = (number, arm, not decides, decides and arm == len(lists) - 1)
            inner = (*branches, own) if may_skip else branches
            yield from pieces_of(source, body.statement_list, offset, branches=inner)


def _bodies(node: Any, kind: str) -> tuple[Any, list[tuple[Any, bool]]] | None:
    """The statement lists inside a control statement, each with whether it may be skipped; None for a plain one.
    The first value is the part of the control statement that reads data itself."""
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


def _piece(source: Source, node: Any, *, kind: str, offset: int, branches: tuple[Branch, ...]) -> ScriptPiece:
    place = location(node)
    start, end = offset + place.start, offset + place.end
    return ScriptPiece(source.span_of_bytes(start, end), start, end, kind, unwrap(node), bool(branches), branches)


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
_PLAIN = re.compile(
    rb"""
    \( | (?:SELECT|WITH|FROM|INSERT|UPDATE|DELETE|MERGE|TRUNCATE|EXPORT\s+DATA|ALTER\s+TABLE|DROP\s+(?:TABLE|VIEW))\b
    | CREATE\s+(?:OR\s+REPLACE\s+)?(?:TEMP(?:ORARY)?\s+)?
      (?:TABLE(?!\s+FUNCTION)|VIEW|MATERIALIZED\s+VIEW|SNAPSHOT\s+TABLE)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BLANK = re.compile(rb"(?:\s|--[^\n]*(?:\n|$)|\#[^\n]*(?:\n|$)|/\*.*?\*/)*", re.DOTALL)
_MAX_PARTS = 100


_Parse: TypeAlias = Callable[[bytes, int], list[ScriptPiece]]  # bytes that begin at an offset → pieces


def _split_roughly(source: Source, data: bytes, parse: _Parse) -> Iterator[ScriptPiece]:
    ranges = list(_rough_ranges(data))
    at = 0
    while at < len(ranges):
        ends = [end for _, end in ranges[at:]]
        taken, pieces = _longest(source, data, start=ranges[at][0], ends=ends, parse=parse)
        yield from pieces
        at += taken


def _rough_ranges(data: bytes) -> Iterator[tuple[int, int]]:
    """The byte ranges between semicolons that hold more than blanks and comments."""
    ends = [match.start() for match in _ROUGH.finditer(data) if match.group() == b";"]
    begin = 0
    for end in (*ends, len(data)):
        blank = _BLANK.match(data, begin, end)
        start = blank.end() if blank else begin
        if start < end:
            yield start, end
        begin = end + 1


def _longest(
    source: Source, data: bytes, *, start: int, ends: list[int], parse: _Parse
) -> tuple[int, list[ScriptPiece]]:
    """Parse up to the first semicolon, or, for a block, to the first one at which it is whole."""
    tries = _MAX_PARTS if _BLOCK.match(data, start) else 1
    problem: CannotResolve | None = None
    for count, end in enumerate(ends[:tries], start=1):
        try:
            return count, parse(data[start:end], start)
        except ServiceError as err:
            problem = problem or read_error(err, source, start, end - start)
        except (EngineCrashError, TimeLimitError) as err:  # of more text, it would be the same
            problem = CannotResolve(Reason.CRASH, err.message)
            break
    end = ends[0]
    said, place = (problem.message, problem.span) if problem is not None else ("", None)
    span = source.span_of_bytes(start, end)
    return 1, [ScriptPiece(span, start, end, "Broken", problem=said, problem_span=place)]
