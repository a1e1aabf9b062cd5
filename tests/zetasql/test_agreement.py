"""Two front ends, one answer: the TPC queries in GoogleSQL through ZetaSQL and through sqlglot."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import sqlglot

from headwater.lineage import SchemaResolver, StatementLineage
from headwater.lineage.imports import schema_of_mapping
from headwater.lineage.schema import SchemaMetadata
from headwater.lineage.script import analyze_script
from headwater.model.edges import InfluenceClass
from headwater.sql.frontend import SqlFrontEnd
from headwater.text import Source
from headwater.zetasql.frontend import GoogleSqlFrontEnd

DATA = Path(__file__).parents[2] / "benchmarks" / "data"

# GoogleSQL has no list of column names behind an alias, and sqlglot does not write the query without one.
BY_HAND = {
    "tpch-13": """
        SELECT c_count, COUNT(*) AS custdist
        FROM (
          SELECT c_custkey, COUNT(o_orderkey) AS c_count
          FROM customer LEFT OUTER JOIN orders ON c_custkey = o_custkey AND o_comment NOT LIKE '%special%requests%'
          GROUP BY c_custkey) AS c_orders
        GROUP BY c_count ORDER BY custdist DESC, c_count DESC"""
}


def queries() -> Iterator[tuple[str, str]]:
    for name in ("tpch", "tpcds"):
        for part in re.split(r"(?m)^-- (?=tpc)", (DATA / f"{name}.sql").read_text()):
            title, _, sql = part.partition("\n")
            if sql.strip():
                yield title.strip(), sql.strip().rstrip(";")


@cache
def schema() -> SchemaMetadata:
    return schema_of_mapping(json.loads((DATA / "tpc_schema.json").read_text()))


def lineage(front_end: object, sql: str) -> StatementLineage:
    (found,) = analyze_script(Source(sql), front_end, SchemaResolver(schema(), dialect="bigquery"))  # type: ignore[type-var]
    return found


def by_position(found: StatementLineage, *wanted: InfluenceClass) -> list[set[str]]:
    """The sources of each output column, by position: names of columns without one differ."""
    places = {column.name: at for at, column in enumerate(found.columns)}
    sources: list[set[str]] = [set() for _ in found.columns]
    for edge in found.edges:
        if edge.target.column is not None and edge.kind.influence in wanted:
            sources[places[edge.target.column]].add(str(edge.source).lower())
    return sources


def rows(found: StatementLineage) -> set[tuple[str, str]]:
    return {(str(edge.source).lower(), edge.kind.value) for edge in found.edges if edge.target.column is None}


@cache
def front_ends() -> tuple[GoogleSqlFrontEnd, SqlFrontEnd]:
    return GoogleSqlFrontEnd(), SqlFrontEnd("bigquery")


QUERIES = [
    pytest.param(*query, id=query[0], marks=() if at % 4 == 0 else pytest.mark.slow)
    for at, query in enumerate(queries())
]


@pytest.mark.parametrize(("name", "sql"), QUERIES)
def test_both_front_ends_agree(name: str, sql: str) -> None:
    text = BY_HAND.get(name) or sqlglot.transpile(sql, read="duckdb", write="bigquery")[0]
    ours, theirs = (lineage(front_end, text) for front_end in front_ends())
    assert [issue.message for issue in ours.issues] == []
    value, condition = InfluenceClass.VALUE, InfluenceClass.CONDITION
    assert by_position(ours, value) == by_position(theirs, value)
    assert by_position(ours, value, condition) == by_position(theirs, value, condition)
    assert rows(ours) == rows(theirs)
    assert {table.name for table in ours.sources} == {table.name for table in theirs.sources}


def test_all_121_queries_are_there() -> None:
    assert len(list(queries())) == 121
