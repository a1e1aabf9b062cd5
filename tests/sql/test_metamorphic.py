"""Rewriting a query in ways that change nothing must not change its lineage."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import examples
from tests.sql.queries import ALIASES, SCHEMA, WORDS, Select, selects

from headwater.lineage import SchemaResolver, StatementLineage
from headwater.lineage.imports import schema_of_mapping
from headwater.lineage.script import analyze_script
from headwater.model.edges import Edge
from headwater.sql.frontend import SqlFrontEnd
from headwater.text import Source

pytestmark = pytest.mark.property
DIALECTS = ("duckdb", "postgres", "spark", "snowflake", "bigquery", "tsql")
_SCHEMA = schema_of_mapping(SCHEMA)


def analyze(sql: str, dialect: str = "duckdb") -> StatementLineage:
    (lineage,) = analyze_script(Source(sql), SqlFrontEnd(dialect), SchemaResolver(_SCHEMA, dialect=dialect))
    assert not lineage.issues, (sql, lineage.issues)
    return lineage


def fact(edge: Edge) -> tuple[str, str, str, bool]:
    return edge.target.name, str(edge.source), edge.kind.value, edge.masking


def facts(sql: str, dialect: str = "duckdb") -> set[tuple[str, str, str, bool]]:
    return {fact(edge) for edge in analyze(sql, dialect).edges}


@given(selects())
@settings(max_examples=examples(150))
def test_renaming_aliases_changes_nothing(select: Select):
    sql = select.sql()
    renamed = sql
    for at, alias in enumerate(ALIASES):
        renamed = re.sub(rf"\b{alias}\b", f"other_{at}", renamed)
    assert facts(renamed) == facts(sql)


@given(selects())
@settings(max_examples=examples(150))
def test_wrapping_in_a_cte_changes_nothing(select: Select):
    names = ", ".join(alias for _, alias in select.outputs)
    assert facts(f"WITH w AS ({select.sql()}) SELECT {names} FROM w") == facts(select.sql())


@given(selects())
@settings(max_examples=examples(150))
def test_a_subquery_that_does_nothing_changes_nothing(select: Select):
    assert facts(f"SELECT * FROM ({select.sql()}) AS q") == facts(select.sql())


@given(selects())
@settings(max_examples=examples(100))
def test_tables_behind_ctes_of_their_own_change_nothing(select: Select):
    """Each table is replaced by a query that selects all of it."""
    tables = tuple((f"w_{table}", alias) for table, alias in select.tables)
    ctes = ", ".join(f"w_{table} AS (SELECT * FROM {table})" for table in sorted({name for name, _ in select.tables}))
    wrapped = Select(select.outputs, tables, select.join, select.where, select.group)
    assert facts(f"WITH {ctes} {wrapped.sql()}") == facts(select.sql())


@given(selects(), st.randoms(use_true_random=False))
@settings(max_examples=examples(100))
def test_the_order_of_columns_does_not_matter(select: Select, random):
    outputs = list(select.outputs)
    random.shuffle(outputs)
    shuffled = Select(tuple(outputs), select.tables, select.join, select.where, select.group)
    assert facts(shuffled.sql()) == facts(select.sql())


@given(selects())
@settings(max_examples=examples(100))
def test_a_union_has_the_edges_of_both_branches(select: Select):
    once = facts(select.sql())
    assert facts(f"{select.sql()} UNION ALL {select.sql()}") == once


@given(selects())
@settings(max_examples=examples(100))
def test_inserting_a_query_renames_its_targets(select: Select):
    listed = ", ".join(f"n{at}" for at, _ in enumerate(select.outputs))
    inserted = {(target, *rest) for target, *rest in facts(f"INSERT INTO d ({listed}) {select.sql()}")}
    assert inserted == {(target.replace("o", "n"), *rest) for target, *rest in facts(select.sql())}


@given(selects(), st.sampled_from(DIALECTS))
@settings(max_examples=examples(100))
def test_dialects_agree_on_what_they_share(select: Select, dialect: str):
    assert {tuple(str(each).lower() for each in edge) for edge in facts(select.sql(), dialect)} == {
        tuple(str(each).lower() for each in edge) for edge in facts(select.sql())
    }


@given(selects())
@settings(max_examples=examples(100))
def test_spans_point_at_what_they_name(select: Select):
    sql = select.sql()
    source = Source(sql)
    for edge in analyze(sql).edges:
        assert edge.source_span is not None, sql
        assert source.excerpt(edge.source_span).split(".")[-1] == edge.source.column
        if edge.target.column is not None:
            assert source.excerpt(edge.target_span) == edge.target.column


_SIGNS = st.text(alphabet=st.sampled_from("SELECT FROM WHERE ()*,.;'\"`-+abtux10\n@$[]{}:<>="), max_size=80)
_WORDS = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join)


@given(_SIGNS | _WORDS)
@settings(max_examples=examples(400))
def test_any_text_gives_a_result(text: str):
    for dialect in ("duckdb", "snowflake", "bigquery"):
        for lineage in analyze_script(Source(text), SqlFrontEnd(dialect), SchemaResolver(_SCHEMA, dialect=dialect)):
            assert lineage.index >= 0
