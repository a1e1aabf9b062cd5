"""Every text of one small result, and what hostile names do to them."""

import csv
import json
import re
from datetime import UTC, datetime

import pytest

from headwater.errors import Issue, IssueCode, Severity, UsageError
from headwater.lineage.formats.openlineage import openlineage
from headwater.lineage.formats.plain import LineageFormatter
from headwater.lineage.readings import Reading, restrict
from headwater.lineage.result import AnalyzeResult
from headwater.lineage.statement import OutputColumn, SourceTable, StatementLineage, Status
from headwater.model.edges import ColumnRef, Edge, Kind
from headwater.model.names import TableName
from headwater.model.relation import Resolution
from headwater.text import Source, Span
from headwater.view.formats import RESULT_FORMATS

SQL = "INSERT INTO d SELECT sum(o.x * 2) AS total, c.name FROM o JOIN c ON o.cid = c.id"
DAILY, ORDERS, CUSTOMERS = TableName.of("d"), TableName.of("o"), TableName.of("c")
EDGES = (
    Edge(ColumnRef(ORDERS, "x"), ColumnRef(DAILY, "total"), Kind.AGGREGATION, "sum(o.x * 2)", Span(25, 28, 1, 26)),
    Edge(ColumnRef(CUSTOMERS, "name"), ColumnRef(DAILY, "name"), Kind.IDENTITY, "c.name", Span(44, 50, 1, 45)),
    Edge(ColumnRef(ORDERS, "cid"), ColumnRef(DAILY, None), Kind.JOIN, "o.cid = c.id"),
    Edge(ColumnRef(CUSTOMERS, "id"), ColumnRef(DAILY, None), Kind.JOIN, "o.cid = c.id", approximate="guessed"),
)
STATEMENT = StatementLineage(
    "INSERT",
    DAILY,
    (SourceTable(ORDERS, Resolution.IMPORTED), SourceTable(CUSTOMERS)),
    (OutputColumn("total"), OutputColumn("name")),
    EDGES,
    status=Status.APPROXIMATE,
    source_name="etl.sql",
    span=Span(0, len(SQL), 1, 1),
)
ISSUE = Issue(IssueCode.UNKNOWN_TABLE, Severity.WARNING, "`c` is not known", Span(54, 55, 1, 55), 0, "etl.sql")
RESULT = AnalyzeResult((STATEMENT,), (ISSUE,), sources={"etl.sql": Source(SQL, "etl.sql")})


def test_tree():
    assert RESULT.to_text("tree") == (
        "d  INSERT  etl.sql:1:1  [approximate]\n"
        "├─ total = sum(o.x * 2)\n"
        "│  └─ o.x  AGGREGATION\n"
        "├─ name\n"
        "│  └─ c.name  IDENTITY\n"
        "└─ rows decided by\n"
        "   ├─ o.cid  JOIN\n"
        "   └─ c.id  JOIN  ~ guessed"
    )
    assert RESULT.to_text("tree", level="table") == "d  INSERT  etl.sql:1:1  [approximate]\n├─ o\n└─ c"


def test_csv_reads_back():
    rows = list(csv.DictReader(RESULT.to_text("csv").splitlines()))
    assert [(row["target_column"], row["source_table"], row["kind"]) for row in rows] == [
        ("total", "o", "AGGREGATION"),
        ("name", "c", "IDENTITY"),
        ("*", "o", "JOIN"),
        ("*", "c", "JOIN"),
    ]
    assert (rows[0]["expression"], rows[0]["line"], rows[0]["column"]) == ("sum(o.x * 2)", "1", "26")


def test_csv_does_not_carry_formulas():
    edge = Edge(ColumnRef(ORDERS, "=cmd()"), ColumnRef(DAILY, "x"), Kind.IDENTITY)
    text = AnalyzeResult((StatementLineage("SELECT", DAILY, edges=(edge,)),)).to_text("csv")
    assert "'=cmd()" in text


def test_json_lines_are_one_object_each():
    lines = [json.loads(line) for line in RESULT.to_text("jsonl").splitlines()]
    assert len(lines) == len(EDGES)
    assert lines[0]["source_column"] == "x"


def test_json_counts_and_links():
    wire = json.loads(RESULT.to_json())
    assert wire["summary"] == {
        "statementCount": 1,
        "tableCount": 3,
        "columnCount": 6,
        "edgeCount": 4,
        "issueCount": 1,
        "approximateCount": 1,
        "hasErrors": False,
    }
    ids = {node["id"] for node in wire["nodes"]}
    assert {end for edge in wire["edges"] for end in (edge["from"], edge["to"])} <= ids
    assert wire["edges"][3]["to"] == "d"
    assert wire["edges"][3]["approximateReason"] == "guessed"
    by_id = {node["id"]: node for node in wire["nodes"]}
    assert by_id["o"]["resolutionSource"] == "imported"
    assert by_id["o.x"]["parent"] == "o"
    assert wire["issues"][0]["span"] == {"start": 54, "end": 55, "line": 1, "column": 55}


def test_python_has_what_the_wire_has():
    assert RESULT.summary.edge_count == 4
    assert {node.id for node in RESULT.nodes} >= {"o", "o.x", "d.total"}


def test_value_reading_leaves_values():
    assert [edge.kind for edge in restrict(STATEMENT, Reading.VALUE).edges] == [Kind.AGGREGATION, Kind.IDENTITY]
    assert restrict(STATEMENT, Reading.FULL) is STATEMENT


HOSTILE = TableName.of('x"];\n--> <script>alert(1)</script> #quot; {%')


def hostile_result():
    edge = Edge(ColumnRef(HOSTILE, 'a"b\\'), ColumnRef(DAILY, "</td>"), Kind.IDENTITY, "<img onerror=x>")
    return AnalyzeResult((StatementLineage("INSERT", DAILY, (SourceTable(HOSTILE),), edges=(edge,)),))


def test_mermaid_labels_cannot_break_out():
    for line in hostile_result().to_text("mermaid").splitlines():
        assert re.fullmatch(r'flowchart LR|  end| +(subgraph )?n\d+\["[^"<>\\]*"\]|  n\d+ (-->|-\.->) n\d+', line), (
            line
        )


def test_dot_strings_are_closed():
    for line in hostile_result().to_text("dot").splitlines():
        assert len(re.findall(r'(?<!\\)(?:\\\\)*"', line)) % 2 == 0, line


def test_html_escapes_everything():
    html = hostile_result()._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;/td&gt;" in html


def test_openlineage_events():
    time = datetime(2026, 11, 15, tzinfo=UTC)
    text = openlineage([STATEMENT], namespace="bigquery", sources=RESULT.sources, time=time)
    event = json.loads(text)
    assert event["eventTime"] == "2026-11-15T00:00:00Z"
    assert event["job"]["facets"]["sql"]["query"] == SQL
    assert [each["name"] for each in event["inputs"]] == ["o", "c"]
    facet = event["outputs"][0]["facets"]["columnLineage"]
    assert facet["fields"]["total"]["inputFields"][0] == {
        "namespace": "bigquery",
        "name": "o",
        "field": "x",
        "transformations": [
            {"type": "DIRECT", "subtype": "AGGREGATION", "description": "sum(o.x * 2)", "masking": False}
        ],
    }
    assert [each["field"] for each in facet["dataset"]] == ["cid", "id"]


def test_formatter_of_plain_read_outs():
    assert LineageFormatter.to_text(RESULT.column_lineage()) == "d.total\n  <- o.x\nd.name\n  <- c.name"
    assert json.loads(LineageFormatter.to_json(RESULT.table_lineage())) == [
        {"target": "d", "sources": ["c", "o"], "statementType": "INSERT"}
    ]
    assert LineageFormatter.to_text(set(RESULT.column_lineage())).startswith("d.name")


def test_every_format_has_text_and_others_are_refused():
    for format in RESULT_FORMATS:
        assert RESULT.to_text(format)
        assert isinstance(AnalyzeResult(()).to_text(format), str)
    with pytest.raises(UsageError) as caught:
        RESULT.to_text("mermaids")
    assert caught.value.hint == "did you mean `mermaid`?"


def test_notebooks_get_html_and_mermaid():
    bundle = RESULT._repr_mimebundle_()
    assert bundle["text/vnd.mermaid"].startswith("flowchart LR")
    assert "<table" in bundle["text/html"]
