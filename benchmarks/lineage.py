"""Lineage of SQL text: 22 TPC-H and 99 TPC-DS queries with full schema, one process, against the peers.

Every tool gets the schema if it takes one. sqlglot, DataHub and we read the queries as they are; sqllineage needs a
target (CREATE TABLE … AS); inbq speaks BigQuery only and gets the text transpiled. Imports and schema set-up are not
counted, caches of whole answers are cold.
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

from _report import Report, arguments, cpu_seconds

import headwater

DATA = Path(__file__).parent / "data"
Answer = Callable[[str], int]  # statement → number of output columns that have a source


def queries(quick: bool) -> dict[str, str]:
    found = {}
    for suite in ("tpch", "tpcds"):
        parts = re.split(r"^-- (\S+)\n", (DATA / f"{suite}.sql").read_text(), flags=re.MULTILINE)[1:]
        found |= dict(zip(parts[::2], (text.strip().rstrip(";") for text in parts[1::2])))
    return dict(list(found.items())[::4]) if quick else found


def ours(schema: dict[str, dict[str, str]]) -> Answer:
    known = headwater.import_schema(schema)

    def answer(sql: str) -> int:
        result = headwater.analyze(sql, dialect="duckdb", schema=known)
        (statement,) = result.statements
        assert not result.has_errors, result.issues
        # Every output column has an answer; for COUNT(*), ROW_NUMBER() and constants it is that nothing flows in.
        return len(statement.columns)

    return answer


def sqlglot(schema: dict[str, dict[str, str]]) -> Answer:
    from sqlglot.lineage import lineage

    def answer(sql: str) -> int:
        return len(lineage(None, sql, schema, dialect="duckdb", trim_selects=False))

    return answer


def datahub(schema: dict[str, dict[str, str]]) -> Answer:
    from datahub.sql_parsing.schema_resolver import SchemaResolver
    from datahub.sql_parsing.sqlglot_lineage import _sqlglot_lineage_cached, sqlglot_lineage

    resolver = SchemaResolver(platform="duckdb")
    for table, columns in schema.items():
        resolver.add_raw_schema_info(f"urn:li:dataset:(urn:li:dataPlatform:duckdb,{table},PROD)", columns)

    def answer(sql: str) -> int:
        _sqlglot_lineage_cached.cache_clear()
        result = sqlglot_lineage(sql, resolver, override_dialect="duckdb")
        return len(result.column_lineage or ())

    return answer


def sqllineage(schema: dict[str, dict[str, str]]) -> Answer:
    from sqllineage.core.metadata.dummy import DummyMetaDataProvider
    from sqllineage.runner import LineageRunner

    provider = DummyMetaDataProvider({f"<default>.{table}": list(columns) for table, columns in schema.items()})

    def answer(sql: str) -> int:
        runner = LineageRunner(f"CREATE TABLE result AS {sql}", dialect="duckdb", metadata_provider=provider)
        return len({path[-1] for path in runner.get_column_lineage()})

    return answer


def inbq(schema: dict[str, dict[str, str]]) -> Answer:
    import inbq
    import sqlglot

    types = {"VARCHAR": "string", "INTEGER": "int64", "BIGINT": "int64", "DATE": "date"}
    objects = [
        {
            "name": table,
            "kind": {
                "table": {
                    "columns": [{"name": name, "dtype": types.get(type, "numeric")} for name, type in columns.items()]
                }
            },
        }
        for table, columns in schema.items()
    ]
    catalog = {"schema_objects": objects}
    spelt = {}
    for sql in queries(False).values():
        (spelt[sql],) = sqlglot.transpile(
            sql, read="duckdb", write="bigquery", unsupported_level=sqlglot.ErrorLevel.IGNORE
        )
    pipeline = inbq.Pipeline().config(raise_exception_on_error=False, parallel=False).parse()
    pipeline = pipeline.extract_lineage(catalog=catalog)

    def answer(sql: str) -> int:
        (found,) = inbq.run_pipeline([spelt[sql]], pipeline=pipeline).lineages
        return sum(len(each.nodes) for each in found.lineage.objects) if hasattr(found, "lineage") else 0

    return answer


def openlineage_sql(schema: dict[str, dict[str, str]]) -> Answer:
    from openlineage_sql import parse

    def answer(sql: str) -> int:
        return len(parse([f"CREATE TABLE result AS {sql}"], dialect="postgres").column_lineage)

    return answer


def timed(answer: Answer, texts: list[str], passes: int) -> tuple[float, int]:
    """Statements per CPU second, and how many could not be answered."""
    answered = []
    for text in texts:
        try:
            if answer(text):
                answered.append(text)
        except Exception:
            continue
    if not answered:
        sys.exit("no query was answered: the peer's interface has changed")
    seconds = cpu_seconds(lambda: [answer(text) for text in answered], passes=passes)
    return len(answered) / seconds, len(texts) - len(answered)


def growth(make: Callable[[int], str], sizes: tuple[int, int]) -> float:
    """How much the cost per unit grows from the smaller to the larger size; 1 is linear."""
    costs = []
    for size in sizes:
        text = make(size)
        headwater.analyze(text, dialect="duckdb")
        work = lambda text=text: headwater.analyze(text, dialect="duckdb")  # noqa: E731
        costs.append(cpu_seconds(work, passes=9) / size)
    return costs[1] / costs[0]


def chain_of_ctes(size: int) -> str:
    parts = ["c0 AS (SELECT a, b FROM t)"]
    parts += [f"c{i} AS (SELECT a + {i} AS a, b FROM c{i - 1} WHERE b > {i})" for i in range(1, size)]
    return f"WITH {', '.join(parts)} SELECT a, b FROM c{size - 1}"


def wide_select(size: int) -> str:
    return f"SELECT {', '.join(f'c{i} + 1 AS d{i}' for i in range(size))} FROM t WHERE c0 > 1"


def main() -> None:
    args = arguments(__doc__)
    schema = json.loads((DATA / "tpc_schema.json").read_text())
    texts = list(queries(args.quick).values())
    tools: dict[str, tuple[Callable[[dict[str, dict[str, str]]], Answer], int]] = {
        "headwater": (ours, 5),
        "sqlglot": (sqlglot, 3),
        "datahub": (datahub, 1),
        "sqllineage": (sqllineage, 1),
        "inbq": (inbq, 3),
        "openlineage_sql (no schema)": (openlineage_sql, 3),
    }
    rates: dict[str, float] = {}
    rows: list[tuple[object, ...]] = []
    for name, (make, passes) in tools.items():
        try:
            answer = make(schema)
        except ImportError as err:
            sys.exit(f"{name} is not installed ({err.name}): `make bench` installs the peers into .venv-bench")
        rates[name], failed = timed(answer, texts, passes)
        rows.append((name, f"{rates[name]:.1f}", f"{rates['headwater'] / rates[name]:.2f}", failed))
    report = Report("lineage")
    peers = {name.split()[0]: rate for name, rate in rates.items() if name != "headwater"}
    report.ratios = {f"headwater/{peer}": rates["headwater"] / rate for peer, rate in peers.items()}
    for peer, floor in (("sqlglot", 2.2), ("datahub", 10), ("sqllineage", 50)):
        report.floor(f"times {peer}", report.ratios[f"headwater/{peer}"], floor)
    report.floor("answered of all", (len(texts) - rows[0][3]) / len(texts), 1.0)
    for name, make_text in (("CTEs", chain_of_ctes), ("columns", wide_select)):
        grown = growth(make_text, (10, 1000))
        rows.append((f"cost per unit, 1,000 over 10 {name}", "", f"{grown:.2f}", ""))
        report.floor(f"growth over {name}", grown, 1.2, most=True)
    report.finish(("tool", "statements/s", "headwater is × faster", "not answered"), rows)


if __name__ == "__main__":
    main()
