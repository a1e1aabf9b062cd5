"""Texts and JSON that come from outside: SQL, templates, events, schemas, plans, selectors, settings."""

import json
import random
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from tests.fuzz import mutate
from tests.fuzz.target import Make, Take, target

GOLDEN = Path(__file__).parent.parent / "golden"


@cache
def statements(dialect: str) -> tuple[str, ...]:
    """The statements of the golden cases of a dialect."""
    found = []
    for path in sorted((GOLDEN / dialect).glob("*.sql")):
        text = "\n".join(line for line in path.read_text().splitlines() if not line.startswith("--"))
        found += [each.strip() + ";" for each in text.split(";") if each.strip()]
    return tuple(found)


def sql_of(dialect: str, chance: random.Random) -> str:
    """A few statements, changed and put together."""
    known = statements(dialect)
    text = chance.choice(known)
    if chance.random() < 0.3:
        other = chance.choice(known)
        cut = chance.randrange(len(text) + 1)
        text = text[:cut] + " " + other[chance.randrange(len(other)) :]
    if chance.random() < 0.01:
        depth = chance.choice((50, 300, 2000))
        text = "SELECT " + "(" * depth + "a" + ")" * depth + " FROM t"
    return mutate.mutate_text(text, chance)


_DIALECTS = ("bigquery", "snowflake", "spark", "postgres", "tsql", "clickhouse", "hive", "oracle", "mysql", "duckdb")


@target("sql", quick=150, seconds=20)
def sql() -> tuple[Make, Take]:
    """SQL through sqlglot. The analysis itself never raises; it says what is wrong in issues."""
    from headwater.analysis.analyze import analyze

    def make(chance: random.Random) -> tuple[str, str]:
        dialect = chance.choice(_DIALECTS)
        return dialect, sql_of(dialect, chance)

    def take(given: tuple[str, str]) -> None:
        analyze(given[1], dialect=given[0], engine="sqlglot").to_json()

    return make, take


@target("zetasql", quick=60, seconds=30, memory=16 << 30)
def zetasql() -> tuple[Make, Take]:
    """GoogleSQL through ZetaSQL's own analyzer."""
    from headwater.analysis.analyze import analyze

    schema = {
        "t": {"a": "INT64", "b": "STRING"},
        "o": {"id": "INT64", "cid": "INT64"},
        "c": {"id": "INT64", "name": "STRING"},
    }

    def take(text: str) -> None:
        analyze(text, dialect="bigquery", engine="zetasql", schema=schema).to_json()

    return lambda chance: sql_of("googlesql", chance), take


_TEMPLATES = (
    "SELECT {{ column }} FROM {{ ref('orders') }} {% if x %} WHERE a = {{ var('y', 1) }} {% endif %}",
    "{% for c in ['a', 'b'] %} SELECT {{ c }} FROM t {% if not loop.last %} UNION ALL {% endif %}{% endfor %}",
    "{{ config(materialized='table') }} SELECT * FROM {{ source('a', 'b') }} -- {# note #}",
    "{% set n = 3 %}{% macro m(x) %}{{ x }} + {{ n }}{% endmacro %}SELECT {{ m('a') }} FROM t",
)
_JINJA = (
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "|",
    "for x in range(999999999)",
    "''.__class__.__mro__",
    "cycler.__init__.__globals__",
)
_JINJA += (
    "'a' * 999999999",
    "range(10**9)|list",
    "self",
    "lipsum()",
    "9**9**9",
    "{% include 'x' %}",
    "{% endfor %}",
    "loop",
    "()",
)


@target("template", quick=300, seconds=20)
def template() -> tuple[Make, Take]:
    """Templates are rendered in a sandbox."""
    from headwater.analysis.rendering import render
    from headwater.text import Source

    def take(text: str) -> None:
        rendered = render(Source(text, "t.sql"))
        assert "built-in" not in str(rendered.text), "a template has reached the interpreter"

    return lambda chance: mutate.mutate_text(chance.choice(_TEMPLATES), chance, _JINJA), take


_EVENT: dict[str, Any] = {
    "eventType": "COMPLETE",
    "eventTime": "2026-11-01T10:00:00Z",
    "producer": "https://example.com/p",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    "run": {
        "runId": "01932f8a-0000-7000-8000-000000000000",
        "facets": {
            "parent": {
                "run": {"runId": "01932f8a-0000-7000-8000-000000000001"},
                "job": {"namespace": "n", "name": "p"},
            },
            "errorMessage": {"message": "m", "programmingLanguage": "SQL"},
            "processing_engine": {"version": "4.1", "name": "spark"},
        },
    },
    "job": {
        "namespace": "n",
        "name": "j",
        "facets": {"sql": {"query": "SELECT 1"}, "jobType": {"processingType": "BATCH"}},
    },
    "inputs": [
        {
            "namespace": "s3://b",
            "name": "in",
            "facets": {"schema": {"fields": [{"name": "a", "type": "int"}]}, "version": {"datasetVersion": "3"}},
            "inputFacets": {"inputStatistics": {"rowCount": 3, "size": 9, "fileCount": 1}},
        }
    ],
    "outputs": [
        {
            "namespace": "s3://b",
            "name": "out",
            "facets": {
                "symlinks": {"identifiers": [{"namespace": "hive", "name": "d.t", "type": "TABLE"}]},
                "columnLineage": {
                    "fields": {
                        "x": {
                            "inputFields": [
                                {
                                    "namespace": "s3://b",
                                    "name": "in",
                                    "field": "a",
                                    "transformations": [{"type": "DIRECT", "subtype": "IDENTITY", "masking": False}],
                                }
                            ]
                        }
                    },
                    "dataset": [
                        {"namespace": "s3://b", "name": "in", "field": "a", "transformations": [{"type": "INDIRECT"}]}
                    ],
                },
            },
            "outputFacets": {"outputStatistics": {"rowCount": 3}},
        }
    ],
}


@target("events")
def events() -> tuple[Make, Take]:
    """OpenLineage events of others, up to the rows they become."""
    from headwater.events import decode
    from headwater.graph.facts import Facts
    from headwater.graph.observed import observe

    def take(data: bytes) -> None:
        observe(Facts(), decode(data))

    return lambda chance: mutate.mutate_json(_EVENT, chance), take


_SCHEMAS: tuple[Any, ...] = (
    {
        "tables": [{"name": "t", "schema": "s", "columns": [{"name": "a", "dataType": "INT", "isPrimaryKey": True}]}],
        "caseSensitivity": "lower",
    },
    {"shop.orders": ["id", "amount"], "crm": {"people": {"name": "STRING"}}},
    [{"table_name": "t", "column_name": "a", "data_type": "int", "table_schema": "s", "ordinal_position": 1}],
    {
        "schema": {"fields": [{"name": "a", "type": "RECORD", "fields": [{"name": "b", "type": "INT64"}]}]},
        "tableReference": {"projectId": "p", "datasetId": "d", "tableId": "t"},
    },
)


@target("wire")
def wire() -> tuple[Make, Take]:
    """Schemas as JSON, effects and tasks as MessagePack: what travels between processes and from users."""
    from headwater.lineage.effects import UseNamespace
    from headwater.lineage.effects_wire import decode_effects, encode_effects
    from headwater.lineage.imports import schema_of_csv, schema_of_json

    effects = encode_effects([UseNamespace("shop"), UseNamespace("a", "b")])
    dump = "table_schema,table_name,column_name,data_type\ns,t,a,int\ns,t,b,text\n"

    def make(chance: random.Random) -> tuple[str, Any]:
        kind = chance.choice(("json", "json", "json", "effects", "csv"))
        if kind == "effects":
            return kind, mutate.mutate_bytes(effects, chance)
        if kind == "csv":
            return kind, mutate.mutate_text(dump, chance)
        return kind, mutate.mutate_json(chance.choice(_SCHEMAS), chance)

    def take(given: tuple[str, Any]) -> None:
        kind, data = given
        if kind == "effects":
            decode_effects(data)
        elif kind == "csv":
            schema_of_csv(data)
        else:
            schema_of_json(data, name="s.t")

    return make, take


_PLAN: dict[str, Any] = {
    "nodes": [
        {
            "class": "Project",
            "children": [1],
            "fields": {"projectList": [["=", 9, "total", ["Add", "+", 1, 2]], ["Upper", "upper", 1], 2]},
        },
        {"class": "Filter", "children": [2], "fields": {"condition": ["GreaterThan", ">", 1, None]}},
        {
            "class": "Join",
            "children": [3, 4],
            "fields": {"joinType": {"kind": "Inner"}, "condition": ["EqualTo", "=", 1, 5]},
        },
        {"class": "LogicalRelation", "children": [], "fields": {"catalogTable": {"table": ["db", "t"]}}},
        {
            "class": "Aggregate",
            "children": [5],
            "fields": {"groupingExpressions": [5], "aggregateExpressions": [5, ["?", "ScalarSubquery", 5]]},
        },
        {"class": "LocalRelation", "children": [], "fields": {}},
    ],
    "outputs": {
        "0": [[9, "total", "int"], [2, "b", "string"]],
        "3": [[1, "a", "int"], [2, "b", "string"]],
        "4": [[5, "c", "int"]],
    },
    "texts": ["SELECT a + b AS total FROM t"],
    "truncated": False,
}


@target("plan")
def plan() -> tuple[Make, Take]:
    """Plans as Spark's JVM hands them over."""
    from headwater.spark.agent.context import OpenLineageContext
    from headwater.spark.agent.options import AgentOptions
    from headwater.spark.agent.plan_reader import PlanReader
    from headwater.spark.plan.dump import read_dump

    reader = PlanReader(OpenLineageContext(None, None, AgentOptions()))  # type: ignore[arg-type]
    reader.builders = []  # they look at the execution in the JVM, and there is none here

    def take(data: bytes) -> None:
        reader.read(read_dump(data, lambda number: None))

    return lambda chance: mutate.mutate_json(_PLAN, chance), take


@target("selector")
def selector() -> tuple[Make, Take]:
    """Selectors of the graph, and names of tables, types and moments."""
    from headwater.graph.selector import parse_selector
    from headwater.lake.tables.names import parse_name
    from headwater.model.names import parse_table_name
    from headwater.model.types import parse_type

    seeds = (
        "2+shop.orders.total+1",
        "+a.b.c",
        '`my table`."x".y',
        "STRUCT<a: INT, b: ARRAY<DECIMAL(10, 2)>>",
        "MAP<STRING, BIGINT>",
    )
    doors = (parse_selector, parse_name, parse_table_name, parse_type)

    def make(chance: random.Random) -> tuple[int, str]:
        return chance.randrange(len(doors)), mutate.mutate_text(chance.choice(seeds), chance)

    return make, lambda given: doors[given[0]](given[1])


@target("config")
def config() -> tuple[Make, Take]:
    """Settings: `headwater.toml` and the variables."""
    from headwater.config import load

    seed = 'warehouse = "lake"\ndialect = "bigquery"\ncolor = "auto"\nprogress = true\n'
    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    file = folder / "headwater.toml"

    def make(chance: random.Random) -> bytes:
        if chance.random() < 0.2:
            return mutate.mutate_bytes(seed.encode(), chance)
        return mutate.mutate_text(
            seed, chance, ("=", "[", "]", '"""', "'", "#", "\n", "1979-05-27", "inf", "0x", "{", "}")
        ).encode(errors="surrogatepass")

    def take(data: bytes) -> None:
        file.write_bytes(data)
        load(file=file, env={"HEADWATER_PROGRESS": "yes" if len(data) % 2 else data[-5:].decode(errors="replace")})

    return make, take


def texts_of(data: bytes) -> Any:
    """JSON for a look at a finding."""
    return msgspec.json.decode(data) if data[:1] in b"{[" else json.loads(data)
