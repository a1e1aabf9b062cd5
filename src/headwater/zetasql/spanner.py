"""Spanner's own DDL, spelled as ZetaSQL reads it.

ZetaSQL has the key of a table inside the list of its columns; Spanner has it behind the list, with INTERLEAVE and ROW
DELETION POLICY after it. What says nothing of columns and keys becomes blanks, so every character keeps its place but
those of a key, which moves by one. Statements that concern neither rows nor columns are not read at all.
"""

import re

_FLAGS = re.IGNORECASE | re.DOTALL | re.VERBOSE
_OPAQUE = re.compile(
    r"""'''.*?''' | \"\"\".*?\"\"\" | '(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*" | `[^`]*` | --[^\n]* | \#[^\n]*
      | /\*.*?\*/""",
    _FLAGS,
)
_TABLE = re.compile(r"\s*CREATE\s+TABLE\b[^(]*(\()", _FLAGS)
_ADD = re.compile(r"\s*ALTER\s+TABLE\s+\S+\s+ADD\s+COLUMN\b", _FLAGS)
_KEY = re.compile(r"\s*PRIMARY\s+KEY\s*(\()", _FLAGS)
_IN_LIST = re.compile(
    r"""\b(?: (?:DEFAULT|ON\s+UPDATE|AS\s+IDENTITY|AS(?=\s*\(\s*TOKEN)) \s*(?P<open>\()
            | GENERATED\s+BY\s+DEFAULT(?=\s+AS\s+IDENTITY) | AS\s+IDENTITY | AUTO_INCREMENT | PLACEMENT\s+KEY
            | HIDDEN(?=\s*(?:,|$)) | NOT\s+NULL(?=\s+AS\b) | (?:NOT\s+)?ENFORCED
            | ON\s+DELETE\s+(?:CASCADE|NO\s+ACTION) )
      | ^\s*SYNONYM\s*\([^()]*\)\s*, | ,\s*SYNONYM\s*\([^()]*\) | \(\s*VECTOR_LENGTH\s*=>\s*\d+\s*\) | ,(?=\s*$)""",
    _FLAGS,
)
_WITHOUT_ROWS = re.compile(
    r"""\s*(?: (?P<verb>CREATE|ALTER|DROP)\s+(?:OR\s+REPLACE\s+)?(?:UNIQUE\s+|NULL_FILTERED\s+|SEARCH\s+|VECTOR\s+)*
               (?P<what>INDEX|CHANGE\s+STREAM|ROLE|SEQUENCE|LOCALITY\s+GROUP|PLACEMENT|PROTO\s+BUNDLE|STATISTICS
                 |DATABASE|MODEL)
          | (?P<right>GRANT|REVOKE|ANALYZE)
          | (?P<table>ALTER\s+TABLE)\s+(?:IF\s+EXISTS\s+)?\S+\s+
            (?: (?:ADD|REPLACE|DROP)\s+(?:ROW\s+DELETION\s+POLICY|SYNONYM|CONSTRAINT|CHECK|FOREIGN\s+KEY)
              | SET\s+(?:INTERLEAVE|ON\s+DELETE|OPTIONS) | ALTER\s+COLUMN )
        )\b""",
    _FLAGS,
)


def type_without_rows(text: str) -> str | None:
    """The type of a statement that concerns neither rows nor the columns of a table; None for any other.

    >>> type_without_rows("CREATE CHANGE STREAM s FOR ALL"), type_without_rows("SELECT 1")
    ('CREATE_CHANGE_STREAM', None)
    """
    found = _WITHOUT_ROWS.match(_masked(text))
    if found is None:
        return None
    words = [part for name in ("verb", "what", "right", "table") if (part := found[name])]
    return "_".join(" ".join(words).upper().split())


def respell(text: str) -> str:
    """The script with each CREATE TABLE as ZetaSQL reads it; every statement begins and ends where it did.

    >>> respell("CREATE TABLE t (a INT64 DEFAULT (1),) PRIMARY KEY (a), INTERLEAVE IN PARENT p;")
    'CREATE TABLE t (a INT64              ,PRIMARY KEY(a))                        ;'
    """
    masked, start, parts = _masked(text), 0, []
    for end in (*(match.start() for match in re.finditer(";", masked)), len(text)):
        parts.append(_statement(text[start:end], masked[start:end]) + text[end : end + 1])
        start = end + 1
    return "".join(parts)


def _statement(text: str, masked: str) -> str:
    if _ADD.match(masked):
        return _columns(text, masked)
    opened = _TABLE.match(masked)
    closed = _closing(masked, opened.start(1)) if opened is not None else None
    return text if opened is None or closed is None else _table(text, masked, opened.start(1), closed)


def _columns(text: str, masked: str) -> str:
    """Definitions of columns without what says neither their types nor what they are made of."""
    for match in _IN_LIST.finditer(masked):
        last = _closing(masked, match.start("open")) if match["open"] else match.end() - 1
        end = match.end() if last is None else last + 1
        text = text[: match.start()] + _blanks(text[match.start() : end]) + text[end:]
    for own, other in (("FLOAT32", "FLOAT64"), ("TOKENLIST", "STRING   ")):
        text = re.sub(rf"\b{own}\b", other, text, flags=_FLAGS)
    return text


def _table(text: str, masked: str, opened: int, closed: int) -> str:
    columns = _columns(text[opened + 1 : closed], masked[opened + 1 : closed])
    key = _KEY.match(masked, closed + 1)
    last = _closing(masked, key.start(1)) if key is not None else None
    if key is None or last is None:
        return text[: opened + 1] + columns + ")" + _blanks(text[closed + 1 :])
    listed = re.sub(
        r"\b(?:ASC|DESC)\b|,(?=\s*$)", lambda word: " " * len(word[0]), text[key.start(1) + 1 : last], flags=_FLAGS
    )
    written = f",PRIMARY KEY({listed}))"
    room = last + 1 - closed
    if len(written) > room:  # no blank to spare: `)PRIMARY KEY(a)`
        return text
    before = _blanks(text[closed : closed + room - len(written)])
    return text[: opened + 1] + columns + before + written + _blanks(text[last + 1 :])


def _masked(text: str) -> str:
    """The text with comments as blanks and quoted texts as one word, each as long as it was."""
    return _OPAQUE.sub(lambda found: (" " if found[0][0] in "-#/" else "x") * len(found[0]), text)


def _closing(masked: str, opened: int) -> int | None:
    """The bracket that closes another; None if there is none."""
    depth = 0
    for bracket in re.finditer(r"[()]", masked[opened:]):
        depth += 1 if bracket[0] == "(" else -1
        if not depth:
            return opened + bracket.start()
    return None


def _blanks(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
