"""Run every command on every table format under the agent, and compare its event with what must be in it.

    .venv-spark-4.1/bin/python docs/spark_matrix.py     # for the Spark of that environment

The findings go to docs/spark-matrix.json, of which docs/spark_commands.py makes a page. Of each command
four things are compared: the datasets that it reads and writes, columns, the version of the table, and rows.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyspark

FOUND = Path(__file__).parent / "spark-matrix.json"
RELEASE = ".".join(pyspark.__version__.split(".")[:2])
SCALA = "2.12" if RELEASE == "3.5" else "2.13"


@dataclass(frozen=True)
class Format:
    """A table format: how Spark is set up for it, and in which catalog its tables are."""

    packages: dict[str, str]  # release of Spark → what to fetch
    settings: dict[str, str]
    catalog: str = "spark_catalog"
    using: str = ""
    versions: bool = True
    properties: str = ""
    empty_version: bool = True  # a table has a version before anything is written to it


FORMATS = {
    "parquet": Format({}, {}, using="USING parquet", versions=False),
    "hive": Format({}, {"spark.sql.catalogImplementation": "hive"}, using="STORED AS ORC", versions=False),
    "headwater": Format({}, {}, catalog="hw", properties="TBLPROPERTIES ('primary-key' = 'id')"),
    "delta": Format(
        {
            "3.5": "io.delta:delta-spark_2.12:3.3.3",
            "4.0": "io.delta:delta-spark_2.13:4.0.0",
            "4.1": "io.delta:delta-spark_4.1_2.13:4.4.0",
            "4.2": "io.delta:delta-spark_4.2_2.13:4.4.0",
        },
        {
            "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
            "spark.databricks.delta.snapshotPartitions": "1",
        },
        using="USING delta",
    ),
    "iceberg": Format(
        {
            "3.5": "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.12.0",
            "4.0": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.11.0",
            "4.1": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
        },
        {
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.ice.type": "hadoop",
            "spark.sql.catalog.ice.warehouse": "{folder}/ice",
        },
        catalog="ice",
        empty_version=False,
    ),
    "paimon": Format(
        {"3.5": "org.apache.paimon:paimon-spark-3.5:0.9.0"},
        {
            "spark.sql.extensions": "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions",
            "spark.sql.catalog.pai": "org.apache.paimon.spark.SparkCatalog",
            "spark.sql.catalog.pai.warehouse": "{folder}/pai",
        },
        catalog="pai",
        properties="TBLPROPERTIES ('primary-key' = 'id')",
    ),
    "hudi": Format(
        {"3.5": "org.apache.hudi:hudi-spark3.5-bundle_2.12:1.2.0"},
        {
            "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
            "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
            "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
        },
        using="USING hudi",
        properties="TBLPROPERTIES (primaryKey = 'id')",
    ),
}


@dataclass(frozen=True)
class Command:
    """A statement, and what its event must say; `None` where nothing is to be said."""

    sql: str
    reads: str = ""
    writes: str = ""
    columns: dict[str, str] | None = None  # name → `table.column`, several with blanks
    rows: int | None = None
    version: bool = True  # of the table that is written, where the format has versions


COMMANDS = {
    "CREATE TABLE": Command(
        "CREATE TABLE {c}shop.orders (id INT, n INT, c STRING) {using} {properties}", "", "orders"
    ),
    "INSERT VALUES": Command("INSERT INTO {c}shop.orders VALUES (1, 10, 'a'), (2, 20, 'b')", "", "orders", rows=2),
    "INSERT SELECT": Command(
        "INSERT INTO {c}shop.orders SELECT id + 10, n, upper(c) FROM {c}shop.orders",
        "orders",
        "orders",
        {"id": "orders.id", "n": "orders.n", "c": "orders.c"},
        2,
    ),
    "CREATE TABLE AS": Command(
        "CREATE TABLE {c}shop.made {using} {properties} AS SELECT id, n + 1 AS m FROM {c}shop.orders WHERE c > ''",
        "orders",
        "made",
        {"id": "orders.id", "m": "orders.n"},
        4,
    ),
    "INSERT OVERWRITE": Command(
        "INSERT OVERWRITE {c}shop.made SELECT id, n FROM {c}shop.orders",
        "orders",
        "made",
        {"id": "orders.id", "m": "orders.n"},
        4,
    ),
    "UPDATE": Command("UPDATE {c}shop.orders SET n = id + 1 WHERE id = 1", "", "orders", {"n": "orders.id"}),
    "DELETE": Command("DELETE FROM {c}shop.orders WHERE id = 2", "", "orders"),
    "MERGE": Command(
        "MERGE INTO {c}shop.made t USING {c}shop.orders s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET t.m = s.n WHEN NOT MATCHED THEN INSERT (id, m) VALUES (s.id, s.n)",
        "orders",
        "made",
        {"m": "orders.n"},
    ),
    "CREATE OR REPLACE AS": Command(
        "CREATE OR REPLACE TABLE {c}shop.made {using} {properties} AS SELECT id, n AS k FROM {c}shop.orders",
        "orders",
        "made",
        {"id": "orders.id", "k": "orders.n"},
        3,
    ),
    "ALTER TABLE": Command("ALTER TABLE {c}shop.orders ADD COLUMNS (z INT)", "", "orders", version=False),
    "TRUNCATE TABLE": Command("TRUNCATE TABLE {c}shop.made", "", "made", version=False),
    "SELECT": Command("SELECT id, n FROM {c}shop.orders", "orders"),
    "DROP TABLE": Command("DROP TABLE {c}shop.made", "", "made", version=False),
}
_REFUSED = ("UNSUPPORTED", "not support", "PARSE_SYNTAX_ERROR")  # in what Spark or the format says of a statement
FACTS = ("datasets", "columns", "version", "rows")


def compare(command: Command, events: list[dict[str, Any]], versions: bool) -> dict[str, str]:
    """Each fact: `right`, `missing`, `wrong: …`, or `-` where there is nothing to say."""
    last = [event for event in events if event["eventType"] in ("COMPLETE", "FAIL")]
    if not last:
        return dict.fromkeys(FACTS, "no event")
    event = last[-1]
    short = {
        (each["namespace"], each["name"]): each["name"].rsplit("/", 1)[-1].rsplit(".", 1)[-1] for each in _all(event)
    }
    read = {short[each["namespace"], each["name"]] for each in event.get("inputs", ())}
    written = {short[each["namespace"], each["name"]] for each in event.get("outputs", ())}
    wanted = set(command.reads.split()), set(command.writes.split())
    found = {
        "datasets": "right"
        if (read - written, written) == (wanted[0] - wanted[1], wanted[1])
        else f"wrong: {sorted(read)} → {sorted(written)}"
    }
    target = event["outputs"][0] if event.get("outputs") else event["inputs"][0] if event.get("inputs") else {}
    fields = target.get("facets", {}).get("columnLineage", {}).get("fields", {})
    made = {
        name: " ".join(
            sorted(
                {
                    f"{short.get((each['namespace'], each['name']), '?')}.{each['field']}"
                    for each in way["inputFields"]
                    if any(kind["type"] == "DIRECT" for kind in each["transformations"])
                }
            )
        )
        for name, way in fields.items()
    }
    changed = {name: made.get(name) for name in command.columns or {}}
    found["columns"] = (
        "-"
        if command.columns is None
        else "right"
        if changed == command.columns
        else f"wrong: {made}"
        if made
        else "missing"
    )
    version = target.get("facets", {}).get("version", {}).get("datasetVersion")
    found["version"] = "-" if not versions or not command.version else "right" if version else "missing"
    rows = target.get("outputFacets", {}).get("outputStatistics", {}).get("rowCount")
    found["rows"] = (
        "-"
        if command.rows is None
        else "right"
        if rows == command.rows
        else "missing"
        if rows is None
        else f"wrong: {rows}"
    )
    return found


def _all(event: dict[str, Any]) -> list[dict[str, Any]]:
    return [*event.get("inputs", ()), *event.get("outputs", ())]


def run(name: str, folder: Path) -> dict[str, dict[str, str]]:
    """Run all commands on a format, in this process."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    from headwater.spark import observe
    from headwater.spark.environment import spark_environment

    os.environ |= spark_environment()
    chosen = FORMATS[name]
    builder = SparkSession.builder.master("local[1]").appName(name)
    settings = {
        "spark.ui.enabled": "false",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder}/metastore;create=true",
    }
    if RELEASE in chosen.packages:
        settings["spark.jars.packages"] = chosen.packages[RELEASE]
    for key, value in (settings | chosen.settings).items():
        builder = builder.config(key, value.format(folder=folder))
    spark = builder.getOrCreate()
    if name == "headwater":
        import headwater.spark

        headwater.spark.connect(spark, folder / "wh")
    catalog = "" if chosen.catalog == "spark_catalog" else f"{chosen.catalog}."
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {catalog}shop")
    agent = observe(spark, f"file:{folder}/events.ndjson", job="job", start_events=False)
    agent.flush(60)
    found, seen = {}, 0
    for title, command in COMMANDS.items():
        try:
            rows = spark.sql(command.sql.format(c=catalog, using=chosen.using, properties=chosen.properties))
            rows.collect() if title == "SELECT" else None
        except PySparkException as err:
            said = str(err).strip().splitlines()[0][:80]
            refused = any(word in str(err) for word in _REFUSED)
            found[title] = dict.fromkeys(FACTS, "not supported" if refused else "did not run") | {"why": said}
            agent.flush(60)
            seen = len(_lines(folder))
            continue
        agent.flush(60)
        lines = _lines(folder)
        versions = chosen.versions and (chosen.empty_version or title != "CREATE TABLE")
        found[title] = compare(command, [json.loads(line) for line in lines[seen:]], versions)
        seen = len(lines)
    spark.stop()
    return found


def _lines(folder: Path) -> list[str]:
    file = folder / "events.ndjson"
    return file.read_text().splitlines() if file.exists() else []


def main() -> None:
    if len(sys.argv) > 2:
        print(json.dumps(run(sys.argv[1], Path(sys.argv[2]))))
        return
    before = json.loads(FOUND.read_text()) if FOUND.exists() else {}
    kept = {version: found for version, found in before.items() if not version.startswith(f"{RELEASE}.")}
    here = kept[pyspark.__version__] = {}
    for name, each in FORMATS.items():
        if (each.packages and RELEASE not in each.packages) or (name == "headwater" and RELEASE < "4.1"):
            here[name] = "no release"
            continue
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, __file__, name, folder]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900)
        if done.returncode:
            print(done.stderr[-3000:], file=sys.stderr)
            here[name] = "did not start"
            continue
        here[name] = json.loads(done.stdout.splitlines()[-1])
        print(RELEASE, name, json.dumps(here[name], indent=1), flush=True)
    FOUND.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")


if __name__ == "__main__":
    main()
