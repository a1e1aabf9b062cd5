"""SQLMesh projects, harvested without SQLMesh."""

from pathlib import Path

from headwater.graph import GraphStore
from headwater.graph.tables import EDGES, STATEMENTS
from headwater.jobs.harvest.harvest import HarvestOptions, harvest
from headwater.jobs.harvest.sources import read_estate
from headwater.lake.tables import Warehouse

FILES = {
    "config.yaml": "gateways: {local: {connection: {type: duckdb}}}\nmodel_defaults:\n  dialect: duckdb\n",
    "external_models.yaml": "- name: raw.people\n  columns: {id: int, zip: text}\n",
    "seeds/names.csv": "id,name\n1,Ann\n",
    "models/names.sql": "MODEL (name shop.names, kind SEED (path '../seeds/names.csv'));\n",
    "models/orders.py": (
        "from sqlmesh import model\n\n\n"
        '@model("shop.orders", columns={"id": "int", "person": "int", "cents": "int"})\n'
        "def execute(context, **kwargs): ...\n"
    ),
    "models/off.sql": "MODEL (name shop.off, enabled false);\nSELECT 1 AS a",
    "models/spent.sql": (
        "/* Who spent what. */\n"
        "MODEL (\n  name shop.spent, -- a comment, with a comma\n"
        "  kind INCREMENTAL_BY_TIME_RANGE (time_column day),\n"
        "  cron '@daily',\n  audits (not_null(columns := (name)))\n);\n\n"
        "CREATE TABLE IF NOT EXISTS tmp.seen AS SELECT id FROM raw.people;\n\n"
        "SELECT n.name, SUM(o.cents) / 100 AS spent, @start_ds AS day\n"
        "FROM shop.orders o JOIN shop.names n ON n.id = o.person WHERE day BETWEEN @start_date AND @end_date\n"
        "GROUP BY 1;\n\n"
        "INSERT INTO tmp.log SELECT id FROM raw.people;\n"
        "@assert_has_columns(shop.spent, {name: 'text'});\n\n"
        "AUDIT (name assert_some);\nSELECT * FROM @this_model WHERE spent < 0;\n"
    ),
    "models/shop/zips.sql": "MODEL (kind VIEW, dialect postgres);\nSELECT zip::int AS zip FROM raw.people",
}


def harvested(tmp_path: Path):
    folder = tmp_path / "project"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    estate = read_estate([str(folder)])
    store = GraphStore(Warehouse(tmp_path / "lake"))
    harvest(store, estate, HarvestOptions())
    return folder, estate, store.state()


def test_models_make_the_tables_of_their_headers(tmp_path):
    folder, estate, state = harvested(tmp_path)
    edges = {
        f"{row['target']}.{row['target_column']} <- {row['source']}.{row['source_column']}"
        for row in state.read(EDGES).to_pylist()
        if row["kind"] in ("IDENTITY", "TRANSFORMATION", "AGGREGATION")
    }
    assert edges == {
        "shop.spent.name <- shop.names.name",
        "shop.spent.spent <- shop.orders.cents",
        "shop.zips.zip <- raw.people.zip",
        "tmp.seen.id <- raw.people.id",
        "tmp.log.id <- raw.people.id",
    }
    assert estate.warnings == ()
    statements = state.read(STATEMENTS, ["statement", "status", "dialect"]).to_pylist()
    assert {row["status"] for row in statements} <= {"resolved"}
    assert {row["statement"]: row["dialect"] for row in statements}[f"{folder}/models/shop/zips.sql#0"] == "postgres"


def test_places_are_those_of_the_file(tmp_path):
    folder, _, state = harvested(tmp_path)
    (row,) = [row for row in state.read(EDGES).to_pylist() if row["target_column"] == "spent"]
    text = (folder / "models/spent.sql").read_text()
    assert text[row["start"] : row["end"]] == "o.cents"
    assert text.splitlines()[row["line"] - 1].startswith("SELECT n.name")


def test_a_python_model_that_cannot_be_read_is_said(tmp_path):
    for name, text in (FILES | {"models/bad.py": "def ("}).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (warning,) = read_estate([str(tmp_path)]).warnings
    assert "bad.py was left out" in warning
