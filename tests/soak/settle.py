"""After the last kill: let everything come to rest, clean up, and write down what our own reader says.

`python -m tests.soak.settle FOLDER` writes `ours.json`, which the checker compares with its own opinion.
"""

import json
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from headwater import Warehouse
from headwater.errors import NotFoundError
from headwater.files import LocalFiles
from headwater.graph import GraphStore
from headwater.graph.tables import EDGES, ISSUES, RUNS, STATEMENTS
from headwater.jobs.harvest.harvest import HarvestOptions, harvest
from headwater.jobs.harvest.sources import read_estate
from headwater.lake.tables import Table
from headwater.server.intake import Intake
from tests.jobs import estates
from tests.soak.actors import lake_of
from tests.soak.readers import TABLES, write_estate
from tests.soak.stage import Stage, read_journal


def rows_of(table: Table) -> list[dict[str, Any]]:
    """The rows of a table by the ids of its fields."""
    ids = {field.name: str(field.id) for field in table.schema.fields}
    return [{ids[name]: value for name, value in row.items()} for row in table.to_arrow().to_pylist()]


def come_to_rest(stage: Stage) -> None:
    """Rows in logs are committed, events in the journal come into the graph, the estate is harvested once more."""
    lake = lake_of(stage, "lake")
    lake.table("db.rows").writer().close()
    intake = Intake(GraphStore(lake))
    intake.start()
    try:
        intake.drain()
    finally:
        intake.stop()
    turns = [line for line in read_journal(stage.journal("harvester")) if line["kind"] == "intend"]
    write_estate(stage, len(turns))
    options = HarvestOptions(schema=estates.SCHEMA)
    harvest(GraphStore(lake), read_estate([str(stage.estate)], "postgres"), options)


def clean_up(stage: Stage) -> None:
    """Half of the tables are compacted; of all, only the newest snapshots stay, and what they need."""
    for where, names in TABLES.items():
        warehouse = lake_of(stage, where)
        found = (
            [*names, *(f"lineage.{name}" for name in warehouse.list_tables("lineage"))] if where == "lake" else names
        )
        for number, name in enumerate(found):
            table = warehouse.table(name)
            if number % 2:
                table.compact()
            for lease in table.store.files.list(table.store.paths.lease_folder):
                table.store.files.delete(lease.path)  # of readers that were killed
            if not name.startswith("lineage."):
                table.expire_snapshots(keep_min=3, older_than=0)
            time.sleep(0.01)
            table.remove_orphans(older_than=0, dry_run=False)
        if isinstance(warehouse.files, LocalFiles):
            warehouse.files.sweep(older_than=0)


def graph_rows(store: GraphStore) -> dict[str, list[dict[str, Any]]]:
    """What the harvest says, without what was observed and what depends on the time."""
    state = store.state()
    found: dict[str, list[dict[str, Any]]] = {}
    for spec in (STATEMENTS, EDGES, ISSUES):
        rows = [row for row in state.read(spec).to_pylist() if not row.get("observed")]
        found[spec.name] = sorted(
            json.loads(json.dumps(rows, default=str)), key=lambda row: json.dumps(row, sort_keys=True)
        )
    return found


def main(folder: str) -> None:
    stage = Stage.load(folder)
    come_to_rest(stage)
    clean_up(stage)
    ours: dict[str, Any] = {"tables": {}, "runs": []}
    for where, names in TABLES.items():
        for name in names:
            ours["tables"][f"{where}/{name}"] = rows_of(lake_of(stage, where).table(name))
    store = GraphStore(lake_of(stage, "lake"))
    with suppress(NotFoundError):
        ours["runs"] = store.state().read(RUNS, ["run"]).column(0).to_pylist()
    ours["graph"] = graph_rows(store)
    with TemporaryDirectory() as fresh:
        other = GraphStore(Warehouse(Path(fresh) / "lake"))
        harvest(other, read_estate([str(stage.estate)], "postgres"), HarvestOptions(schema=estates.SCHEMA))
        ours["fresh"] = graph_rows(other)
    (stage.root / "ours.json").write_text(json.dumps(ours, default=str))


if __name__ == "__main__":
    main(sys.argv[1])
