"""Harvests: what they write, what they do not do twice, and what they take away."""

import json
import os
import random
import subprocess
import sys

import pytest

from headwater.graph import GraphStore, LineageGraph
from headwater.graph.tables import COLUMNS, DATASETS, EDGES, ISSUES, STATEMENTS, UNITS
from headwater.jobs.harvest.harvest import HarvestOptions, harvest
from headwater.jobs.harvest.sources import Estate, read_estate
from headwater.jobs.harvest.units import Script
from headwater.lake.tables import Warehouse
from tests.jobs import estates

OPTIONS = HarvestOptions(schema=estates.SCHEMA)
SHOWN = (DATASETS, COLUMNS, STATEMENTS, EDGES, ISSUES)


def estate_of(texts, *, dialect="postgres", root="sql"):
    return Estate(tuple(Script(f"{root}/{name}", text, dialect, root) for name, text in texts), (root,))


def rows_of(store):
    state = store.state()
    return {
        spec.name: sorted(state.read(spec).to_pylist(), key=lambda row: [str(row[name]) for name in spec.key])
        for spec in SHOWN
    }


@pytest.fixture
def store(tmp_path):
    return GraphStore(Warehouse(tmp_path / "lake"))


def test_a_folder(store, tmp_path):
    folder = tmp_path / "sql"
    folder.mkdir()
    (folder / "1.sql").write_text("CREATE TABLE stg.o AS SELECT id, amount * 2 AS twice FROM raw.orders;\n")
    (folder / "2.sql").write_text("CREATE VIEW mart.v AS SELECT * FROM stg.o;\nSELEC 1;\n")
    summary = harvest(store, read_estate([str(folder)], "postgres"), OPTIONS)
    assert (summary.statements, summary.analysed, summary.removed, summary.findings) == (3, 3, 0, 1)
    answer = LineageGraph(store.state()).trace("mart.v.twice")
    assert [str(node) for node in answer.nodes] == ["stg.o.twice", "raw.orders.amount"]
    assert {step.place for step in answer.steps} == {f"{folder}/1.sql:1", f"{folder}/2.sql:1"}
    assert store.harvests()[-1]["sources"] == [str(folder)]


def test_a_temporary_table_is_there_once(store):
    made = [
        ("1.sql", "CREATE TEMP TABLE recent AS SELECT id FROM raw.orders; CREATE TABLE m.r AS SELECT id FROM recent")
    ]
    harvest(store, estate_of(made), OPTIONS)
    rows = rows_of(store)
    for name in ("datasets", "columns", "edges"):
        assert not [
            row for row in rows[name] if "recent" in (row.get("dataset"), row.get("source"), row.get("target"))
        ]
    assert "sql/1.sql:recent" in {row["dataset"] for row in rows["datasets"]}


def test_the_tables_of_the_graph_are_no_columns_of_an_estate(store):
    store.create()
    schema = str(store.warehouse.url)
    store.warehouse.create_database("raw")
    store.warehouse.create_table("raw.orders", {"id": "BIGINT"})
    made = [("1.sql", "CREATE TABLE m.r AS SELECT id FROM raw.orders")]
    harvest(store, estate_of(made), HarvestOptions(schema=schema))
    assert {row["dataset"] for row in rows_of(store)["columns"]} == {"raw.orders", "m.r"}


def test_a_harvest_that_only_reads_a_table_takes_none_of_its_columns(store):
    made = [("1.sql", "CREATE TABLE m.r AS SELECT x, count(*) AS n FROM s.t GROUP BY x")]
    harvest(store, estate_of(made, root="a"), HarvestOptions())
    before = [row for row in rows_of(store)["columns"] if row["dataset"] == "m.r"]
    harvest(store, estate_of([("2.sql", "CREATE TABLE m.top AS SELECT n FROM m.r")], root="b"), HarvestOptions())
    assert [row for row in rows_of(store)["columns"] if row["dataset"] == "m.r"] == before
    made = [("1.sql", "CREATE TABLE m.r AS SELECT x FROM s.t GROUP BY x")]  # whoever makes it says what it has
    harvest(store, estate_of(made, root="a"), HarvestOptions())
    assert [row["column"] for row in rows_of(store)["columns"] if row["dataset"] == "m.r"] == ["x"]


def test_what_has_not_changed_is_not_analysed_again(store):
    texts = [
        ("1.sql", "CREATE TABLE stg.o AS SELECT id, amount FROM raw.orders; SELECT 1 AS one"),
        ("2.sql", "CREATE TABLE mart.a AS SELECT * FROM stg.o"),
        ("3.sql", "CREATE TABLE mart.b AS SELECT id FROM raw.orders"),
    ]
    harvest(store, estate_of(texts), OPTIONS)
    before = rows_of(store)
    assert harvest(store, estate_of(texts), OPTIONS).analysed == 0
    assert rows_of(store) == before
    texts[0] = ("1.sql", texts[0][1].replace("id, amount", "id, amount, status"))
    summary = harvest(store, estate_of(texts), OPTIONS)
    assert summary.analysed == 3, "the changed one, the one that it moved, and the one that reads what it makes"
    assert LineageGraph(store.state()).trace("mart.a.status").nodes


def test_what_is_gone_loses_its_lineage(store):
    texts = [
        ("1.sql", "CREATE TABLE a AS SELECT id FROM raw.orders"),
        ("2.sql", "CREATE TABLE b AS SELECT id FROM a"),
    ]
    harvest(store, estate_of(texts), OPTIONS)
    harvest(store, estate_of([("x.sql", "CREATE TABLE c AS SELECT id FROM a")], root="other"), OPTIONS)
    summary = harvest(store, estate_of(texts[:1]), OPTIONS)
    assert summary.removed == 1
    state = store.state()
    assert state.read(STATEMENTS).column("statement").to_pylist() == ["other/x.sql#0", "sql/1.sql#0"]
    assert "b" not in state.read(DATASETS).column("dataset").to_pylist()
    assert set(state.read(EDGES).column("target").to_pylist()) == {"a", "c"}
    harvest(store, Estate((), ("sql",)), OPTIONS)
    assert store.state().read(UNITS).column("root").to_pylist() == ["other"]
    assert len(LineageGraph(store.state(1)).impact("raw.orders.id").nodes) == 2, "the past stays"


@pytest.mark.slow
@pytest.mark.property
@pytest.mark.parametrize("seed", range(12))
def test_harvests_of_changes_lead_where_one_harvest_leads(seed, tmp_path):
    """Whatever is edited, added and removed between harvests, the tables are those of a harvest from scratch."""
    chance = random.Random(seed)
    store = GraphStore(Warehouse(tmp_path / "lake"))
    texts = estates.scripts(seed)
    for step in range(4):
        harvest(store, estate_of(texts), OPTIONS)
        fresh = GraphStore(Warehouse(tmp_path / f"fresh{step}"))
        harvest(fresh, estate_of(texts), OPTIONS)
        assert rows_of(store) == rows_of(fresh)
        others = dict(estates.scripts(chance.randrange(1000)))
        texts = [each for each in texts if chance.random() < 0.8] or texts
        texts = sorted((dict(texts) | dict(chance.sample(sorted(others.items()), 1))).items())


def test_scripts_come_after_what_they_read(store):
    """Files are named in the order of the alphabet, not in that in which they run."""
    texts = [
        ("a_mart.sql", "CREATE VIEW mart AS SELECT * FROM stg"),
        ("b_stg.sql", "CREATE VIEW stg AS SELECT id, amount FROM raw.orders"),
    ]
    summary = harvest(store, estate_of(texts), OPTIONS)
    assert summary.findings == 0
    assert [str(node) for node in LineageGraph(store.state()).trace("mart.amount").nodes] == [
        "stg.amount",
        "raw.orders.amount",
    ]


def test_the_tables_know_where_they_come_from(store):
    harvest(store, estate_of([("1.sql", "CREATE TABLE a AS SELECT id FROM raw.orders")]), OPTIONS)
    edges = store.table(EDGES).snapshot().origin
    statements = store.table(STATEMENTS).snapshot()
    assert edges.run_id == statements.origin.run_id == store.harvests()[-1]["harvest"]
    assert [(each.dataset, each.snapshot_id) for each in edges.inputs] == [("lineage.statements", 1)]
    assert ("source_column", "text") in {(each.column, each.source) for each in edges.columns}
    assert [each.dataset for each in statements.origin.inputs] == ["sql"]


def test_a_dead_harvest_leaves_nothing_behind(store, tmp_path, monkeypatch):
    """The rows that it wrote are not seen, and the next harvest does away with them, even if all is as before."""
    from headwater.lake.tables import Table

    old = [("1.sql", "CREATE TABLE a AS SELECT id FROM raw.orders"), ("2.sql", "CREATE TABLE b AS SELECT id FROM a")]
    new = [("1.sql", "CREATE TABLE a AS SELECT amount, status FROM raw.orders"), *old[1:]]
    harvest(store, estate_of(old), OPTIONS)
    wanted = rows_of(store)
    real = Table.write
    for dies_at in range(1, 8):
        for texts in (new, old):
            left = [dies_at]

            def write(self, *args, left=left, **options):
                left[0] -= 1
                if left[0] == 0:
                    raise KeyboardInterrupt
                return real(self, *args, **options)

            monkeypatch.setattr(Table, "write", write)
            try:
                harvest(store, estate_of(texts), OPTIONS)
            except KeyboardInterrupt:
                assert rows_of(store) == wanted
            monkeypatch.setattr(Table, "write", real)
        harvest(store, estate_of(old), OPTIONS)
        assert rows_of(store) == wanted


def _harvest_with_hash_seed(seed, warehouse, folder):
    names = [f"{dialect}={folder / dialect}" for dialect in ("bigquery", "postgres", "snowflake")]
    command = [sys.executable, "-m", "headwater", "--json", "--warehouse", warehouse, "harvest", *names]
    env = os.environ | {"PYTHONHASHSEED": str(seed)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.slow
def test_results_do_not_depend_on_the_order_of_sets(tmp_path):
    """Python orders sets of strings anew in every process; `PYTHONHASHSEED` stands for the process."""
    folder = tmp_path / "sql"
    for dialect in ("bigquery", "postgres", "snowflake"):
        for seed in range(3):
            for name, text in estates.scripts(seed, dialect=dialect):
                file = folder / dialect / str(seed) / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
    functions = ("twice", "half", "net", "gross", "plus_one")
    for name in functions:
        (folder / "bigquery" / f"0_{name}.sql").write_text(f"CREATE FUNCTION {name}(x INT64) AS (x * 2)")
    calls = "CREATE TABLE ds.prices AS SELECT twice(half(net(gross(plus_one(id))))) AS v FROM raw.orders"
    (folder / "bigquery" / "9_calls.sql").write_text(calls)
    one, other = tmp_path / "one", tmp_path / "other"
    assert _harvest_with_hash_seed(1, one, folder)["analysed"] > 20
    assert _harvest_with_hash_seed(2, one, folder)["analysed"] == 0
    _harvest_with_hash_seed(3, other, folder)
    stores = [GraphStore(Warehouse(path)) for path in (one, other)]
    assert rows_of(stores[0]) == rows_of(stores[1])
    units = [sorted(map(str, _units(store))) for store in stores]
    assert units[0] == units[1]


def _units(store):
    return store.table(UNITS).to_arrow(["unit", "fingerprint", "sight", "effects"]).to_pylist()
