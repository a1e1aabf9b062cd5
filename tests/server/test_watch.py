"""A watched folder: what is written there comes into the graph, what goes away leaves it."""

from tests.server.conftest import serving, wait_for

from headwater.graph import GraphStore, LineageGraph
from headwater.graph.tables import EDGES
from headwater.server.watch import Watch


def sources(store):
    table = store.state().read(EDGES, ["source", "source_column"])
    return {f"{row['source']}.{row['source_column']}" for row in table.to_pylist()}


def test_only_changes_are_harvested(tmp_path):
    store = GraphStore(str(tmp_path / "lake"))
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "a.sql").write_text("CREATE TABLE m.a AS SELECT x FROM raw.t")
    watch = Watch(store, folder)
    assert watch.look()
    assert not watch.look()
    assert sources(store) == {"raw.t.x"}
    (folder / "a.sql").write_text("CREATE TABLE m.a AS SELECT y_2 FROM raw.t")
    (folder / "b.sql").write_text("CREATE TABLE m.b AS SELECT z FROM raw.t")
    assert watch.look()
    assert sources(store) == {"raw.t.y_2", "raw.t.z"}
    (folder / "b.sql").unlink()
    assert watch.look()
    assert sources(store) == {"raw.t.y_2"}


def test_the_command_watches(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "a.sql").write_text("CREATE TABLE m.a AS SELECT x FROM raw.t")
    store = GraphStore(str(tmp_path / "lake"))
    with serving(tmp_path / "lake", "--watch", str(folder)):
        assert wait_for(lambda: store.exists and bool(store.harvests()))
    assert LineageGraph(store.state()).trace("m.a.x").steps
