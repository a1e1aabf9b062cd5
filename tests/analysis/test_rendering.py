import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.analysis.rendering import render
from headwater.analysis.template import TemplateOptions, is_template
from headwater.errors import IssueCode, Severity
from headwater.text import Source

MODEL = """{{ config(materialized='table') }}
{%- set cols = ['a', 'b'] -%}
SELECT {% for c in cols %}
  sum({{ c }}) AS {{ c }}_sum,
{% endfor %} '한' AS k
FROM {{ ref('orders') }} o JOIN {{ source('raw','fx') }} f ON o.cur = f.cur
{% if is_incremental() %} WHERE ts > (SELECT max(ts) FROM {{ this }}){% endif %}
"""


def place_of(rendered, text):
    at = rendered.text.index(text)
    return rendered.template.excerpt(rendered.span(Source(rendered.text).span(at, at + len(text))))


def test_dbt_functions_render():
    rendered = render(Source(MODEL, "models/daily.sql"), TemplateOptions(schema="mart"))
    assert "FROM mart.orders o JOIN raw.fx f" in rendered.text
    assert "WHERE" not in rendered.text
    incremental = render(Source(MODEL, "models/daily.sql"), TemplateOptions(incremental=True))
    assert "SELECT max(ts) FROM daily" in incremental.text


@pytest.mark.parametrize(
    ("output", "template"),
    [
        ("orders", "{{ ref('orders') }}"),
        ("raw.fx", "{{ source('raw','fx') }}"),
        ("o.cur", "o.cur"),
        ("'한'", "'한'"),
        ("sum(b)", "sum({{ c }})"),
        ("FROM orders o", "FROM {{ ref('orders') }} o"),
    ],
)
def test_places_point_at_the_template(output, template):
    assert place_of(render(Source(MODEL)), output) == template


def test_variables():
    text = "SELECT {{ var('column', 'x') }}, {{ y }} FROM t"
    assert render(Source(text)).text == "SELECT x, y FROM t"
    assert render(Source(text), TemplateOptions({"column": "z", "y": "w"})).text == "SELECT z, w FROM t"


def test_what_is_not_known_is_said_and_read_on():
    rendered = render(Source("SELECT {{ pkg.money('a') }} AS m FROM {{ src }}.t", "m.sql"))
    assert rendered.text == "SELECT money(a) AS m FROM src.t"
    assert [issue.code for issue in rendered.issues] == [IssueCode.APPROXIMATE_LINEAGE] * 2
    assert rendered.template.excerpt(rendered.issues[0].span) == "pkg.money"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT {% if %}",
        "{{ 'a' * 10 ** 10 }}",
        "{{ 10 ** 9999999 }}",
        "{{ 1 / 0 }}",
        "{{ 7 * 1e9997 }}",
        "{{ raise_me() | nofilter }}",
        "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
        "{% include 'secret.sql' %}",
    ],
)
def test_a_template_that_cannot_be_rendered_is_an_issue(text):
    rendered = render(Source(text, "bad.sql"))
    assert rendered.text == ""
    assert [(issue.code, issue.severity) for issue in rendered.issues] == [(IssueCode.TEMPLATE_ERROR, Severity.ERROR)]
    assert rendered.issues[0].span is not None


def test_a_template_cannot_reach_into_python():
    rendered = render(Source("{{ ''.__class__.__mro__[1].__subclasses__() }}"))
    assert rendered.text == "__subclasses__()"  # the unknown name, not what it would have given
    assert rendered.issues


def test_syntax_errors_name_their_line():
    assert render(Source("SELECT 1,\n{% nonsense %}", "bad.sql")).issues[0].span.line == 2


def test_a_template_that_looks_at_its_own_output_keeps_lines():
    text = "{% set part %}SELECT a{% endset %}{{ part | replace('a', 'b') | length }}\nSELECT c FROM t"
    rendered = render(Source(text))
    assert rendered.text == "8\nSELECT c FROM t"
    assert place_of(rendered, "c FROM t") == "c FROM t"


@given(st.text(alphabet="ab {}%#-\n'한", max_size=40))
def test_any_text_renders_or_is_an_issue(text):
    rendered = render(Source(text))
    assert rendered.text or rendered.issues or not text.strip() or is_template(text)
    whole = Source(rendered.text).span(0, len(rendered.text))
    assert 0 <= rendered.span(whole).start <= rendered.span(whole).end <= len(text)


@given(st.text(alphabet="abc ,\n한", max_size=40))
def test_plain_text_maps_to_itself(text):
    rendered = render(Source(text))
    assert rendered.text == text
    for at in range(len(text)):
        span = Source(text).span(at, at + 1)
        assert rendered.span(span) == span


def test_a_macro_that_calls_itself_without_end_is_an_issue():
    rendered = render(Source("{% macro m(x) %}{{ m(x) }}{% endmacro %}SELECT {{ m('a') }} FROM t", "t.sql"))
    assert [issue.code for issue in rendered.issues] == [IssueCode.TEMPLATE_ERROR]


@pytest.mark.parametrize(
    "text",
    [
        "{% for i in [1] %}" * 30 + "SELECT a FROM t" + "{% endfor %}" * 30,
        "SELECT {{ cycler().next() }} FROM t",
        "SELECT {{ 1 // 0 }} FROM t",
        "SELECT {{ 'x' | round }} FROM t",
        "{% macro f() %}{{ f() }}{% endmacro %}SELECT {{ f() }} FROM t",
        "{% import 'x' as y %}SELECT {{ y.f() }} FROM t",
    ],
)
def test_a_template_that_fails_in_any_way_is_an_issue(text):
    (issue,) = render(Source(text, "m.sql")).issues
    assert (issue.code, issue.severity, issue.source_name) == (IssueCode.TEMPLATE_ERROR, Severity.ERROR, "m.sql")
