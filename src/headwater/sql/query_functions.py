"""Functions of a script that give rows, or one value by a query: what their text says of them.

    CREATE FUNCTION f(x INT) RETURNS TABLE (a INT) AS $$ SELECT … $$      PostgreSQL, Snowflake
    CREATE FUNCTION f(x INT) RETURNS SETOF t LANGUAGE plpgsql AS $$ … RETURN QUERY SELECT … $$
    CREATE FUNCTION f(x INT) RETURNS TABLE (a INT) RETURN SELECT …        Databricks, Spark
    CREATE FUNCTION f(@x INT) RETURNS TABLE AS RETURN (SELECT …)          T-SQL
    CREATE FUNCTION f(@x INT) RETURNS @r TABLE (a INT) AS BEGIN INSERT INTO @r SELECT … RETURN END
    CREATE FUNCTION f(@x INT) RETURNS INT AS BEGIN SELECT @v = … RETURN @v END
    CREATE TABLE FUNCTION f(x INT64) AS SELECT …                          BigQuery
    CREATE MACRO f(x) AS TABLE SELECT …                                   DuckDB

A function is known by the last part of its name and the number of its parameters. Its queries stay pieces of the
text; a call lowers them with its arguments in the place of the parameters (`calls`).
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import TokenType

from headwater.sql.dialects import MICROSOFT, MYSQL
from headwater.sql.split import Piece, split_inner
from headwater.sql.steps import queries_of_value
from headwater.sql.tokens import as_query, group_end, read_name, word_at
from headwater.text import Source

_MODES = frozenset({"IN", "OUT", "INOUT", "VARIADIC"})
_LANGUAGES = frozenset({"sql", "plpgsql"})
_QUERY = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "FROM", "("})
_QUOTED = frozenset({TokenType.HEREDOC_STRING, TokenType.RAW_STRING, TokenType.STRING})
_STATEMENTS = frozenset(
    {
        *_QUERY,
        *("INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "DROP", "ALTER", "TRUNCATE", "COPY", "CALL", "EXECUTE"),
        *("BEGIN", "DECLARE", "SET", "LET", "RETURN", "SHOW", "USE", "GRANT", "REVOKE", "NOTIFY", "PERFORM", "<<"),
        *("#", "EXPLAIN", "ANALYZE", "LOCK", "REFRESH", "VACUUM", "COMMENT", "IF", "FOR", "WHILE", "LOOP", "RAISE"),
    }
)
_CONSTRAINTS = frozenset({"PRIMARY", "UNIQUE", "CONSTRAINT", "CHECK", "INDEX", "FOREIGN"})


@dataclass(slots=True)
class QueryFunction:
    """A function that gives rows or a value by queries.
    `columns` are those it declares; `like` is the table whose columns it has (SETOF t). `variable` is the table
    variable that its body fills. `doubt` says why its rows may be others than those of its queries."""

    name: str
    parameters: tuple[str, ...]  # "" for one without a name
    columns: tuple[str, ...] = ()
    like: tuple[str, ...] = ()
    variable: str | None = None
    queries: list[Piece] = field(default_factory=list)
    trees: dict[int, Any] = field(
        default_factory=dict
    )  # by the ids of queries that were parsed: thousands of rows call it
    doubt: str | None = None
    is_foreign: bool = False  # not in SQL
    is_given: bool = False  # by another text, in which its queries have their places
    variables: tuple[str, ...] = ()  # of its own, that its queries name
    owner: str = ""  # its schema, in lower case


QueryFunctions = dict[str, list[QueryFunction]]


def note_functions(pieces: Iterable[Piece], source: Source, dialect: str, known: QueryFunctions) -> Iterator[Piece]:
    """The same pieces; the functions that they define are put into `known` as they pass."""
    filled: QueryFunction | None = None  # whose body goes on in the pieces that follow
    steps: tuple[QueryFunction, list[Piece]] | None = None  # the same for one that computes a value
    for piece in pieces:
        first = word_at(piece.tokens, 0)
        if first in ("CREATE", "ALTER"):
            filled = steps = None
            for routine in _read(piece, source, dialect):
                own = (routine.owner, len(routine.parameters))
                others = [each for each in known.get(routine.name, ()) if (each.owner, len(each.parameters)) != own]
                known[routine.name] = [routine, *others]
                atomic = any(word_at(piece.tokens, at) == "ATOMIC" for at in range(len(piece.tokens)))
                filled = routine if routine.variable is not None or atomic else None
                if dialect in MICROSOFT | MYSQL and filled is None and not routine.queries and not routine.is_foreign:
                    steps = routine, []
        elif filled is not None:
            if filled.variable is None and first in _QUERY:  # the last query of BEGIN ATOMIC
                filled.queries = [piece]
            elif filled.variable is None:
                filled = None
        if filled is not None and filled.variable is not None:
            _read_inserts(piece, filled, source)
        if steps is not None and _is_whole(steps[1], piece):
            _read_steps(steps[1], steps[0], signed=dialect in MICROSOFT)
            steps = None
        yield piece


def _is_whole(body: list[Piece], piece: Piece) -> bool:
    """Add a piece to the body of a function; return whether its last END was in it."""
    body.append(piece)
    words = (
        [word_at(each.tokens, at) for each in body for at in range(len(each.tokens))]
        if word_at(piece.tokens, len(piece.tokens) - 1) == "END"
        else []
    )
    return 0 < words.count("BEGIN") <= words.count("END") - words.count("CASE")


def _read_steps(body: Sequence[Piece], routine: QueryFunction, *, signed: bool = False) -> None:
    routine.queries, routine.variables, sure = queries_of_value(body, signed=signed)
    routine.doubt = None if sure else f"{routine.name} computes its result by steps"


def choose(known: QueryFunctions, owner: str, name: str, count: int) -> QueryFunction | None:
    """The function of a name that takes a number of arguments; parameters may have defaults.
    If a schema is named, a function of another one does not count. Else the last of several is meant."""
    fitting = [each for each in known.get(name, ()) if len(each.parameters) >= count]
    if owner:
        fitting = [each for each in fitting if each.owner in (owner, "")]
    return min(fitting, key=lambda each: (each.owner != owner, len(each.parameters)), default=None)


def _read(piece: Piece, source: Source, dialect: str) -> Iterator[QueryFunction]:
    """The functions that a piece defines: one, or several of one name (DuckDB)."""
    tokens = piece.tokens
    at = next((at for at in range(1, min(8, len(tokens))) if word_at(tokens, at) in ("FUNCTION", "MACRO")), None)
    if at is None or not {word_at(tokens, before) for before in range(1, at)} <= _BEFORE:
        return
    at += 1
    while word_at(tokens, at) in ("IF", "NOT", "EXISTS"):
        at += 1
    parts, end = read_name(tokens, at)
    if not parts or word_at(tokens, end) != "(":
        return
    *owners, name = ".".join(parts).lower().split(".")  # GoogleSQL has `p.d.f` in one pair of quotes
    owner = owners[-1] if owners else ""
    if dialect == "duckdb":
        for macro in _macros(piece, name, end, source):
            macro.owner = owner
            yield macro
        return
    close = group_end(tokens, end)
    if close is None:
        return
    parameters, returned = _parameters(tokens[end + 1 : close - 1])
    routine = QueryFunction(name, parameters, returned, owner=owner)
    _read_returns(tokens, close, routine)
    _read_body(piece, close, routine, source, dialect)
    yield routine


_BEFORE = frozenset({"OR", "REPLACE", "ALTER", "TEMP", "TEMPORARY", "TABLE", "SECURE", "PUBLIC", "AGGREGATE", ""})


def _macros(piece: Piece, name: str, at: int, source: Source) -> Iterator[QueryFunction]:
    """`(x) AS TABLE query, (x, y) AS TABLE query`: a macro of the same name for each number of parameters."""
    tokens = piece.tokens
    while word_at(tokens, at) == "(":
        close = group_end(tokens, at)
        if close is None or word_at(tokens, close) != "AS" or word_at(tokens, close + 1) != "TABLE":
            return
        end = _list_end(tokens, close + 2)
        parameters, _ = _parameters(tokens[at + 1 : close - 1])
        query = piece.cut(tokens[close + 2 : end], source)
        yield QueryFunction(name, parameters, queries=[query])
        at = end + 1


def _list_end(tokens: Sequence[Any], at: int) -> int:
    """The comma before the brackets of the next macro, or the end."""
    depth = 0
    for here in range(at, len(tokens)):
        kind = tokens[here].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        close = group_end(tokens, here + 1) if depth == 0 and word_at(tokens, here + 1) == "(" else None
        if kind is TokenType.COMMA and close is not None and word_at(tokens, close) == "AS":
            return here
    return len(tokens)


def _parameters(tokens: Sequence[Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the parameters that take arguments, and of those that are columns of the result."""
    taken: list[str] = []
    given: list[str] = []
    for item in _items(tokens):
        mode = ""
        while word_at(item, 0) in _MODES and len(item) > 1:
            mode, item = word_at(item, 0), item[1:]
        named = len(item) > 1 and item[1].token_type is not TokenType.L_PAREN
        if item[0].text == "@" and len(item) > 1:
            item = item[1:]
        name = item[0].text if named or len(item) == 1 else ""
        if mode in ("OUT", "INOUT"):
            given.append(name)
        if mode != "OUT":
            taken.append(name)
    return tuple(taken), tuple(given)


def _items(tokens: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """The parts of a list of declarations, where `<` is a bracket of types, too; `cut_list` cuts expressions."""
    depth, begin = 0, 0
    for at, token in enumerate(tokens):
        depth += (token.text in ("(", "<")) - (token.text in (")", ">"))
        if token.token_type is TokenType.COMMA and depth == 0:
            yield tokens[begin:at]
            begin = at + 1
    if begin < len(tokens):
        yield tokens[begin:]


def _read_returns(tokens: Sequence[Any], at: int, routine: QueryFunction) -> None:
    """RETURNS TABLE (…), RETURNS TABLE<…>, RETURNS @r TABLE (…), RETURNS SETOF t."""
    at = next((here for here in range(at, len(tokens)) if word_at(tokens, here) == "RETURNS"), len(tokens)) + 1
    if word_at(tokens, at) == "@":
        routine.variable = "@" + tokens[at + 1].text.lower()
        at += 2
    if word_at(tokens, at) == "SETOF":
        parts, _ = read_name(tokens, at + 1)
        routine.like = () if [part.lower() for part in parts] == ["record"] else tuple(parts)
    if word_at(tokens, at) != "TABLE":
        return
    inside: Sequence[Any] = ()
    if word_at(tokens, at + 1) == "(":
        inside = tokens[at + 2 : (group_end(tokens, at + 1) or at + 3) - 1]
    elif word_at(tokens, at + 1) == "<":
        inside = tokens[at + 2 : _angle_end(tokens, at + 1)]
    listed = [item[0].text for item in _items(inside) if item and word_at(item, 0) not in _CONSTRAINTS]
    routine.columns = tuple(listed) or routine.columns


def _angle_end(tokens: Sequence[Any], at: int) -> int:
    depth = 0
    for here in range(at, len(tokens)):
        depth += tokens[here].text.count("<") - tokens[here].text.count(">")
        if depth <= 0:
            return here
    return len(tokens)


# ------------------------------------------------------------------------------------------------------- bodies


def is_foreign(tokens: Sequence[Any]) -> bool:
    """Return whether the body of a routine is in another language than SQL."""
    words = [word_at(tokens, at) for at in range(len(tokens))]
    return any(
        word == "LANGUAGE" and at + 1 < len(words) and tokens[at + 1].text.lower() not in _LANGUAGES
        for at, word in enumerate(words)
    )


def _read_body(piece: Piece, at: int, routine: QueryFunction, source: Source, dialect: str) -> None:
    tokens = piece.tokens
    if is_foreign(tokens):
        routine.doubt, routine.is_foreign = f"the body of {routine.name} is not SQL", True
        return
    depth = 0
    for here in range(at, len(tokens)):
        kind, word = tokens[here].token_type, word_at(tokens, here)
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth:
            continue
        after = here + 1
        if word == "AS" and after < len(tokens) and tokens[after].token_type in _QUOTED:
            # the statements in `$$ … $$`, `$tag$ … $tag$` or quotes
            token = tokens[after]
            text = piece.text[token.start : token.end + 1]
            width = text.find("$", 1) + 1 if text.startswith("$") else 1
            start, end = piece.offset + token.start + width, piece.offset + token.end + 1 - width
            inner = list(split_inner(source, dialect, start=start, end=end, quoted=not text.startswith("$")))
            if inner and word_at(inner[0].tokens, 0) in ("BEGIN", "DECLARE", "<<", "#"):
                _read_procedural(inner, routine, source)
            else:
                # the last statement of a body in SQL gives the rows
                if is_expression(inner):
                    routine.queries = [dataclasses.replace(inner[0], tokens=as_query(inner[0].tokens))]
                elif inner and word_at(inner[-1].tokens, 0) in _QUERY:
                    routine.queries = [inner[-1]]
                else:
                    routine.doubt = f"the body of {routine.name} ends with no query"
            return
        if word in ("AS", "RETURN", "ATOMIC") and word_at(tokens, after) in _QUERY:
            routine.queries = [piece.cut(tokens[after:], source)]
            return


def is_expression(pieces: Sequence[Piece]) -> bool:
    """Return whether the body of a function is an expression rather than statements (Snowflake)."""
    return len(pieces) == 1 and word_at(pieces[0].tokens, 0) not in _STATEMENTS


def _read_procedural(pieces: Sequence[Piece], routine: QueryFunction, source: Source) -> None:
    """RETURN QUERY gives the rows of its query, RETURN NEXT r those of the loop whose record r is."""
    loops: dict[str, Piece] = {}
    for piece in pieces:
        tokens = piece.tokens
        for at in range(len(tokens)):
            word, after = word_at(tokens, at), word_at(tokens, at + 1)
            if word == "FOR" and word_at(tokens, at + 2) == "IN" and word_at(tokens, at + 3) in _QUERY:
                end = next((here for here in range(at, len(tokens)) if word_at(tokens, here) == "LOOP"), len(tokens))
                loops[tokens[at + 1].text.lower()] = piece.cut(tokens[at + 3 : end], source)
            elif word == "RETURN" and after == "QUERY" and word_at(tokens, at + 2) in _QUERY:
                routine.queries.append(piece.cut(tokens[at + 2 :], source))
            elif word == "RETURN" and after == "QUERY":
                routine.doubt = f"{routine.name} returns the rows of a text that it executes"
            elif word == "RETURN" and after == "NEXT":
                record = tokens[at + 2].text.lower() if at + 2 < len(tokens) else ""
                if record in loops:
                    routine.queries.append(loops[record])
                else:
                    routine.doubt = f"{routine.name} makes its rows one by one"
    if not routine.queries and routine.doubt is None:
        _read_steps(pieces, routine)


def _read_inserts(piece: Piece, routine: QueryFunction, source: Source) -> None:
    """INSERT INTO @r … of a function that returns @r; whatever else changes @r puts its rows in doubt."""
    tokens = piece.tokens
    for at in range(len(tokens)):
        word = word_at(tokens, at)
        if word not in ("INSERT", "UPDATE", "DELETE", "MERGE"):
            continue
        name = at + 2 if word_at(tokens, at + 1) in ("INTO", "FROM") else at + 1
        if [part.lower() for part in read_name(tokens, name)[0]] != [routine.variable]:
            continue
        if word == "INSERT":
            end = next((here for here in range(name, len(tokens)) if word_at(tokens, here) == "RETURN"), len(tokens))
            routine.queries.append(piece.cut(tokens[at:end], source))
        else:
            routine.doubt = f"{routine.name} changes the rows that it has put into {routine.variable}"
