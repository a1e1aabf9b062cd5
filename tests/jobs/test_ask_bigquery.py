"""A harvest asks BigQuery for tables that the schema does not have, as `lineage` does."""

from headwater.cli.main import run
from headwater.graph import GraphStore, LineageGraph
from headwater.graph.tables import STATEMENTS
from headwater.jobs.harvest.harvest import HarvestOptions, harvest
from tests.jobs.test_harvest import estate_of
from tests.zetasql.test_warehouse import Api, tables

__all__ = ["tables"]  # the fixture
STAGING = "CREATE TABLE d.stg AS SELECT o.id, o.addr.city FROM `p.d.orders` AS o;"
MART = """\
CREATE TABLE d.mart AS WITH orders AS (SELECT * FROM d.stg) SELECT city FROM orders;
CREATE TABLE d.more AS SELECT i.sku FROM p.d.orders AS o, o.items AS i;
CREATE TABLE d.known AS SELECT a FROM d.given;
"""


def test_the_schema_comes_from_bigquery(tmp_path, tables):
    store = GraphStore(str(tmp_path / "lake"))
    estate = estate_of([("1.sql", STAGING), ("2.sql", MART)], dialect="bigquery")
    harvest(store, estate, HarvestOptions(schema={"d.given": {"a": "INT64"}}, tables=tables, spark=False))
    assert [path.rsplit("/", 1)[1] for path in Api.asked] == ["orders"]  # once, and what is made or known not at all
    state = store.state()
    assert set(state.read(STATEMENTS).column("status").to_pylist()) == {"resolved"}
    traced = {str(node) for node in LineageGraph(state).trace("d.mart").nodes}
    assert traced >= {"d.stg.city", "p.d.orders.addr.city"}


def test_tables_that_bigquery_does_not_have_stay_unknown(tmp_path, tables):
    store = GraphStore(str(tmp_path / "lake"))
    estate = estate_of([("1.sql", "CREATE TABLE d.x AS SELECT a FROM p.d.nope")], dialect="bigquery")
    summary = harvest(store, estate, HarvestOptions(tables=tables, spark=False))
    assert [each.table for each in summary.report.unknown_tables] == ["p.d.nope"]


def test_other_dialects_ask_nobody(tmp_path, tables):
    estate = estate_of([("1.sql", "CREATE TABLE x AS SELECT a FROM p.d.orders")], dialect="postgres")
    harvest(GraphStore(str(tmp_path / "lake")), estate, HarvestOptions(tables=tables, spark=False))
    assert Api.asked == []


def test_the_command_asks(tmp_path, monkeypatch, capsys):
    for name in ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    (tmp_path / "a.sql").write_text(STAGING)
    words = ["harvest", str(tmp_path / "a.sql"), "-d", "bigquery", "--warehouse", str(tmp_path / "lake")]
    assert run([*words, "--no-spark", "--ask-bigquery"]) == 2
    assert "BigQuery does not know who asks" in capsys.readouterr().err
