"""Reading the words of a statement that the parser leaves as text."""

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from headwater.sql.dialects import tokenize_commands
from headwater.sql.lowering import Lowering, Node
from headwater.sql.split import Piece
from headwater.sql.tokens import read_name
from headwater.text import Span


def words_of(lowering: Lowering, piece: Piece) -> "Words | None":
    """The words of a statement; None when it cannot be cut into tokens."""
    start = piece.span.start
    try:
        tokens = tokenize_commands(lowering.source.text[start : piece.span.end], lowering.dialect)
    except Exception:  # the tokenizer fails in several ways on what is not SQL
        return None
    return Words(lowering, tokens, start)


class Words:
    """The tokens of a statement, read from left to right."""

    def __init__(self, lowering: Lowering, tokens: Sequence[Any], start: int) -> None:
        self._source = lowering.source
        self._tokens = tokens
        self._start = start
        self._google = lowering.dialect == "bigquery"
        self._at = 0

    def take(self, *words: str) -> bool:
        """Pass these words if they come next."""
        here = [token.text.upper() for token in self._tokens[self._at : self._at + len(words)]]
        if here != list(words):
            return False
        self._at += len(words)
        return True

    def take_any(self, words: frozenset[str]) -> str | None:
        """Pass the next word if it is one of these, and say which."""
        if self._at < len(self._tokens) and self._tokens[self._at].text.upper() in words:
            self._at += 1
            return str(self._tokens[self._at - 1].text.upper())
        return None

    def skip_to(self, *words: str) -> bool:
        """Pass all up to and with these words, if they come at all."""
        before = self._at
        while self._at < len(self._tokens):
            if self.take(*words):
                return True
            self._at += 1
        self._at = before
        return False

    def name(self) -> tuple[Node, Span] | None:
        """The name of a table that comes next, and its place."""
        if self.take("IDENTIFIER", "("):
            # the rest of IDENTIFIER('s.t'); None when the name is no constant
            token = self._tokens[self._at] if self._at < len(self._tokens) else None
            if token is None or token.token_type.name != "STRING":
                return None
            self._at += 2
            place = self._source.span(self._start + token.start, self._start + token.end + 1)
            return exp.Table(this=exp.DynamicIdentifier(this=exp.Literal.string(token.text))), place
        parts, end = read_name(self._tokens, self._at)
        if not parts:
            return None
        first, last = self._tokens[self._at], self._tokens[end - 1]
        kinds = self._tokens[self._at : end : 2]
        if self._google:
            parts = [each for part in parts for each in part.split(".")]
        self._at = end
        quoted = [token.token_type.name == "IDENTIFIER" for token in kinds] + [True] * len(parts)
        named = [exp.to_identifier(part, quoted=is_quoted) for part, is_quoted in zip(parts, quoted)]
        fields = dict(zip(("this", "db", "catalog"), reversed(named)))
        return exp.Table(**fields), self._source.span(self._start + first.start, self._start + last.end + 1)
