"""The API: what the graph and the lake know comes out as it is."""

import re
from xml.etree import ElementTree

from tests.server.conftest import client_of, make_estate

from headwater.cli.main import run
from headwater.events import DatasetName, Job, OutputDataset, Run, RunEvent, by_key
from headwater.events.columns import column_lineage
from headwater.events.facets import SqlFacet
from headwater.graph import GraphChange, GraphStore
from headwater.graph.check_data import check_tables, declare
from headwater.graph.facts import Facts, TableWords, add_words
from headwater.graph.observed import ingest
from headwater.graph.regions import regions
from headwater.graph.tables import DATASETS, ISSUES
from headwater.lake.tables import Warehouse
from headwater.model.edges import ColumnRef, Edge, Kind
from headwater.model.names import TableName
from headwater.server.options import Limits


def test_datasets_are_listed_with_their_neighbours(ask):
    found = ask("/datasets", like="STG")
    assert found["total"] == 2
    assert found["datasets"][1] == {
        "name": "stg.orders",
        "kind": "table",
        "columns": 3,
        "upstream": 1,
        "downstream": 2,
    }
    assert ask("/datasets", limit=1, offset=1)["datasets"][0]["name"] == "mart.revenue"


def test_columns_of_a_dataset(ask):
    found = ask("/columns", name="raw.orders")
    assert [each["name"] for each in found["columns"]] == SCHEMA_ORDERS
    assert found["downstream"] == ["stg.orders"]
    assert found["in_lake"]
    assert "did you mean `raw.orders`" in ask("/columns", 404, name="raw.ordes")["error"]["hint"]


SCHEMA_ORDERS = ["id", "customer_id", "amount", "status", "note"]


def test_answers_of_the_graph(ask):
    edges = ask("/trace", name="mart.revenue.total", influence="value")["edges"]
    assert {edge["source"]["column"] for edge in edges} == {"cents", "amount"}
    assert ask("/impact", name="raw.customers.email", depth=1, influence="value")["edges"]
    assert ask("/path", source="raw.orders", target="mart.counts")["edges"]
    assert ask("/select", name="1+stg.orders")["starts"]
    assert ask("/search", text="email")[0]["column"] == "email"
    assert ask("/trace", 400, name="x", influence="nothing")["error"]["code"] == "usage"
    refused = ask("/trace", 400, name="raw.orders", nonsense="1")["error"]
    assert (refused["code"], "unknown field `nonsense`" in refused["message"]) == ("usage", True)
    assert refused["hint"].startswith("GET /api/v1/trace takes `name`, `")


def test_states_and_their_difference(ask):
    states = ask("/states")["states"]
    assert [state["number"] for state in states[:2]] == [1, 2]
    added = ask("/diff", before="1", after="2")["datasets"]["added"]
    assert added == ["mart.counts", "mart.revenue"]
    assert ask("/datasets", at="1")["total"] == 4
    assert ask("/datasets", 404, at="99")["error"]["code"] == "not-found"


def test_an_edge_tells_where_it_is_written(ask):
    edge = ask("/edge", source="raw.orders", target="stg.orders", source_column="amount")["edges"][0]
    sql = edge["sql"]
    assert (edge["file"], edge["line"], edge["expression"]) == ("staging.sql", 2, "amount * 100")
    assert sql["text"][sql["start"] : sql["end"]] == "amount"


def test_an_observed_edge_brings_the_query_of_its_run(tmp_path):
    store = GraphStore(str(tmp_path))
    query = "INSERT INTO b.t\nSELECT upper( k ),\n       upper( k ), min(v)\nFROM a.t"
    source, target = TableName.of("a", "t"), TableName.of("b", "t")
    wanted = {"on": "sql:3:8", "once": None, "twice": None, "other": "jobs/daily.py:3"}
    said = {"on": "upper( k )", "once": "min(v)", "twice": "upper( k )", "other": "max(v)"}
    edges = [
        Edge(ColumnRef(source, "k"), ColumnRef(target, name), Kind.TRANSFORMATION, said[name], place=place)
        for name, place in wanted.items()
    ]
    facets = by_key(*column_lineage(edges, lambda table: DatasetName("headwater:/lake", str(table))))
    output = OutputDataset(namespace="headwater:/lake", name="b.t", facets=facets)
    job = Job(namespace="night", name="copy", facets=by_key(SqlFacet(query=query)))
    run = Run(run_id="018f0000-0000-7000-8000-000000000001")
    ingest(store, [RunEvent(event_time="2026-11-02T03:00:00Z", run=run, job=job, outputs=(output,))])
    with client_of(tmp_path) as client:
        found = client.get("/api/v1/edge", params={"source": "a.t", "target": "b.t"}).json()["edges"]
    texts = {edge["target_column"]: edge["sql"] for edge in found}
    assert {(text["role"], text["text"]) for text in texts.values()} == {("query", query)}
    places = {name: (text["start"], text["end"]) for name, text in texts.items()}
    third = query.index("\n       upper") + 8
    assert places["on"] == (third, third + len("upper( k )")), "the line decides between two"
    assert query[slice(*places["once"])] == "min(v)"
    assert places["twice"] == places["other"] == (None, None), "nothing is lit that may be wrong"


def test_checks_and_marks(tmp_path):
    with client_of(make_estate(tmp_path / "lake"), limits=Limits(reads=1e6)) as client:

        def get(path, **query):
            return client.get(f"/api/v1{path}", params=query).json()

        assert get("/checks") == {"checks": [], "marks": []}
        declared = {
            "raw.orders": declare({"columns": {"note": {"not_null": True}, "amount": {"range": {"min": 11}}}})
        }
        lake = Warehouse(tmp_path / "lake")
        ingest(GraphStore(lake), [check_tables(lake, declared)])
        found = get("/checks", name="raw.orders")
        failed = [(row["column"], row["check"]) for row in found["checks"] if row["outcome"] == "fail"]
        assert failed == [("amount", "range"), ("note", "not_null")]
        assert get("/checks", name="raw.orders", outcome="fail")["checks"] == [
            row for row in found["checks"] if row["outcome"] == "fail"
        ]
        assert [node["column"] for node in found["marks"]] == ["amount", "note"]
        marked = {each["name"]: len(each["marks"]) for each in get("/columns", name="raw.orders")["columns"]}
        assert marked == {"id": 0, "customer_id": 0, "amount": 1, "status": 0, "note": 1}
        columns = get("/table", table="raw.orders")["schema"]["columns"]
        assert [each["name"] for each in columns if each["marks"]] == ["amount", "note"]
        walked = get("/impact", name="raw.orders.amount")["nodes"]
        assert [(node["column"], node["marks"][0]["check"]) for node in walked if "marks" in node] == [
            ("amount", "range"),
            ("cents", "range"),
            ("total", "range"),
        ]


def test_findings_are_counted_without_notes(tmp_path):
    severities = {"PARSE_ERROR": "error", "UNKNOWN_TABLE": "warning", "APPROXIMATE_LINEAGE": "info"}
    facts = Facts()
    for number, (code, severity) in enumerate(severities.items()):
        facts.add(ISSUES, statement="s", number=number, code=code, severity=severity, message=code, file="a.sql")
    GraphStore(str(tmp_path)).apply(GraphChange(facts, record={"kind": "harvest", "sources": ["a.sql"]}))
    with client_of(tmp_path) as client:

        def issues(**query):
            answer = client.get("/api/v1/issues", params=query).json()
            return answer["total"], answer["counts"], [row["code"] for row in answer["issues"]]

        assert issues() == (3, dict.fromkeys(severities, 1), list(severities))
        found = {"PARSE_ERROR": 1, "UNKNOWN_TABLE": 1}
        assert issues(severity="finding") == (2, found, list(found))
        assert issues(severity="finding", code="UNKNOWN_TABLE") == (1, found, ["UNKNOWN_TABLE"])
        assert issues(severity="info") == (1, {"APPROXIMATE_LINEAGE": 1}, ["APPROXIMATE_LINEAGE"])


# ------------------------------------------------------------------------------------------------- pictures


def boxes_of(picture):
    return {box["id"]: box for box in picture["boxes"]}


def drawn_lines(picture):
    return re.findall(r'<path class="([^"]*)" id="line-', picture["svg"])


def test_a_picture_opens_at_one_step_and_counts_what_it_hides(ask):
    picture = ask("/picture", select="1+stg.orders+0")
    boxes = boxes_of(picture)
    assert set(boxes) == {"stg.orders", "raw.orders"}
    assert (boxes["stg.orders"]["before"], boxes["stg.orders"]["after"]) == (0, 1)
    assert picture["beside"] == 1, "mart.counts only counts rows"
    ElementTree.fromstring(picture["svg"])
    every = {"lines": "all"}
    opened = boxes_of(ask("/picture", select="1+stg.orders+0", open="stg.orders>", **every))
    assert set(opened) == {"stg.orders", "raw.orders", "mart.counts", "mart.revenue"}
    assert opened["mart.revenue"]["before"] == 1
    again = boxes_of(ask("/picture", select="1+stg.orders+0", open=["stg.orders>", "<mart.revenue"], **every))
    assert "stg.customers" in again


def test_columns_that_take_part_come_first(ask):
    picture = boxes_of(ask("/picture", select="1+stg.orders"))
    assert picture["raw.orders"]["ports"] == ["id", "customer_id", "amount", "status", "note"]
    assert picture["raw.orders"]["more"] == 0, "`+1 more` would take the room of the one"
    whole = boxes_of(ask("/picture", select="1+stg.orders", whole="raw.orders"))["raw.orders"]
    assert (whole["ports"][-1], whole["more"]) == ("note", 0)
    folded = boxes_of(ask("/picture", select="1+stg.orders", flip="raw.orders"))["raw.orders"]
    assert (folded["ports"], folded["folded"]) == ([], True)
    assert all(box["folded"] for box in ask("/picture", select="1+stg.orders", level="table")["boxes"])


def test_kinds_are_filtered(ask):
    def kinds(**query):
        lines = ask("/picture", select="1+stg.orders", **query)["lines"]
        return {edge[2] for line in lines for edge in line["edges"]}

    assert kinds() == {"IDENTITY", "TRANSFORMATION", "FILTER"}
    picture = ask("/picture", select="1+stg.orders")
    faint = {line["style"] for line, drawn in zip(picture["lines"], drawn_lines(picture)) if "faint" in drawn}
    assert faint == {"row"}
    assert not any("faint" in each for each in drawn_lines(ask("/picture", select="1+stg.orders", lines="all")))
    assert kinds(kind=["IDENTITY"]) == {"IDENTITY"}


def test_a_comparison_is_coloured(ask):
    picture = ask("/picture", select="stg.orders+1", since="1")
    assert 'class="box table added"' in picture["svg"]
    back = ask("/picture", select="stg.orders+1", at="1", since="2")
    assert 'class="box table removed"' in back["svg"]
    assert "mart.revenue" in boxes_of(back)


def test_boxes_keep_their_order_when_one_is_opened(ask):
    first = boxes_of(ask("/picture", select="stg.*", level="table"))
    after = boxes_of(ask("/picture", select="stg.*", level="table", open=["stg.orders>", "stg.customers>"]))
    before = first["stg.orders"]["y"] < first["stg.customers"]["y"]
    assert (after["stg.orders"]["y"] < after["stg.customers"]["y"]) is before


def test_groups_are_framed(ask):
    svg = ask("/picture", select="2+mart.revenue", group="true")["svg"]
    assert svg.count('class="group"') == 3


def test_pictures_are_files_too(client):
    begins = {"svg": "<svg", "html": "<!doctype html>", "mermaid": "flowchart", "dot": "digraph", "csv": "target,"}
    for format, begin in begins.items():
        query = {"select": "1+stg.orders", "format": format}
        response = client.get("/api/v1/picture", params=query)
        assert response.text.startswith(begin)
        assert "attachment" in response.headers["content-disposition"]


# ---------------------------------------------------------------------------------------------------- lake


def test_tables_of_the_warehouse(ask):
    names = [each["table"] for each in ask("/tables")["tables"]]
    assert names == ["raw.orders"], "our own books are nowhere unless they are asked for"
    known = ask("/tables", own="true")["tables"]
    assert [each["table"] for each in known if not each["own"]] == names
    assert "lineage.edges" in [each["table"] for each in known]
    table = ask("/table", table="raw.orders")
    assert [column["name"] for column in table["schema"]["columns"]] == ["id", "amount", "note", "status"]
    assert table["schema"]["columns"][0]["key"]
    assert sum(level["files"] for level in table["levels"]) == table["files"] == 2
    assert [len(each["columns"]) for each in ask("/schemas", table="raw.orders")] == [3, 4]


def test_snapshots_say_what_made_them(ask):
    found = ask("/snapshots", table="raw.orders")["snapshots"]
    assert [each["snapshot"] for each in found] == [2, 1]
    assert found[0]["operation"] == "INSERT"
    assert "VALUES (2, 25" in found[0]["sql"]


def test_rows_now_and_then(ask):
    assert ask("/rows", table="raw.orders", limit=2) == {
        "columns": ["id", "amount", "note", "status"],
        "types": ["int64", "double", "string", "string"],
        "rows": [[1, 10.0, "a", None], [2, 25.0, "b", None]],
        "cut": True,
        "message": None,
        "scans": [],
        "read": [],
    }
    assert ask("/rows", table="raw.orders", at="1")["rows"][1] == [2, 20.0, "b"]
    assert ask("/files", table="raw.orders")["total"] == 2
    assert ask("/table", 404, table="raw.nothing")["error"]["code"] == "not-found"
    assert ask("/table", 400, table="../../etc/passwd")["error"]["code"] == "usage"


def test_sql_reads_and_does_no_more(client):
    def run(sql):
        response = client.post("/api/v1/sql", json={"sql": sql})
        return response.status_code, response.json()

    status, answer = run("SELECT sum(amount) AS total FROM raw.orders")
    assert (status, answer["rows"]) == (200, [[65.0]])
    for sql in (
        "DELETE FROM raw.orders",
        "CREATE DATABASE x",
        "COPY (SELECT 1) TO '/tmp/x.csv'",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT 1; DROP TABLE raw.orders",
        "SET threads = 8",
        "ATTACH '/tmp/x.db'",
        "INSTALL httpfs",
    ):
        status, answer = run(sql)
        assert status == 400, (sql, answer)
    status, answer = run("SELECT nothing FROM raw.orders")
    assert (status, answer["error"]["place"]["start"]) == (400, 7)
    assert run("SELECT 9007199254740993 AS n")[1]["rows"] == [["9007199254740993"]]


def test_a_query_is_explained_with_what_it_would_read(client):
    def asked(sql, status=200):
        response = client.post("/api/v1/sql", json={"sql": sql, "explain": True})
        assert response.status_code == status, response.text
        return response.json()

    found = asked("SELECT 1; SELECT note FROM raw.orders WHERE id = 3 -- the last")
    (scan,) = found["scans"]
    assert (scan["table"], scan["files"], scan["total_files"], scan["rows"], scan["total_rows"]) == (
        ("raw.orders", 1, 2, 2, 4)
    )
    assert 0 < scan["bytes"] < scan["total_bytes"]
    assert found["rows"][0] == [f"scan raw.orders @ snapshot {scan['snapshot']}"]
    (counted,) = asked("SELECT count(*) FROM raw.orders")["scans"]
    assert (counted["table"], counted["total_rows"]) == ("raw.orders", 4)
    assert asked("SELECT 1")["scans"] == []
    assert "EXPLAIN is for queries" in asked("SHOW TABLES", status=400)["error"]["message"]


def test_a_query_ends_when_its_time_is_over(estate):
    from tests.server.conftest import client_of

    from headwater.query.sandbox import ReadLimits
    from headwater.server.options import Limits

    limits = Limits(sql=ReadLimits(rows=5, seconds=0.2))
    with client_of(estate, limits=limits) as client:
        slow = client.post("/api/v1/sql", json={"sql": "SELECT count(*) FROM range(10000000000), range(1000)"})
        assert slow.status_code == 408
        many = client.post("/api/v1/sql", json={"sql": "SELECT * FROM range(100)"}).json()
        assert (len(many["rows"]), many["cut"]) == (5, True)


def test_the_map_has_every_dataset_in_its_region(ask):
    found = ask("/map")
    named = {name: found["regions"][region] for name, region in zip(found["tables"], found["region"])}
    assert named["stg.orders"] == "stg"
    assert not any(name.startswith("lineage.") for name in found["tables"])
    pairs = {(found["tables"][source], found["tables"][target]) for source, target in found["pairs"]}
    assert ("raw.orders", "stg.orders") in pairs


def test_small_databases_of_a_large_estate_are_one_region():
    large = [f"shop.sales{number}.t{table}" for number in range(40) for table in range(3)]
    small = [f"shop.team{number}.t" for number in range(60)]
    found = regions([*large, *small, "alone.t", "data/x/a.csv"])
    assert {found[name] for name in large} == {f"shop.sales{number}" for number in range(40)}
    assert {found[name] for name in small} == {"shop.*"}
    assert (found["alone.t"], found["data/x/a.csv"]) == ("*", "*"), "alone in their folder, and small"


def test_the_overview_counts_and_names_the_busiest(ask):
    found = ask("/overview")
    datasets = ask("/datasets")
    assert found["tables"] == datasets["total"]
    assert found["columns"] == sum(each["columns"] for each in datasets["datasets"]) == sum(ask("/map")["columns"])
    assert found["busiest"][0]["name"] in ("stg.orders", "stg.customers", "mart.revenue")
    assert ask("/changes")["since"] is None, "nothing is a day old"
    assert ask("/stale") == []


def test_search_knows_words_types_and_typing_errors(ask):
    def names(text):
        return [(each["dataset"], each["column"]) for each in ask("/search", text=text)]

    assert names("stg ord")[0] == ("stg.orders", None)
    assert names("stg.ordesr")[0] == ("stg.orders", None)
    assert names("nothing at all") == []


def test_what_people_say_of_tables_is_kept(tmp_path):
    lake = str(make_estate(tmp_path / "lake"))
    at = ["--warehouse", lake, "--quiet"]
    facts = Facts()
    facts.add(DATASETS, dataset="raw.orders", kind="table")
    add_words(facts, [TableWords(("RAW", "orders"), "Orders, says dbt", "dbt-owner", {})])
    GraphStore(lake).apply(GraphChange(facts))
    with client_of(lake) as client:
        found = client.get("/api/v1/columns", params={"name": "raw.orders"}).json()
        assert (found["description"], found["owner"]) == ("Orders, says dbt", "dbt-owner")
    assert run(["describe", "raw.orders", "One row for each order", "--owner", "sales", *at]) == 0
    assert run(["describe", "raw.orders.amount", "In EUR", *at]) == 0
    assert run(["describe", "raw.orders.amount", "--owner", "sales", *at]) == 2
    assert run(["describe", "raw.ordres", "x", *at]) == 2
    with client_of(lake) as client:
        found = client.get("/api/v1/columns", params={"name": "raw.orders"}).json()
        assert (found["description"], found["tags"]) == ("One row for each order", ["owner:sales"])
        assert "*" not in [each["name"] for each in found["columns"]]
        amount = next(each for each in found["columns"] if each["name"] == "amount")
        assert amount["description"] == "In EUR"
        assert found["owner"] == "sales"
        best = client.get("/api/v1/search", params={"text": "owner:sales"}).json()[0]
        assert (best["dataset"], best["column"]) == ("raw.orders", None)
        changes = client.get("/api/v1/diff", params={"before": "2"}).json()
        assert changes["columns"] == {"added": [], "removed": []}, changes["columns"]
        assert "raw.orders.*" not in str(changes)
        assert client.get("/api/v1/runs", params={"dataset": "raw.orders"}).json()["total"] == 0
