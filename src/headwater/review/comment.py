"""A review as a comment of GitHub or GitLab: folded, with a picture, and never longer than they take."""

from collections.abc import Iterator
from html import escape

from headwater.review.changes import Change, ChangeKind, Risk
from headwater.review.picture import picture_of
from headwater.review.review import Review
from headwater.review.told import TITLES, headline, how, place, reach_of, read_word, readers_of, sections, summary
from headwater.text import counted
from headwater.view.sources import to_mermaid

MARKER = "<!-- headwater-pr -->"
"""Begins the comment, so that the next run finds it and writes it anew."""
LIMITS = {"github": 65_000, "gitlab": 900_000}  # characters; GitHub takes 65,536, GitLab 1,000,000
_ROWS = 400  # of each part, to begin with


def to_comment(review: Review, *, limit: int) -> str:
    """The comment. What does not fit is left out, and how much that is, is said."""
    rows = _ROWS
    while True:
        text = "\n".join(_parts(review, rows, with_picture=rows > 1))
        if len(text) <= limit or rows == 0:
            return text if len(text) <= limit else f"{text[: limit - 40]}\n\n… cut at {limit:,} characters"
        rows //= 2


def _parts(review: Review, rows: int, *, with_picture: bool) -> Iterator[str]:
    yield MARKER
    yield f"### Lineage: {summary(review)}"
    yield ""
    yield f"{_code(review.base)} → {_code(review.head)}"
    for risk in Risk:
        of_risk = [each for each in review.changes if each.risk is risk]
        if of_risk:
            table = "\n".join(_table(of_risk, review, rows))
            title = f"{TITLES[risk]} ({len(of_risk):,})"
            yield from _folded(title, table, is_open=risk is Risk.BREAKING)
    if review.changes and review.sides is not None and with_picture:
        yield from _picture(review)
    for title, lines in sections(review):
        shown = [f"- {_words(line)}" for line in lines[:rows]] + _left_out(len(lines) - rows)
        yield from _folded(f"{title} ({len(lines):,})", "\n".join(shown), is_open=title.startswith("New "))


def _folded(title: str, text: str, *, is_open: bool = False) -> Iterator[str]:
    yield from ("", f"<details{' open' * is_open}><summary>{escape(title)}</summary>", "", text, "", "</details>")


def _table(changes: list[Change], review: Review, rows: int) -> Iterator[str]:
    yield "| | what | how | read by |"
    yield "|---|---|---|---|"
    for change in changes[:rows]:
        yield f"| {' | '.join(_cells(change, review))} |"
    yield from _left_out(len(changes) - rows)


def _cells(change: Change, review: Review) -> Iterator[str]:
    taken = ChangeKind.TABLE_REMOVED, ChangeKind.COLUMN_REMOVED
    added = ChangeKind.TABLE_ADDED, ChangeKind.COLUMN_ADDED
    yield "−" if change.kind in taken else "+" if change.kind in added else "~"
    yield f"{_code(change.name)}<br>{_code(place(change.file, change.line))}"
    found = how(change)
    said = f"<br>{_code(found[0])} ⇒ {_code(found[1])}" if found is not None else ""
    yield _words(headline(change)) + said + ("<br>_follows from other changes_" if change.follows else "")
    read = f"{read_word(change)} {_code(readers_of(change, review), 400)}" if change.readers else ""
    yield "<br>".join(
        each for each in (read, f"reaches {_words(reach_of(change))}" if change.reaches else "") if each
    )


def _picture(review: Review) -> Iterator[str]:
    assert review.sides is not None
    diagram, left = picture_of(review, review.sides)
    more = f"\n\n{counted(left, 'changed table')} more are not drawn." if left else ""
    yield from _folded("Picture of the changed part", f"```mermaid\n{to_mermaid(diagram)}\n```{more}")


def _left_out(count: int) -> list[str]:
    return ["", f"… and {count:,} more, left out here: `headwater pr --format json` has all."] if count > 0 else []


def _code(text: str, most: int = 160) -> str:
    """Text as code on one line, whatever is in it."""
    plain = " ".join(text.split()).replace("`", "'").replace("|", "\\|")
    return f"`{plain if len(plain) <= most else plain[: most - 1] + '…'}`"


def _words(text: str) -> str:
    """Text that can neither become markup nor call anybody."""
    plain = escape(" ".join(text.split()), quote=False)
    for char, safe in (("|", "&#124;"), ("@", "&#64;"), ("[", "&#91;"), ("_", "&#95;"), ("*", "&#42;")):
        plain = plain.replace(char, safe)
    return plain
