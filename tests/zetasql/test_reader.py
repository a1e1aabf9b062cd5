"""Texts with the catalog at hand."""

from weakref import WeakKeyDictionary

from headwater.analysis.door import Request, analyze_sources
from headwater.text import Source
from headwater.zetasql import reader


def kept_columns():
    kept = [each for by_dialect in reader._kept.values() for each in by_dialect.values()]
    return sum(len(entry.columns) for each in kept for entry in each.entries.values())


def test_tables_that_nobody_asks_for_again_do_not_pile_up(monkeypatch):
    """Each text has a table of its own, of a hundred columns: registering all of them each time would cost more."""
    monkeypatch.setattr(reader, "_kept", WeakKeyDictionary())  # what earlier tests left was of use to them
    names = ", ".join(f"c{number} INT64" for number in range(100))
    for number in range(15):
        text = f"CREATE TABLE pile.t{number} ({names}); SELECT c1, c99 FROM pile.t{number}"
        result = analyze_sources([Source(text)], Request(dialect="bigquery"))
        assert not result.issues
    assert kept_columns() <= reader._WORTH_KEEPING + 100
