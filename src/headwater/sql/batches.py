"""T-SQL, where no semicolon need stand between statements: the words that begin one are told by the grammar.
Most of them are reserved, so outside brackets and CASE they begin a statement unless the statement before can hold
them: SELECT follows INSERT, UNION or the named queries of WITH; SET follows UPDATE; UPDATE follows THEN."""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from sqlglot import TokenType

from headwater.sql.branches import Path, new_branch, next_arm
from headwater.sql.split import Piece
from headwater.text import Source

_OPENS = frozenset({TokenType.L_PAREN, TokenType.CASE})
_CLOSES = frozenset({TokenType.R_PAREN, TokenType.END})
_NAMES = frozenset({TokenType.IDENTIFIER, TokenType.STRING, TokenType.NATIONAL_STRING})
_ALWAYS = frozenset(
    {
        *("TRUNCATE", "DECLARE", "PRINT", "WHILE", "ELSE", "END", "GOTO", "WAITFOR", "RAISERROR", "OPEN"),
        *("CLOSE", "DEALLOCATE", "BREAK", "CONTINUE", "COMMIT", "ROLLBACK", "SAVE", "USE", "BACKUP", "RESTORE"),
        *("DBCC", "KILL", "CHECKPOINT", "RECONFIGURE", "REVERT", "BULK", "REVOKE", "DENY", "BEGIN", "RETURN"),
    }
)
_VERBS = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"})
_RIGHTS = frozenset({"GRANT", "REVOKE", "DENY"})
_UNFINISHED = frozenset(
    {
        *("THEN", "UNION", "ALL", "EXCEPT", "INTERSECT", "OR", "AND", "AFTER", "OF", ",", "FOR", "NOT", "."),
        *("=", "@", "#", "BULK", "INSTEAD", "+", "-", "*", "<", ">", "BY", "(", "IN", "LIKE", "AT"),
    }
)
_KINDS_OF_OBJECTS = frozenset(
    {
        *("TABLE", "VIEW", "PROCEDURE", "PROC", "FUNCTION", "INDEX", "TRIGGER", "SCHEMA", "COLUMN", "CONSTRAINT"),
        *("DATABASE", "TYPE", "SEQUENCE", "SYNONYM", "USER", "ROLE", "RULE", "STATISTICS", "LOGIN"),
    }
)
_ROUTINES = frozenset({"PROCEDURE", "PROC", "FUNCTION", "TRIGGER"})


def split_batches(pieces: Iterable[Piece], source: Source) -> Iterator[Piece]:
    """The same pieces, those that hold several statements cut apart; what IF and WHILE decide is conditional."""
    blocks: list[Path] = []  # per open BEGIN: the branches that it is the body of
    decided: Path = ()  # the branches that the heads before it begin
    left: Path = ()  # those that ended last, of which ELSE is another arm
    for piece in pieces:
        cuts = [0, *_beginnings(piece.tokens), len(piece.tokens)]
        for start, end in itertools.pairwise(cuts):
            tokens = piece.tokens[start:end]
            if not tokens or (len(tokens) == 2 and tokens[1].token_type is TokenType.COLON):  # a label
                continue
            first = _word(tokens[0])
            if first == "END" and blocks:
                left = blocks.pop() or left
            elif first == "ELSE" and left:
                decided = (*left[:-1], next_arm(left[-1], first))
            path = (*itertools.chain.from_iterable(blocks), *decided)
            cut = piece.cut(tokens, source)
            yield dataclasses.replace(cut, tokens=_with_execute(tokens), conditional=bool(path), branches=path)
            if first == "BEGIN" and (len(tokens) == 1 or _word(tokens[1]) in ("TRY", "CATCH")):
                blocks.append(decided)
                decided = ()
            elif first in ("IF", "WHILE"):
                decided = (*decided, new_branch(first))
            elif first not in ("ELSE", "END"):
                left, decided = decided or left, ()


def _with_execute(tokens: tuple[Any, ...]) -> tuple[Any, ...]:
    """The call of a system procedure that begins a batch, where EXEC may be left out: `sp_rename 'a', 'b'`."""
    first = tokens[0]
    called = first.token_type is TokenType.VAR and first.text.lower().startswith("sp_") and len(tokens) > 1
    if not called or tokens[1].token_type not in (TokenType.STRING, TokenType.NATIONAL_STRING, TokenType.PARAMETER):
        return tokens
    return (type(first)(TokenType.EXECUTE, "EXEC", first.line, first.col, first.start, first.start), *tokens)


class _Statement:
    """The part of a statement that has been read: its first word, those outside brackets, and the last."""

    __slots__ = ("depth", "first", "last", "words")

    def __init__(self) -> None:
        self.first = ""
        self.last = ""
        self.words: set[str] = set()
        self.depth = 0

    def add(self, token: Any) -> None:
        word, kind = _word(token), token.token_type
        if not self.words:
            self.first = word
        if kind in _CLOSES:
            self.depth = max(0, self.depth - 1)
        if self.depth == 0:
            self.words.add(word)
        self.depth += kind in _OPENS
        self.last = word

    @property
    def is_routine(self) -> bool:
        return self.first in ("CREATE", "ALTER") and not _ROUTINES.isdisjoint(self.words)


def _beginnings(tokens: Sequence[Any]) -> Iterator[int]:
    """The positions at which a statement begins, the first excepted."""
    statement = _Statement()
    for at, token in enumerate(tokens):
        if at and statement.depth == 0 and _begins(tokens, at, statement):
            yield at
            statement = _Statement()
        statement.add(token)


def _begins(tokens: Sequence[Any], at: int, before: _Statement) -> bool:
    """Return whether a token begins a statement after what was read of another."""
    word, after = _word(tokens[at]), _word(tokens[at + 1]) if at + 1 < len(tokens) else ""
    if not word or before.last in _UNFINISHED or after in (".", "="):
        return False
    if before.last == ":" or (after == ":" and word.isidentifier()):  # a label
        return True
    if before.first in _RIGHTS and "TO" not in before.words and "FROM" not in before.words:
        return False
    if before.is_routine:
        # its body begins behind AS, or with BEGIN; a function that returns a query is one statement
        if word == "RETURN" and "FUNCTION" in before.words:
            return False
        return (before.last == "AS" or word == "BEGIN") and (word in _ALWAYS or word in _RULES)
    if word in _ALWAYS:
        return True
    rule = _RULES.get(word)
    return rule is not None and rule(before, after, tokens, at)


def _select(before: _Statement, after: str, tokens: Sequence[Any], at: int) -> bool:
    words = before.words
    if "INSERT" in words:
        return bool(words & {"SELECT", "VALUES", "EXEC", "EXECUTE"})
    if before.first == "WITH":
        return bool(words & _VERBS)
    if "VIEW" in words or "CURSOR" in words or before.last == "AS":
        return "SELECT" in words
    return True


def _write(before: _Statement, after: str, tokens: Sequence[Any], at: int) -> bool:
    if after in ("(", "JOIN") or before.last == "ON":  # IF UPDATE(column), INNER MERGE JOIN, ON DELETE CASCADE
        return False
    return not (before.first == "WITH" and not before.words & _VERBS)


def _set(before: _Statement, after: str, tokens: Sequence[Any], at: int) -> bool:
    if before.last in ("UPDATE", "DELETE") or (
        before.first == "ALTER" and (after == "(" or "DATABASE" in before.words)
    ):
        return False
    return "UPDATE" not in before.words or "SET" in before.words or "STATISTICS" in before.words


def _change(before: _Statement, after: str, tokens: Sequence[Any], at: int) -> bool:
    """CREATE, ALTER, DROP: some are parts of ALTER."""
    return not (before.first == "ALTER" and after in ("COLUMN", "CONSTRAINT", "MEMBER", "PERIOD"))


def _execute(before: _Statement, after: str, tokens: Sequence[Any], at: int) -> bool:
    if after == "AS" and before.last in ("WITH", ","):  # WITH EXECUTE AS OWNER
        return False
    return not (before.first == "INSERT" and not before.words & {"SELECT", "VALUES", "EXEC", "EXECUTE"})


def _with(before: _Statement, after: str, tokens: Sequence[Any], at: int) -> bool:
    """A list of named queries: WITH x AS (, WITH x (a, b) AS (, WITH XMLNAMESPACES (; not WITH (NOLOCK)."""
    if before.first in ("CREATE", "ALTER") and (before.last == "AS" or "AS" not in before.words):
        return False
    second = _word(tokens[at + 2]) if at + 2 < len(tokens) else ""
    third = _word(tokens[at + 3]) if at + 3 < len(tokens) else ""
    return after != "(" and (second == "(" or (second == "AS" and third == "("))


def _throw(before: _Statement, after: str, tokens: Sequence[Any], at: int) -> bool:
    """THROW is not reserved: it begins a statement at the end of one, or before the number of an error."""
    if at + 1 == len(tokens) or after in ("END", "@"):
        return before.last != "AS"
    return tokens[at + 1].token_type is TokenType.NUMBER


_RULES: dict[str, Callable[[_Statement, str, Sequence[Any], int], bool]] = {
    "SELECT": _select,
    "INSERT": _write,
    "UPDATE": _write,
    "DELETE": _write,
    "MERGE": _write,
    "SET": _set,
    "CREATE": _change,
    "ALTER": _change,
    "DROP": _change,
    "EXEC": _execute,
    "EXECUTE": _execute,
    "WITH": _with,
    "FETCH": lambda before, after, tokens, at: "OFFSET" not in before.words or before.last not in ("ROW", "ROWS"),
    "THROW": _throw,
    "IF": lambda before, after, tokens, at: after not in ("EXISTS", "NOT") or before.last not in _KINDS_OF_OBJECTS,
    "GRANT": lambda before, after, tokens, at: after != "OPTION",
}


def _word(token: Any) -> str:
    return "" if token.token_type in _NAMES else str(token.text).upper()
