"""`headwater lake` on tables, run as a person runs it."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.test_main import fails, headwater

from headwater.graph import GraphStore
from headwater.lake.tables import Warehouse


@pytest.fixture
def lake(tmp_path):
    def run(*args, code=0):
        done = headwater("lake", *map(str, args), "--warehouse", str(tmp_path / "w"), cwd=tmp_path)
        assert done.returncode == code, done.stderr
        return done.stdout

    run("create", "sales.orders", "id:BIGINT", "name:STRING NOT NULL", "amount:DECIMAL(10,2)", "--key", "id")
    (tmp_path / "a.csv").write_text("id,name,amount\n1,Ada,10.50\n2,Bob,\n3,Eve,7\n")
    (tmp_path / "b.jsonl").write_text('{"id": 2, "name": "Bobby", "amount": 1.25}\n{"id": 4, "name": "Dan"}\n')
    assert run("load", "sales.orders", "a.csv") == "3 rows in snapshot 1\n"
    assert run("load", "sales.orders", "b.jsonl") == "2 rows in snapshot 2\n"
    return run


def test_the_tables_that_lineage_is_kept_in_are_listed_for_those_who_ask(lake, tmp_path):
    GraphStore(Warehouse(tmp_path / "w")).create()
    assert [row["table"] for row in json.loads(lake("tables", "--json"))] == ["sales.orders"]
    assert "lineage" not in lake("tables")
    assert "lineage.edges" in lake("tables", "lineage")
    every = {row["table"] for row in json.loads(lake("tables", "--all", "--json"))}
    assert {"sales.orders", "lineage.edges"} <= every
    assert lake("tables", "sales").splitlines()[2:] == lake("tables").splitlines()[2:]
    fails(headwater("lake", "tables", "nosuch", "--warehouse", tmp_path / "w"), "not-found", "databases: sales")
    fails(headwater("lake", "read", "orders", "--warehouse", tmp_path / "w"), "not-found", "lake read sales.orders")


def test_counts_of_one_are_singular(lake):
    assert lake("levels", "sales.orders").splitlines()[-1] == "1 partition, 1 bucket, at most 2 sorted runs in one"
    assert lake("compact", "sales.orders") == "1 bucket: 2 files became 1\n"
    assert lake("expire", "sales.orders", "--dry-run") == "0 snapshots and 0 files would go\n"


def test_read_now_and_then(lake, tmp_path):
    now = json.loads(lake("read", "sales.orders", "--json"))
    assert [(row["id"], row["name"], row["amount"]) for row in now] == [
        (1, "Ada", "10.50"),
        (2, "Bobby", "1.25"),
        (3, "Eve", "7.00"),
        (4, "Dan", None),
    ]
    for moment in ("1", "@-1"):
        then = json.loads(lake("read", "sales.orders", "--as-of", moment, "--where", "id = 2", "--json"))
        assert then == [{"id": 2, "name": "Bob", "amount": None}]
    table = lake("read", "sales.orders", "-c", "name", "--where", "amount > 5", "--where", "name like A%")
    assert table.split()[2:] == ["Ada"]
    assert lake("read", "sales.orders", "--where", "amount is null", "-c", "id").split()[2:] == ["4"]
    assert lake("read", "sales.orders", "--where", "id in (1, 3)", "--limit", 1, "-c", "id").split()[2:] == ["1"]
    plan = json.loads(lake("read", "sales.orders", "--where", "id > 100", "--explain", "--json"))
    assert (plan["files"], plan["of_files"], plan["pruned_by_key"]) == (0, 2, 2)
    lake("read", "sales.orders", "--output", tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 4


def test_time_and_upkeep(lake):
    lake("tag", "sales.orders", "v1", "--as-of", "1")
    assert json.loads(lake("tag", "sales.orders", "--json")) == {"v1": 1}
    assert lake("diff", "sales.orders", "v1", code=1).splitlines() == [
        "U  id 2: name Bob → Bobby, amount null → 1.25",
        "+I id 4, name Dan, amount null",
    ]
    versions = json.loads(lake("history", "sales.orders", "2", "--json"))
    assert [(each["snapshot"], each["kind"], each["row"]["name"]) for each in versions] == [
        (1, "+I", "Bob"),
        (2, "U", "Bobby"),
    ]
    assert "at most 2 sorted runs in one" in lake("levels", "sales.orders")
    assert json.loads(lake("levels", "sales.orders", "--json"))["files"] == 2
    assert lake("compact", "sales.orders") == "1 bucket: 2 files became 1\n"
    lake("rollback", "sales.orders", "v1")
    assert lake("diff", "sales.orders", "v1") == ""
    shown = lake("snapshots", "sales.orders")
    assert "ROLLBACK" in shown
    assert "v1" in shown
    assert "3 snapshots and" in lake("expire", "sales.orders", "--keep", 1, "--older-than", 0)
    assert lake("orphans", "sales.orders", "--older-than", 0).endswith("0 files found, 0.0 KB\n")
    assert len(json.loads(lake("files", "sales.orders", "--json"))) == 1
    lake("tag", "sales.orders", "v1", "--delete")
    assert "sales.orders" in lake("tables")
    assert json.loads(lake("schema", "sales.orders", "--json"))["columns"][0]["name"] == "id"


def test_a_table_made_from_a_file(lake, tmp_path):
    pq.write_table(pa.table({"x": [1, 2], "y": ["a", "b"]}), tmp_path / "x.parquet")
    lake("load", "other.t", "x.parquet", "--create", "--key", "x")
    lake("load", "other.t", "x.parquet", "--overwrite")
    assert len(json.loads(lake("read", "other.t", "--json"))) == 2


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("read", "sales.ordres"), "not-found", "there is no table sales.ordres"),
        (
            ("read", "sales.orders", "--where", "nmae = x"),
            "bad-schema",
            "table sales.orders: there is no column `nmae`",
        ),
        (
            ("read", "sales.orders", "--where", "id = x"),
            "bad-schema",
            "column `id` is BIGINT and cannot be compared with 'x'",
        ),
        (("read", "sales.orders", "--as-of", "9"), "not-found", "there is no snapshot 9 of sales.orders"),
        (("load", "sales.orders", "none.csv"), "bad-input", "there is no file none.csv"),
        (("load", "sales.orders", "a.txt"), "usage", "has no ending that says its format"),
        (("history", "sales.orders", "one"), "usage", "`one` is not a value of `id`"),
        (("create", "sales.x", "idINT"), "usage", "`idINT` is not of the form NAME:TYPE"),
    ],
)
def test_errors_say_what_and_where(lake, tmp_path, args, code, message):
    run = headwater("lake", *args, "--warehouse", str(tmp_path / "w"), cwd=tmp_path)
    fails(run, code, message)


@pytest.mark.slow
def test_to_paimon_and_back(lake, tmp_path):
    paimon = tmp_path / "paimon"
    assert lake("publish", "sales.orders", paimon) == f"4 rows in snapshot 1 of {paimon}/sales.db/orders\n"
    assert "is up to date (snapshot 1)" in lake("publish", "sales.orders", paimon)
    lake("load", "sales.orders", "a.csv")
    assert json.loads(lake("publish", "sales.orders", paimon, "--json"))["rows"] == 1
    folder = paimon / "sales.db" / "orders"
    assert lake("import", folder, "sales.copy") == "4 rows in snapshot 1 of sales.copy\n"
    assert lake("read", "sales.copy", "--json") == lake("read", "sales.orders", "--json")
    lake("import", folder, "sales.copy", code=2)
    then = json.loads(lake("import", folder, "sales.copy", "--overwrite", "--snapshot", 1, "--json"))
    assert then == {"snapshot": 2, "rows": 4}
