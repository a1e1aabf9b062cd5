"""Beside Java: column lineage of the TPC queries by Headwater and by Google's ZetaSQL toolkit for BigQuery.

    python benchmarks/java/compare.py

needs a JDK and Maven, which fetches the toolkit. Both analyse the same texts with the same tables and give the
lineage of each output column; CPU time is compared, of the first pass and of the best later one. It is no part of
`make bench`.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import sqlglot

from headwater.lineage import SchemaResolver
from headwater.lineage.imports import schema_of_mapping
from headwater.lineage.readings import column_lineage
from headwater.lineage.script import analyze_script
from headwater.text import Source
from headwater.zetasql.frontend import GoogleSqlFrontEnd

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "data"
TABLES = json.loads((DATA / "tpc_schema.json").read_text())
PASSES = 5
_KINDS = {"BIGINT": "INT64", "INTEGER": "INT64", "VARCHAR": "STRING", "DATE": "DATE", "DECIMAL": "NUMERIC"}
# GoogleSQL has no list of column names behind an alias, which these have
_LEFT_OUT = ("tpch-13",)


def queries() -> list[str]:
    """The queries as BigQuery text."""
    found = []
    for name in ("tpch", "tpcds"):
        for part in re.split(r"(?m)^-- (?=tpc)", (DATA / f"{name}.sql").read_text()):
            title, _, sql = part.partition("\n")
            if sql.strip() and title.strip() not in _LEFT_OUT:
                found.append(sqlglot.transpile(sql.strip().rstrip(";"), read="duckdb", write="bigquery")[0])
    return found


def ours(texts: list[str]) -> list[tuple[float, int]]:
    """CPU milliseconds and output columns of each pass."""
    schema, front_end = schema_of_mapping(TABLES), GoogleSqlFrontEnd()
    passes = []
    for _ in range(PASSES):
        began, columns = time.process_time(), 0
        for text in texts:
            for found in analyze_script(Source(text), front_end, SchemaResolver(schema, dialect="bigquery")):
                columns += len(column_lineage(found))
        passes.append(((time.process_time() - began) * 1000, columns))
    return passes


def theirs(texts: list[str], folder: Path) -> list[tuple[float, int]]:
    """The same of the toolkit."""
    shutil.copytree(HERE, folder, dirs_exist_ok=True)
    (folder / "queries").write_text("\0".join(texts))
    rows = [
        f"{table}\t{column}\t{_KINDS[kind.partition('(')[0]]}\n"
        for table in TABLES
        for column, kind in TABLES[table].items()
    ]
    (folder / "tables").write_text("".join(rows))
    fetch = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"]
    subprocess.run(fetch, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["javac", "-cp", "lib/*", "Toolkit.java"], cwd=folder, check=True)
    command = ["java", "-cp", "lib/*:.", "Toolkit", "tables", "queries", str(PASSES)]
    run = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    return [(float(line.split()[0]), int(line.split()[1])) for line in run.stdout.splitlines()]


def main() -> int:
    texts = queries()
    with tempfile.TemporaryDirectory() as folder:
        java = theirs(texts, Path(folder))
    here = ours(texts)
    assert java[0][1] == here[0][1], f"the toolkit gives {java[0][1]} columns, Headwater {here[0][1]}"
    print(f"{len(texts)} queries, {here[0][1]} output columns; CPU milliseconds")
    for name, a, b in (
        ("first pass", java[0][0], here[0][0]),
        ("best later pass", min(java[1:])[0], min(here[1:])[0]),
    ):
        print(f"{name}: Java {a:,.0f}, Headwater {b:,.0f}: {a / b:.0%} of Java's speed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
