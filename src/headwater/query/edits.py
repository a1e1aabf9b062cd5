"""Replacing pieces of a text and finding the way back. A query goes to DuckDB as it was written, but for the names of
tables; so what DuckDB says about a place in its text can be said about the place in the user's."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Characters `start` to `end` become `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Edited:
    """A piece of a text with edits made to it."""

    text: str
    begin: int  # of the piece, in the original
    edits: tuple[Edit, ...]

    def original(self, at: int) -> int:
        """The position in the original of a position in the edited text; that of the edit, inside one.

        >>> apply_edits("select a from t", 0, 15, [Edit(14, 15, "db.t")]).original(16)
        14
        """
        shift = self.begin
        for edit in self.edits:
            start = edit.start - shift
            if at < start:
                break
            if at < start + len(edit.text):
                return edit.start
            shift += (edit.end - edit.start) - len(edit.text)
        return at + shift


def apply_edits(text: str, begin: int, end: int, edits: list[Edit]) -> Edited:
    """The characters `begin` to `end` of a text with the edits made. REQUIRES: edits within, not overlapping."""
    parts, at = [], begin
    ordered = sorted(edits)
    for edit in ordered:
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    parts.append(text[at:end])
    return Edited("".join(parts), begin, tuple(ordered))
