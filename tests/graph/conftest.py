"""A small estate, harvested into a warehouse."""

import pytest

from headwater.analysis.analyze import Request
from headwater.graph import GraphChange, GraphStore, LineageGraph
from headwater.graph.collect import collect
from headwater.lake.tables import Warehouse
from headwater.text import Source

SCHEMA = {
    "raw.orders": ["id", "customer_id", "amount", "status", "note"],
    "raw.customers": ["id", "email", "name"],
}
STAGING = """\
CREATE TABLE stg.orders AS
SELECT id, customer_id, amount * 100 AS cents FROM raw.orders WHERE status = 'paid';
CREATE VIEW stg.customers AS
SELECT id, lower(email) AS email, md5(name) AS name_hash FROM raw.customers;
"""
MARTS = """\
INSERT INTO mart.revenue (customer_id, email, total)
SELECT c.id, c.email, sum(o.cents) FROM stg.orders o JOIN stg.customers c ON c.id = o.customer_id GROUP BY 1, 2;
CREATE TABLE mart.counts AS SELECT count(*) AS n FROM stg.orders;
"""


def facts_of(*texts, schema=SCHEMA):
    sources = [Source(text, name) for name, text in texts]
    return collect(sources, Request(dialect="postgres", schema=schema))


def harvested(store, *texts, schema=SCHEMA):
    return store.apply(
        GraphChange(facts_of(*texts, schema=schema), record={"kind": "harvest", "sources": ["models"]})
    )


@pytest.fixture
def store(tmp_path):
    return GraphStore(Warehouse(tmp_path / "lake"))


@pytest.fixture
def estate(store):
    harvested(store, ("staging.sql", STAGING), ("marts.sql", MARTS))
    return store


@pytest.fixture
def graph(estate):
    return LineageGraph(estate.state())
