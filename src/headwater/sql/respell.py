"""Clauses that sqlglot's parsers do not know, left out or written in another way.

The parsers are compiled and cannot be extended, so their input is. Only a statement that does not parse is changed:
each rule is a pattern over tokens and what stands in its place. In both, a word is itself, `?` one token, `()` a pair
of brackets with all inside, `{}` one of braces, `...` anything up to the next element, outside brackets. In the
replacement, `?`, `()`, `{}` and `...` are what they matched, in their order; what is not repeated there is dropped.
`$2` is the second of them, for another order, and `$-2` the second without its brackets.
`~` before a replacement says that columns may be lost by it, so that the statement's lineage is approximate.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from sqlglot import TokenType

from headwater.sql.dialects import sqlglot_dialect
from headwater.sql.respell_rules import COMPOUND, OPERATORS, RULES
from headwater.sql.tokens import CLOSED_BY, group_end, read_name, token_like

_NAMES = frozenset({TokenType.IDENTIFIER, TokenType.STRING, TokenType.NATIONAL_STRING, TokenType.RAW_STRING})
_VALUE_ENDS = frozenset(
    {
        *(TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.IDENTIFIER, TokenType.VAR, TokenType.STRING),
        *(TokenType.NUMBER, TokenType.NULL, TokenType.TRUE, TokenType.FALSE, TokenType.PLACEHOLDER, TokenType.END),
        *(TokenType.NATIONAL_STRING, TokenType.BIT_STRING, TokenType.HEX_STRING),
    }
)


def respelled(tokens: Sequence[Any], dialect: str) -> tuple[tuple[Any, ...], bool] | None:
    """The tokens as the parser knows them, and whether columns may be lost; None when no rule applies."""
    lossy = False
    result = list(_joined_names(tokens))
    changed = len(result) != len(tokens)
    for _ in range(_PASSES):
        rules = _rules_of(dialect)
        found = _rewritten(result, rules, dialect)
        if found is None:
            break
        result, changed, lossy = found[0], True, lossy or found[1]
    if dialect == "oracle":
        result = list(_without_alias(result))
        changed = changed or len(result) != len(tokens)
    if dialect in COMPOUND:
        result = list(_written_out(result))
        changed = changed or len(result) != len(tokens)
    if dialect in OPERATORS:
        joined = list(_joined_operators(result))
        changed, result = changed or len(joined) != len(result), joined
    return (tuple(result), lossy) if changed else None


_PASSES = 8
_Rule = tuple[tuple[str, ...], tuple[str, ...], bool]


@cache
def _rules_of(dialect: str) -> dict[str, list[_Rule]]:
    """The rules of a dialect by the first word of their pattern."""
    rules: dict[str, list[_Rule]] = {}
    for dialects, pattern, replacement in RULES:
        if dialects is None or dialect in dialects:
            words = tuple(pattern.split())
            lossy = replacement.startswith("~")
            rules.setdefault(words[0], []).append((words, tuple(replacement.lstrip("~").split()), lossy))
    return rules


def _rewritten(tokens: list[Any], rules: dict[str, list[_Rule]], dialect: str) -> tuple[list[Any], bool] | None:
    """The tokens with every rule applied where it matches, once; None when none does."""
    result: list[Any] = []
    changed, lossy, at = False, False, 0
    while at < len(tokens):
        for pattern, replacement, loses in rules.get(_word(tokens[at]), ()):
            found = _match(pattern, tokens, at)
            if found is not None and found[0] > at:
                end, parts = found
                made = _replaced(replacement, parts, tokens[at], dialect)
                if [id(each) for each in made] != [id(each) for each in tokens[at:end]]:
                    result += made
                    changed, lossy, at = True, lossy or loses, end
                    break
        else:
            result.append(tokens[at])
            at += 1
    return (result, lossy) if changed else None


def _match(pattern: Sequence[str], tokens: Sequence[Any], at: int) -> tuple[int, list[Sequence[Any]]] | None:
    """Return the end of a match that begins at a token, and its wild elements."""
    parts: list[Sequence[Any]] = []
    for index, element in enumerate(pattern):
        if element == "...":
            rest = pattern[index + 1 :]
            for end in _ends(tokens, at, last=not rest):
                found = _match(rest, tokens, end)
                if found is not None:
                    return found[0], [*parts, tokens[at:end], *found[1]]
            return None
        if at >= len(tokens):
            return None
        if element == "?":
            parts.append(tokens[at : at + 1])
            at += 1
        elif element in ("()", "{}"):
            closed = group_end(tokens, at) if tokens[at].text == element[0] else None
            if closed is None:
                return None
            parts.append(tokens[at:closed])
            at = closed
        elif _word(tokens[at]) == element:
            at += 1
        else:
            return None
    return at, parts


def _ends(tokens: Sequence[Any], at: int, *, last: bool) -> Iterator[int]:
    """Yield the places where a match may end, outside brackets: anywhere or, if it is the `last`, at the end."""
    while at < len(tokens) and tokens[at].token_type not in CLOSED_BY.values():
        if not last:
            yield at
        closed = group_end(tokens, at) if tokens[at].token_type in CLOSED_BY else at + 1
        if closed is None:
            return
        at = closed
    yield at


def _replaced(replacement: Sequence[str], parts: list[Sequence[Any]], head: Any, dialect: str) -> list[Any]:
    result: list[Any] = []
    taken = 0
    for element in replacement:
        if element in ("?", "()", "{}", "..."):
            result += parts[taken]
            taken += 1
        elif element.startswith("$-"):
            result += parts[int(element[2:]) - 1][1:-1]
        elif element.startswith("$"):
            result += parts[int(element[1:]) - 1]
        else:
            kind = _kinds(element, dialect)
            result.append(token_like(head, kind, element))
    return result


@cache
def _kinds(word: str, dialect: str) -> Any:
    """The kind of token that a word is in a dialect."""
    return sqlglot_dialect(dialect).tokenize(word)[0].token_type


def _word(token: Any) -> str:
    return "" if token.token_type in _NAMES else token.text.upper().replace(" ", "_")


def _joined_names(tokens: Sequence[Any]) -> Iterator[Any]:
    """Names that variables are a part of: `${x}_y` is one word, IDENTIFIER(:x || '.y') is two, with a dot between."""
    at = 0
    while at < len(tokens):
        head, end = tokens[at], _name_end(tokens, at)
        closed = group_end(tokens, at + 1) if _word(head) == "IDENTIFIER" and at + 1 < len(tokens) else None
        if closed is not None and (name := _concatenated(tokens[at + 2 : closed - 1])) is not None:
            for number, part in enumerate(name.split(".")):
                yield from [token_like(head, TokenType.DOT, ".")] if number else ()
                yield token_like(head, TokenType.VAR, part)
            at = closed
            continue
        while end > at and (after := _name_end(tokens, end)) > end and tokens[end - 1].end + 1 == tokens[end].start:
            end = after
        text = "".join(token.text for token in tokens[at:end])
        if "${" in text and end > _name_end(tokens, at):
            yield type(head)(TokenType.VAR, text, head.line, head.col, head.start, tokens[end - 1].end)
        else:
            yield from tokens[at : max(end, at + 1)]
        at = max(end, at + 1)


def _name_end(tokens: Sequence[Any], at: int) -> int:
    """The place behind a word, a number or `${x}`; the same place when none of them is there."""
    if at >= len(tokens) or tokens[at].token_type in _NAMES:
        return at
    if tokens[at].text == "$":
        return at + 4 if [token.text for token in tokens[at + 1 : at + 4 : 2]] == ["{", "}"] else at
    return at + int(tokens[at].text.replace("_", "a").isalnum())


def _concatenated(tokens: Sequence[Any]) -> str | None:
    """A text made of constants and of variables, which stand as `${x}` in it; None for any other expression."""
    text, joins = "", False
    for at, token in enumerate(tokens):
        if token.token_type in (TokenType.DPIPE, TokenType.COLON):
            joins = joins or token.token_type is TokenType.DPIPE
        elif token.token_type is TokenType.STRING:
            text += token.text
        elif at and tokens[at - 1].token_type is TokenType.COLON:
            text += f"${{{token.text}}}"
        else:
            return None
    return text if joins else None


def _without_alias(tokens: Sequence[Any]) -> Iterator[Any]:
    """`INSERT INTO t x (x.a, x.b) …` is `INSERT INTO t (a, b) …`."""
    _, at = read_name(tokens, 2)
    opens = at + 1 if [_word(token) for token in tokens[:2]] == ["INSERT", "INTO"] else len(tokens)
    if opens >= len(tokens) or tokens[opens].text != "(" or tokens[at].token_type is not TokenType.VAR:
        yield from tokens
        return
    yield from tokens[:at]
    closes = group_end(tokens, opens) or len(tokens)
    for here in range(opens, closes):
        if tokens[here].text != "." and (here + 1 == len(tokens) or tokens[here + 1].text != "."):
            yield tokens[here]
    yield from tokens[closes:]


def _written_out(tokens: Sequence[Any]) -> Iterator[Any]:
    """`a.b += c` is `a.b = a.b + c`."""
    name: list[Any] = []
    at = 0
    while at < len(tokens):
        token, after = tokens[at], tokens[at + 1] if at + 1 < len(tokens) else None
        if (
            name
            and after is not None
            and token.text in "+-*/%&^|"
            and after.text == "="
            and token.end + 1 == after.start
        ):
            yield after
            yield from name
            yield token
            name, at = [], at + 2
            continue
        if token.token_type in (TokenType.VAR, TokenType.IDENTIFIER, TokenType.DOT, TokenType.PARAMETER):
            joined = not name or name[-1].token_type in (TokenType.DOT, TokenType.PARAMETER)
            name = [*name, token] if joined or token.token_type is TokenType.DOT else [token]
        else:
            name = []
        yield token
        at += 1


_SIGNS = frozenset("+-*/<>=~!@#%^&|`?:")


def _joined_operators(tokens: Sequence[Any]) -> Iterator[Any]:
    """Signs that stand together are one operator: of two values, or, where no value is before them, of one."""
    at = 0
    before: Any = None
    while at < len(tokens):
        end = at
        while (
            end < len(tokens)
            and tokens[end].token_type not in _NAMES
            and tokens[end].text
            and _SIGNS.issuperset(tokens[end].text)
            and (end == at or tokens[end - 1].end + 1 == tokens[end].start)
        ):
            end += 1
        text = "".join(token.text for token in tokens[at:end])
        if end - at > 1 and text not in ("::", "->>", "#>>"):
            head = tokens[at]
            if before is not None and before.token_type in _VALUE_ENDS:
                yield token_like(head, TokenType.PLUS, "+")
            before, at = head, end
            continue
        before = tokens[at]
        yield before
        at += 1
