"""A review in words: a terminal's text, JSON, and the sentences that all formats share."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

import msgspec

from headwater.review.changes import Change, ChangeKind, Risk
from headwater.review.reach import EXPOSURE, ColumnReader
from headwater.review.review import Review
from headwater.text import counted

TITLES = {
    Risk.BREAKING: "Breaking: the head still reads what is gone",
    Risk.POSSIBLY: "Possibly breaking: something is gone or different",
    Risk.ADDITIVE: "Additive: nothing that was there is different",
}
_PARTS = {ChangeKind.ROWS: "rows", ChangeKind.AROUND: "file"}
_MOST = 6  # readers and datasets that are named
_MOST_LINES = 40  # changes of one risk in a terminal
_LONG = 100  # characters of an expression that are shown
_CONTEXT = 3  # words around a difference


def summary(review: Review) -> str:
    """The counts of a review in one line."""
    counts = review.counts
    parts = [
        f"{counts[Risk.BREAKING]:,} breaking",
        f"{counts[Risk.POSSIBLY]:,} possibly breaking",
        f"{counts[Risk.ADDITIVE]:,} additive",
    ]
    found = ", ".join(parts) if review.changes else "no change of lineage"
    more = [counted(len(each), noun) for each, noun in _more(review) if each]
    more += [f"{counted(len(review.rebuild), 'table')} to rebuild"] if review.rebuild else []
    return " · ".join([found, *more])


def _more(review: Review) -> Iterator[tuple[Sequence[object], str]]:
    yield review.findings, "new issue"
    yield review.violations, "new violation"
    yield review.flows, "new PII flow"


def place(file: str | None, line: int | None) -> str:
    """`file:line`, as far as it is known."""
    return "" if file is None else file if line is None else f"{file}:{line}"


def headline(change: Change) -> str:
    """A change in a few words, without its name."""
    match change.kind:
        case ChangeKind.TABLE_RENAMED:
            return f"renamed from {change.before}"
        case ChangeKind.COLUMN_RENAMED:
            return f"renamed to {change.after}"
        case ChangeKind.TYPE_CHANGED:
            return f"type {change.before} ⇒ {change.after}"
        case ChangeKind.REWRITTEN:
            return "rewritten: the same columns from the same sources; constants, kinds of joins or limits may differ"
        case ChangeKind.AROUND:
            return "other variables or conditions around the same statements, which may give other rows"
        case ChangeKind.UNCLEAR:
            return "no longer understood: its statement has an error, or only its tables are known"
        case _:
            return str(change.kind.value)


def how(change: Change) -> tuple[str, str] | None:
    """Say what a column or the rows were made of before and after, if the change is of that kind."""
    if change.kind in (ChangeKind.COMPUTED, ChangeKind.ROWS):
        return _without_same(change.before or "nothing", change.after or "nothing")
    return None


def _without_same(before: str, after: str) -> tuple[str, str]:
    """Two long texts without the words that both begin and end with, but for a few."""
    if max(len(before), len(after)) <= _LONG:
        return before, after
    one, other = before.split(), after.split()
    most = min(len(one), len(other))
    start = next((at for at in range(most) if one[at] != other[at]), most)
    end = next((at for at in range(most - start) if one[-1 - at] != other[-1 - at]), most - start)
    first, last = max(0, start - _CONTEXT), max(0, end - _CONTEXT)
    cut = [" ".join(words[first : len(words) - last]) for words in (one, other)]
    sides = [f"{'… ' if first else ''}{text}{' …' if last else ''}" for text in cut]
    return sides[0], sides[1]


def readers_of(change: Change, review: Review) -> str:
    """The readers of what changed, with their places and owners."""
    shown = [_reader(each, review) for each in change.readers[:_MOST]]
    more = len(change.readers) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def _reader(reader: ColumnReader, review: Review) -> str:
    name = reader.dataset if reader.column == "*" else f"{reader.dataset}.{reader.column}"
    details = [each for each in (place(reader.file, reader.line), review.owners.get(reader.dataset)) if each]
    return f"{name} ({', '.join(details)})" if details else name


def reach_of(change: Change) -> str:
    """Say what lies downstream of a change: how many tables, and the exposures by name."""
    outside = [name.removeprefix(EXPOSURE) for name in change.reaches if name.startswith(EXPOSURE)]
    tables = len(change.reaches) - len(outside)
    parts = [counted(tables, "table")] if tables else []
    return " and ".join(parts + ([f"exposure{'s' * (len(outside) > 1)} {', '.join(outside)}"] if outside else []))


def read_word(change: Change) -> str:
    """The word before the readers: those of the head, or those of the base that go without it now."""
    gone = change.kind in (ChangeKind.COLUMN_REMOVED, ChangeKind.COLUMN_RENAMED)
    return "was read by" if gone and change.risk is not Risk.BREAKING else "read by"


def to_text(review: Review) -> str:
    """A review for a terminal."""
    return "\n".join(_lines(review))


def _lines(review: Review) -> Iterator[str]:
    yield f"{review.base} → {review.head}"
    yield summary(review)
    for risk in Risk:
        of_risk = [each for each in review.changes if each.risk is risk]
        if of_risk:
            yield ""
            yield TITLES[risk]
            yield from _changes(of_risk, review)
    for title, lines in sections(review):
        yield ""
        yield title
        yield from (f"  {line}" for line in lines)


def _changes(changes: list[Change], review: Review) -> Iterator[str]:
    for dataset, same in groupby(changes[:_MOST_LINES], key=lambda each: each.dataset):
        of_one = list(same)
        yield f"  {dataset}{_follow(of_one)}"
        for change in of_one:
            where = place(change.file, change.line)
            yield f"    {_sign(change)} {_part(change)}: {headline(change)}  {where}".rstrip()
            found = how(change)
            if found is not None:
                yield f"        {_short(found[0])} ⇒ {_short(found[1])}"
            if change.readers:
                yield f"        {read_word(change)} {readers_of(change, review)}"
            if change.reaches:
                yield f"        reaches {reach_of(change)}"
    if len(changes) > _MOST_LINES:
        yield f"  … and {len(changes) - _MOST_LINES:,} more (--format json has all)"


def _part(change: Change) -> str:
    """The part of a dataset that a change is of."""
    return change.column or _PARTS.get(change.kind, "table")


def _follow(changes: list[Change]) -> str:
    return "  (its text is the same: this follows from changes before it)" if changes[0].follows else ""


def _sign(change: Change) -> str:
    return {ChangeKind.COLUMN_ADDED: "+", ChangeKind.TABLE_ADDED: "+", ChangeKind.COLUMN_REMOVED: "-"}.get(
        change.kind, "-" if change.kind is ChangeKind.TABLE_REMOVED else "~"
    )


def _short(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"


def sections(review: Review) -> Iterator[tuple[str, list[str]]]:
    """Yield what is said beside the changes: a title and its lines."""
    if review.flows:
        yield "New flows of tagged columns", [f"{each.tag}: {' → '.join(each.way)}" for each in review.flows]
    if review.violations:
        yield (
            "New violations of the policy",
            [
                f"{each.code.name}: {each.message}  {place(each.file, each.line)}" + _way(each.way)
                for each in review.violations
            ],
        )
    if review.findings:
        yield (
            "New issues",
            [f"{each.code}: {each.message}  {place(each.file, each.line)}" for each in review.findings],
        )
    if review.rebuild:
        yield "To rebuild", [_named(name, review) for name in review.rebuild]
    if review.same:
        yield "Changed files with the same lineage", list(review.same)
    if review.warnings:
        yield "Not read", list(review.warnings)


def _way(way: tuple[str, ...]) -> str:
    return f"  by {' → '.join(way)}" if way else ""


def _named(name: str, review: Review) -> str:
    owner = review.owners.get(name)
    return f"{name} ({owner})" if owner else name


def to_json(review: Review) -> str:
    """Everything in a review, in a stable form."""
    fields: dict[str, Any] = {
        "base": review.base,
        "head": review.head,
        "counts": {risk.value: count for risk, count in review.counts.items()},
        "changes": [_change_fields(each) for each in review.changes],
        "findings": [{name: getattr(each, name) for name in each.__struct_fields__} for each in review.findings],
        "violations": [asdict(each) | {"code": each.code.name} for each in review.violations],
        "flows": [asdict(each) for each in review.flows],
        "rebuild": review.rebuild,
        "owners": review.owners,
        "analysed": {"base": review.analysed[0], "head": review.analysed[1], "units": review.units},
        "same": review.same,
        "warnings": review.warnings,
    }
    return msgspec.json.encode(fields).decode()


def _change_fields(change: Change) -> dict[str, Any]:
    return asdict(change) | {"kind": change.kind.value, "risk": change.risk.value}
