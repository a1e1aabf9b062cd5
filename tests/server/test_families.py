"""Files that differ by date, number or partition only are one dataset: in pictures, answers and comparisons."""

from tests.server.conftest import client_of
from tests.server.test_api import boxes_of, drawn_lines

from headwater.graph import GraphChange, GraphStore
from headwater.graph.facts import Facts, add_edge
from headwater.graph.tables import DATASETS, EDGES
from headwater.model.edges import ColumnRef, Edge, Kind
from headwater.model.names import TableName

FAMILY = ["raw/2026-03-01/a.csv", "raw/2026-03-02/a.csv"]


def test_files_that_differ_by_date_are_one_dataset(tmp_path):
    facts = Facts()
    target = TableName.of("bronze", "a")
    for name in FAMILY:
        facts.add(DATASETS, dataset=name, kind="file")
        source = ColumnRef(TableName.of(name), "x")
        add_edge(facts, Edge(source, ColumnRef(target, "x"), Kind.IDENTITY), "load")
    for number in range(30):
        use = ColumnRef(TableName.of("use", f"t{number}"), "x")
        add_edge(facts, Edge(ColumnRef(target, "x"), use, Kind.IDENTITY), f"use{number}")
    GraphStore(str(tmp_path)).apply(GraphChange(facts, record={"kind": "harvest"}))
    with client_of(tmp_path) as client:

        def asked(path, **query):
            return client.get(f"/api/v1{path}", params=query).json()

        assert asked("/columns", name="raw/*/a.csv")["members"] == FAMILY
        assert "raw/*/a.csv" in boxes_of(asked("/picture", select="1+bronze.a"))
        assert "raw/*/a.csv" in boxes_of(asked("/picture", select=f"{FAMILY[0]}+1"))
        assert len(asked("/trace", name="bronze.a.x")["edges"]) == 1, "one statement made both"
        edges = asked("/edge", source="raw/*/a.csv", target="bronze.a")["edges"]
        assert [each["source"] for each in edges] == FAMILY
        fan = asked("/picture", select="bronze.a+1")
        assert {box["id"]: box["kind"] for box in fan["boxes"]} == {"bronze.a": "table", "bronze.a>": "many"}
        assert "30 tables" in fan["svg"]
        assert len(asked("/picture", select="bronze.a+1", unfold="bronze.a>")["boxes"]) == 31


def test_a_path_into_a_column_is_a_part_of_it(tmp_path):
    facts = Facts()
    for column in ("items", "items[].sku", "id"):
        source = ColumnRef(TableName.of("raw", "orders"), column)
        add_edge(facts, Edge(source, ColumnRef(TableName.of("stg", "t"), "x"), Kind.IDENTITY), "s")
    GraphStore(str(tmp_path)).apply(GraphChange(facts, record={"kind": "harvest"}))
    with client_of(tmp_path) as client:
        assert client.get("/api/v1/overview").json()["columns"] == 3
        sizes = {each["name"]: each["columns"] for each in client.get("/api/v1/datasets").json()["datasets"]}
        assert sizes == {"raw.orders": 2, "stg.t": 1}
        svg = client.get("/api/v1/picture", params={"select": "1+stg.t"}).json()["svg"]
    assert "raw.orders: table, 2 columns" in svg
    assert "stg.t: table, 1 column<" in svg


def test_files_that_differ_by_date_are_compared_as_one(tmp_path):
    store = GraphStore(str(tmp_path))
    target = TableName.of("bronze", "a")

    def told(names, *, column="x"):
        facts = Facts()
        for name in names:
            facts.add(DATASETS, dataset=name, kind="file")
            source = ColumnRef(TableName.of(name), column)
            add_edge(facts, Edge(source, ColumnRef(target, "x"), Kind.IDENTITY), name)
        return facts

    def changed(name):
        return {EDGES.name: [(name, "bronze.a", "x", name, "x", "IDENTITY")], DATASETS.name: [(name,)]}

    days = [f"raw/2026-03-0{day}/a.csv" for day in range(1, 5)]
    store.apply(GraphChange(told(days[:2]), record={"kind": "harvest"}))  # 1
    store.apply(
        GraphChange(told(days[2:3]), record={"kind": "harvest"}, removed=changed(days[0]))
    )  # 2: one day later
    store.apply(GraphChange(told(days[3:], column="y"), record={"kind": "harvest"}))  # 3: another column
    with client_of(tmp_path) as client:

        def compared(**query):
            found = client.get("/api/v1/picture", params={"select": "1+bronze.a", **query}).json()
            classes = {tuple(line["edges"][0][:2]): style for line, style in zip(found["lines"], drawn_lines(found))}
            return list(boxes_of(found)), classes

        boxes, lines = compared(since="1", at="2")
        assert boxes == ["bronze.a", "raw/*/a.csv"]
        assert lines == {("x", "x"): "line value"}, "a file of another day is no other lineage"
        boxes, lines = compared(since="2")
        assert boxes == ["bronze.a", "raw/*/a.csv"]
        assert lines == {("x", "x"): "line value", ("y", "x"): "line value added"}
        boxes, lines = compared(since="3", at="2")
        assert boxes == ["bronze.a", "raw/*/a.csv"]
        assert lines[("y", "x")] == "line value removed"
