import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.text import Source, Span, caret, nearest


@given(st.text(alphabet="aé한😀\n\r\t ", max_size=60), st.data())
def test_bytes_and_characters_agree(text, data):
    source = Source(text)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    by_bytes = source.span_of_bytes(len(text[:start].encode()), len(text[:end].encode()))
    assert by_bytes == source.span(start, end)
    assert source.excerpt(by_bytes) == text[start:end]


@given(st.text(alphabet="ab\n", max_size=40), st.data())
def test_line_and_column_lead_back_to_the_offset(text, data):
    source = Source(text)
    span = source.span(data.draw(st.integers(0, len(text))), len(text))
    assert source.span_at(span.line, span.column, span.end - span.start) == span


def test_a_byte_inside_a_character_counts_as_its_start():
    assert Source("한a").span_of_bytes(1, 3).start == 0


def test_caret_underlines_the_span_only_on_its_first_line():
    source = Source("SELECT a,\n  b + c\nFROM t", "q.sql")
    assert caret(source, source.span(12, 24)) == "  ┌ q.sql:2:3\n2 │   b + c\n  │   ^^^^^"


def test_caret_keeps_the_span_in_sight_in_a_long_line():
    source = Source("x" * 5000 + "HERE" + "y" * 5000)
    shown = caret(source, source.span(5000, 5004))
    assert "HERE" in shown
    assert max(map(len, shown.splitlines())) < 140
    line, marks = shown.splitlines()[1:]
    assert marks.index("^") == line.index("HERE")


def test_caret_at_the_end_of_the_text():
    source = Source("SELECT")
    assert caret(source, source.span(6, 6)).endswith("│       ^")


@pytest.mark.parametrize(("start", "end"), [(-5, 99), (99, 3)])
def test_spans_are_clipped_to_the_text(start, end):
    span = Source("abc").span(start, end)
    assert 0 <= span.start <= span.end <= 3


def test_cover_spans_both():
    assert Span(5, 9, 2, 1).cover(Span(1, 3, 1, 2)) == Span(1, 9, 1, 2)


def test_nearest_is_silent_when_nothing_is_near():
    assert nearest("warehouse", ["id", "name"]) is None
