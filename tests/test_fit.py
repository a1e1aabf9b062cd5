"""Text that fits a width: what differs stays different, and nothing is longer than it may be."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.fit import ShortNames, align, fit_lines, number_text, value_text, wrap_words, wrapped

PARTS = st.text(alphabet="ab1_", min_size=1, max_size=12)
NAMES = st.builds(
    lambda prefix, middles, suffix: sorted({f"{prefix}{middle}{suffix}" for middle in middles}),
    st.text(alphabet="abc./_", max_size=50),
    st.lists(st.lists(PARTS, min_size=1, max_size=4).map(".".join), min_size=1, max_size=12),
    st.text(alphabet="xyz./_", max_size=50),
)


@given(NAMES, st.data())
def test_different_names_stay_different_at_any_widths(names, data):
    short = ShortNames(names)
    shown = {}
    for name in names:
        width = data.draw(st.integers(1, 90))
        form = short.fit(name, width)
        assert len(form) <= width or form == name
        assert shown.setdefault(form, name) == name
        pieces = form.split("…")
        assert re.fullmatch(".+".join(map(re.escape, pieces)), name)  # nothing but what the name has


@pytest.mark.parametrize("width", [30, 40, 60])
def test_names_with_a_long_beginning_and_end_in_common_are_cut_where_they_agree(width):
    names = [f"/tmp/estate/of/somebody/raw/2026-03-{day:02}/customers.csv.email" for day in range(1, 28)]
    shown = [ShortNames(names).fit(name, width) for name in names]
    assert len(set(shown)) == len(names)
    assert all(len(each) <= width for each in shown)


LINES = st.lists(
    st.builds(
        lambda sign, name, kind, place: f"{sign}{name}  {kind}{place}",
        st.sampled_from(["├─ ", "│  └─ ", "", "+ ", "- column "]),
        NAMES.map(lambda names: names[0]),
        st.sampled_from(["", "IDENTITY", "AGGREGATION sum(a.amount_of_everything_there_is * 2)"]),
        st.sampled_from(["", "  models/staging/finance/orders.sql:12", "  models/staging/finance/lines.sql:12"]),
    ),
    min_size=1,
    max_size=8,
)


@given(LINES, st.integers(30, 120))
def test_lines_fit_and_different_ones_stay_different(lines, width):
    fitted = {line: fit_lines("\n".join([line, *lines]), width).split("\n") for line in lines}
    assert all(len(each) <= width for shown in fitted.values() for each in shown)
    together = fit_lines("\n".join(dict.fromkeys(map(str.rstrip, lines))), width)
    blocks = re.split(r"\n(?=[├+-]|│  └|[^ │])", together)
    assert len(set(blocks)) == len(blocks)


def test_a_name_that_cannot_be_cut_goes_on_in_the_next_line():
    names = ["a" * 60, "a" * 61, "a" * 62]
    shown = fit_lines("\n".join(f"├─ {name}  IDENTITY" for name in names), 40)
    assert all(len(line) <= 40 for line in shown.split("\n"))
    assert [part.count("a") for part in shown.split("├─ ")[1:]] == [60, 61, 62]
    assert shown.split("\n")[1].startswith("│ ")


@given(st.lists(st.tuples(st.text("ab c.", max_size=40), st.integers(), NAMES.map("".join)), min_size=1, max_size=6))
def test_a_wrapped_table_loses_no_short_name(rows):
    text = align(("what", "count", "name"), rows, width=80, wrap=True)
    widest = max(len(f"{number:,}") for _, number, _ in rows)
    assert max(map(len, text.split("\n"))) <= max(80, 8 + 2 + max(widest, 5) + 2 + 8)


def test_a_table_keeps_its_times_and_wraps_its_lists():
    rows = [("2026-11-19 21:29:06", "a_table.of_a_long_name", f"customer_id, placed_at, status_{n}") for n in (1, 2)]
    text = align(("time (UTC)", "table", "changed columns"), rows, width=50, wrap=True)
    assert text.count("2026-11-19 21:29:06") == 2
    assert "status_1" in text
    assert "status_2" in text
    assert max(map(len, text.split("\n"))) <= 50
    assert align(("time (UTC)", "table", "changed columns"), rows).count("\n") == 3  # in a pipe, a line for each row


def test_a_wrapped_table_has_narrow_headers_and_short_words():
    rows = [("harvest reports/bigquery, reports/snowflake", 1, 2), ("harvest reports/bigquery_2", 1, 2)]
    lines = align(("what was read", "read at", "now at"), rows, width=26, wrap=True).split("\n")
    assert max(map(len, lines)) <= 26
    assert [line.split()[-2:] for line in lines[:2]] == [["read", "now"], ["at", "at"]]
    shown = [line.split()[0].rstrip(",") for line in lines[3:]]
    assert len({each for each in shown if "…" in each}) == 3


def test_a_table_of_a_query_has_whole_headers_and_a_line_for_each_row():
    rows = [(f"{name}-{'x' * 30}-{name}", "1") for name in ("ab", "cd")]
    lines = align(("a_header_of_words", "n"), rows, width=22).split("\n")
    assert lines[0].split() == ["a_header_of_words", "n"]
    assert len(lines) == 4
    assert len({line for line in lines[2:] if "…" in line}) == 2


@given(st.text("ab `", max_size=200), st.integers(12, 60))
def test_wrapping_keeps_the_words(text, width):
    assert wrapped(text, width).split() == text.split()
    assert all(len(line) <= width for line in wrap_words(text, width))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (54.57000000000001, "54.57"),
        (0.1 + 0.2, "0.3"),
        (5.0, "5.0"),
        (1e22, "1e+22"),
        (123456789.123456789, "123456789.123457"),
        ([1.1 + 2.2, None, "a"], "[3.3, null, 'a']"),
        ({"a": {"b": 0.1 + 0.2}}, "{'a': {'b': 0.3}}"),
        (float("nan"), "nan"),
        ("two\nlines", "two lines"),
    ],
)
def test_numbers_are_shown_with_the_digits_that_they_have(value, shown):
    assert value_text(value) == shown


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_shown_number_is_the_number_to_15_digits(value):
    assert float(value_text(value)) == pytest.approx(value, rel=1e-14, abs=0)
    assert float(number_text(value).replace(",", "")) == float(value_text(value))
