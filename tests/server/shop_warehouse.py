"""A warehouse of the demo's shop to look at: its SQL harvested in three states, observed runs, and lake tables."""

import uuid
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

from headwater.analysis.analyze import Request
from headwater.events import DatasetName, InputDataset, Job, OutputDataset, Run, RunEvent, by_key, timestamp
from headwater.events import EventType as Type
from headwater.events.columns import column_lineage
from headwater.events.facets import (
    ErrorMessageFacet,
    OutputStatisticsFacet,
    ProcessingEngineFacet,
    SourceCodeFacet,
    SqlFacet,
    VersionFacet,
)
from headwater.graph import GraphChange, GraphStore
from headwater.graph.collect import collect
from headwater.graph.observed import ingest
from headwater.graph.tables import ALL_TABLES
from headwater.model.edges import ColumnRef, Edge, Kind
from headwater.model.names import TableName
from headwater.query import connect
from headwater.text import Source

SHOP = Path(str(files("headwater.demo"))) / "shop"
TABLES = """\
CREATE DATABASE raw;
CREATE TABLE raw.orders (id BIGINT, customer_id BIGINT, placed_at TIMESTAMP, status VARCHAR, currency VARCHAR,
  PRIMARY KEY (id));
CREATE TABLE raw.order_items (order_id BIGINT, sku VARCHAR, quantity INT, unit_price DECIMAL(10, 2),
  PRIMARY KEY (order_id, sku));
INSERT INTO raw.orders SELECT i, i % 97, TIMESTAMP '2026-11-01' + INTERVAL (i) MINUTE, 'placed', 'EUR'
  FROM range(4000) t(i);
INSERT INTO raw.order_items SELECT i // 2, 'sku-' || (i % 40), 1 + i % 5, 5 + i % 60 FROM range(8000) t(i);
UPDATE raw.orders SET status = 'cancelled' WHERE id % 50 = 0;
ALTER TABLE raw.orders ADD COLUMN channel VARCHAR;
INSERT INTO raw.orders SELECT i, i % 97, TIMESTAMP '2026-11-04' + INTERVAL (i) MINUTE, 'placed', 'USD', 'app'
  FROM range(4000, 5200) t(i);
CREATE DATABASE mart;
CREATE TABLE mart.best_sellers AS SELECT sku, sum(quantity * unit_price) AS revenue FROM raw.order_items GROUP BY sku;
"""

SEGMENTS = """\
INSERT OVERWRITE mart.segments
SELECT customer_id, upper(country) AS segment
FROM staging.customers
WHERE country IS NOT NULL"""
EXPORT = """\
customers = spark.table("staging.customers").where("country IS NOT NULL")
customers.select("customer_id", upper("country").alias("segment")).writeTo("mart.export").append()
"""


def fill_shop(folder: Path) -> GraphStore:
    """Fill a warehouse."""
    store = GraphStore(str(folder))
    staging, marts = ((SHOP / "snowflake" / name).read_text() for name in ("1_staging.sql", "2_marts.sql"))
    _harvest(store, {"1_staging.sql": staging})
    _harvest(store, {"1_staging.sql": staging, "2_marts.sql": marts})
    for spec in ALL_TABLES:  # so that snapshots are not numbered as states are, and the first state has expired
        store.table(spec).compact()
        store.table(spec).expire_snapshots(keep_min=1, older_than=0)
    with connect(str(folder)) as session:
        session.sql(TABLES)
    ingest(store, _events(), source="spark")
    changed = marts.replace(
        "SUM(d.revenue) AS revenue,", "ROUND(SUM(d.revenue), 2) AS revenue, MAX(d.day) AS latest,"
    )
    typo = (SHOP / "typo.sql").read_text()
    _harvest(store, {"1_staging.sql": staging, "2_marts.sql": changed, "typo.sql": typo})
    return store


def _harvest(store: GraphStore, texts: dict[str, str]) -> None:
    sources = [Source(text, f"models/{name}") for name, text in texts.items()]
    facts = collect(sources, Request(dialect="snowflake", schema=SHOP / "schemas" / "shop.sql"))
    record = {"kind": "harvest", "sources": ["models"], "edges": len(facts.rows["edges"])}
    store.apply(GraphChange(facts, record=record))


def _events() -> list[RunEvent]:
    """Five nights of a job that makes segments of customers, and a job that fails."""
    events = []
    start = datetime.now(UTC) - timedelta(days=5)
    for night in range(5):
        at = start + timedelta(days=night, hours=2)
        events += _run(at, timedelta(seconds=41 + 9 * night), "nightly/segments", night)
        failed = night == 3
        events += _run(at + timedelta(minutes=9), timedelta(seconds=7), "nightly/export", 10 + night, failed=failed)
    return events


def _named(table: TableName) -> DatasetName:
    return DatasetName("headwater:/lake", str(table))


def _run(at: datetime, took: timedelta, name: str, number: int, *, failed: bool = False) -> list[RunEvent]:
    namespace, job = name.split("/")
    source, target = (
        TableName.of("staging", "customers"),
        TableName.of("mart", "segments" if number < 10 else "export"),
    )
    country = ColumnRef(source, "country")
    places = {"segments": "sql:2:21", "export": "jobs/export.py:2"}
    edges = [
        Edge(country, ColumnRef(target, "segment"), Kind.TRANSFORMATION, "upper(country)", place=places[job]),
        Edge(ColumnRef(source, "customer_id"), ColumnRef(target, "customer_id"), Kind.IDENTITY),
        Edge(country, ColumnRef(target, None), Kind.FILTER, "country IS NOT NULL"),
    ]
    output = OutputDataset(
        namespace="headwater:/lake",
        name=str(target),
        facets=by_key(*column_lineage(edges, _named), VersionFacet(dataset_version=str(number + 1))),
        output_facets=by_key(OutputStatisticsFacet(row_count=900 + 40 * number, size=52_000 + 1_900 * number)),
    )
    facets = by_key(ProcessingEngineFacet(version="4.1.0", name="spark"))
    error = ErrorMessageFacet(message="FileNotFoundError: /exports/eu", programming_language="python")
    shared = {"inputs": (InputDataset(namespace="headwater:/lake", name=str(source)),), "outputs": (output,)}
    run = str(uuid.UUID(int=(number + 1) << 64))
    made_by = SqlFacet(query=SEGMENTS) if number < 10 else SourceCodeFacet(language="python", source_code=EXPORT)
    whole = Job(namespace=namespace, name=job, facets=by_key(made_by))
    return [
        RunEvent(event_type=Type.START, event_time=timestamp(at), run=Run(run_id=run, facets=facets), job=whole),
        RunEvent(
            event_type=Type.FAIL if failed else Type.COMPLETE,
            event_time=timestamp(at + took),
            run=Run(run_id=run, facets=facets | by_key(error if failed else None)),
            job=whole,
            **shared,
        ),
    ]
