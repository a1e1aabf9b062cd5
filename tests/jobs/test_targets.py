"""Names: the table that a file makes, by its path, and what a bare SELECT gives."""

import json
from pathlib import Path

import pytest

from headwater.cli.main import run
from headwater.errors import UsageError
from headwater.graph import GraphStore, LineageGraph
from headwater.graph.tables import DATASETS, EDGES, ISSUES, STATEMENTS
from headwater.jobs.harvest.harvest import HarvestOptions, harvest
from headwater.jobs.harvest.order import in_order
from headwater.jobs.harvest.sources import Rules, read_estate
from headwater.jobs.harvest.targets import Patterns
from headwater.jobs.harvest.units import Script
from headwater.lake.tables import Warehouse

PATTERN = "sql/{project}/{dataset}/{table}/query.sql"


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def harvested(tmp_path, files, dialect, rules=None):
    folder = written(tmp_path / "estate", files)
    store = GraphStore(Warehouse(tmp_path / "lake"))
    harvest(store, read_estate([str(folder)], dialect, rules), HarvestOptions())
    return folder, store.state()


@pytest.mark.parametrize(
    ("pattern", "path", "parts"),
    [
        (PATTERN, "repo/sql/p-1/d/t_v1/query.sql", ("p-1", "d", "t_v1")),
        (PATTERN, "repo/sql/p-1/d/t_v1/view.sql", None),
        ("{schema}/{table}.sql", "a/b/c.sql", ("b", "c")),
        ("models/**/{table}.sql", "x/models/c.sql", ("c",)),
        ("models/**/{table}.sql", "x/models/a/b/c.sql", ("c",)),
        ("./{database}.{schema}.{table}.sql", "db.s.t.sql", ("db", "s", "t")),
        ("load_{table}_*.sql", "load_orders_2026.sql", ("orders",)),
        ("sql/{table}.sql", "mysql/t.sql", None),
        ("sql/{project}/{dataset}/**/udf.sql", "sql/p-1/d/f/udf.sql", ("p-1", "d")),
    ],
)
def test_patterns_of_paths(pattern, path, parts):
    target = Patterns([pattern]).target(Path(path))
    assert (target and target.parts) == parts


def test_functions_are_known_by_the_project_of_their_path(tmp_path):
    """Two of them have one last name, one calls another, and one is defined nowhere."""
    files = {
        "fun/norm/os/udf.sql": "CREATE OR REPLACE FUNCTION norm.os(x STRING) AS (UPPER(x));",
        "fun/hist/os/udf.sql": "CREATE OR REPLACE FUNCTION hist.os(x INT64) AS (x + 1);",
        "fun/norm/both/udf.sql": "CREATE OR REPLACE FUNCTION norm.both(x STRING, y INT64) AS "
        "(CONCAT(fun.norm.os(x), CAST(fun.hist.os(y) AS STRING)));",
        "sql/p-1/d/t/query.sql": "SELECT fun.norm.both(a, b) AS ab, fun.hist.os(b) AS bb, fun.net.f(a) AS o FROM s",
        "sql/p-1/d/s/query.sql": "SELECT 'x' AS a, 1 AS b",
    }
    rules = Rules(Patterns([PATTERN, "{project}/{dataset}/*/udf.sql"]))
    _, state = harvested(tmp_path, files, "bigquery", rules)
    edges = state.read(EDGES).to_pylist()
    assert {(each["source_column"], each["target_column"], bool(each["approximate"])) for each in edges} == {
        ("a", "ab", False),
        ("b", "ab", False),
        ("b", "bb", False),
        ("a", "o", True),
    }
    assert [each["message"] for each in state.read(ISSUES).to_pylist()] == [
        "`fun.net.f` cannot be seen through: nothing defines it"
    ]


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [("{tabel}.sql", "{table}"), ("a.sql", "{table}"), ("{table}/{table}.sql", "*"), ("{table.sql", "{table}")],
)
def test_patterns_that_cannot_be_read_are_refused(pattern, hint):
    with pytest.raises(UsageError) as caught:
        Patterns([pattern])
    assert hint in caught.value.hint


def test_the_first_pattern_counts():
    patterns = Patterns(["special/{table}.sql", "{schema}/{table}.sql"])
    assert patterns.target(Path("special/t.sql")).parts == ("t",)


def test_what_a_query_gives_is_named_after_its_file_or_its_statement(tmp_path):
    files = {
        "one.sql": "-- only one\nSELECT id FROM raw.orders",
        "two.sql": "SELECT id FROM raw.orders;\nSELECT name FROM raw.people;\nDELETE FROM d",
        "odd.sql": "SELECT 'a;b' AS x, id FROM raw.orders; -- \\ \nSELECT name FROM raw.people",
    }
    folder, state = harvested(tmp_path, files, "postgres")
    targets = {row["statement"]: row["target"] for row in state.read(STATEMENTS).to_pylist()}
    assert targets == {
        f"{folder}/one.sql#0": f"{folder}/one.sql",
        f"{folder}/two.sql#0": f"{folder}/two.sql#0",
        f"{folder}/two.sql#1": f"{folder}/two.sql#1",
        f"{folder}/two.sql#2": "d",
        f"{folder}/odd.sql#0": f"{folder}/odd.sql#0",
        f"{folder}/odd.sql#1": f"{folder}/odd.sql#1",
    }
    kinds = {row["dataset"]: row["kind"] for row in state.read(DATASETS).to_pylist()}
    assert kinds[f"{folder}/one.sql"] == kinds[f"{folder}/two.sql#1"] == "query"
    assert kinds["raw.orders"] == kinds["d"] == "table"
    assert not [row for row in state.read(EDGES).to_pylist() if row["target"] == "<result>"]
    answer = LineageGraph(state).impact("raw.people.name")
    assert {str(node) for node in answer.nodes} >= {f"{folder}/two.sql#1.name", f"{folder}/odd.sql#1.name"}


def test_variables_are_no_datasets(tmp_path):
    text = """CREATE PROCEDURE p AS
BEGIN
  DECLARE @a INT = (SELECT MAX(x) FROM dbo.s);
  DECLARE c CURSOR FOR SELECT y FROM dbo.u;
  DECLARE @b INT;
  FETCH NEXT FROM c INTO @b;
  INSERT INTO dbo.d (m, n) VALUES (@a, @b);
END"""
    folder, state = harvested(tmp_path, {"p.sql": text}, "tsql")
    edges = {(row["target"], row["target_column"], row["source"]) for row in state.read(EDGES).to_pylist()}
    assert edges == {("dbo.d", "m", "dbo.s"), ("dbo.d", "n", "dbo.u"), (f"{folder}/p.sql", "y", "dbo.u")}


FILES = {
    "sql/proj-1/mart/daily/query.sql": "# comment; with a semicolon\nSELECT d, n FROM stage.events_v1",
    "sql/proj-1/stage/events_v1/query.sql": """-- the last query makes the table
CREATE TEMP FUNCTION twice(x INT64) AS (x * 2);
DECLARE day DATE DEFAULT CURRENT_DATE();
SELECT e.d, twice(e.n) AS n
FROM raw.events AS e
WHERE e.d = day""",
    "sql/proj-1/raw/events/ddl.sql": "CREATE TABLE raw.events (d DATE, n INT64)",
    "sql/proj-1/mart/merged/query.sql": "MERGE INTO mart.m USING stage.events_v1 AS s ON m.d = s.d "
    "WHEN MATCHED THEN UPDATE SET n = s.n",
}


@pytest.mark.parametrize("engine", ["auto", "sqlglot"])
def test_a_path_names_the_target_and_what_the_file_reads(tmp_path, engine):
    rules = Rules(Patterns([PATTERN, "sql/{project}/{dataset}/{table}/*.sql"]))
    folder = written(tmp_path / "estate", FILES)
    store = GraphStore(Warehouse(tmp_path / "lake"))
    summary = harvest(store, read_estate([str(folder)], "bigquery", rules), HarvestOptions(engine=engine))
    state = store.state()
    statements = {row["target"]: row for row in state.read(STATEMENTS).to_pylist() if row["target"]}
    assert {*statements} >= {"proj-1.stage.events_v1", "proj-1.mart.daily", "proj-1.mart.m"}, statements
    assert summary.findings == 0
    answer = LineageGraph(state).trace("proj-1.mart.daily.n")
    assert {str(node) for node in answer.nodes} >= {"proj-1.stage.events_v1.n", "proj-1.raw.events.n"}
    made = statements["proj-1.stage.events_v1"]
    assert (made["line"], made["start"]) == (4, FILES["sql/proj-1/stage/events_v1/query.sql"].index("SELECT"))


def test_places_after_an_inserted_target_are_those_of_the_file(tmp_path):
    text = "SET x = 1;\n  SELECT a, b\n  FROM t WHERE nowhere.c = 1"
    _, state = harvested(tmp_path, {"t.sql": text}, "postgres", Rules(Patterns(["{table}.sql"])))
    (issue,) = [row for row in state.read(ISSUES).to_pylist() if "nowhere" in row["message"]]
    assert (issue["line"], issue["column"]) == (3, 16)
    (made,) = [row for row in state.read(STATEMENTS).to_pylist() if row["target"] == "t"]
    assert (made["line"], made["start"]) == (2, text.index("SELECT"))


def test_folders_and_files_are_left_out(tmp_path):
    folder = written(
        tmp_path, dict.fromkeys(["a.sql", "tests/b.sql", "x/tests/c.sql", "x/d_old.sql", "y/e.sql"], "SELECT 1")
    )
    estate = read_estate([str(folder)], None, Rules(exclude=("tests", "*_old.sql", "y/")))
    assert [Path(script.name).relative_to(folder).as_posix() for script in estate.scripts] == ["a.sql"]


def order_of(**texts):
    scripts = [Script(name, text, "bigquery", ".") for name, text in texts.items()]
    return "".join(script.name for script in in_order(scripts))


def test_names_of_ctes_are_no_tables():
    a = "CREATE TABLE a AS WITH b AS (SELECT 1 AS x), c (y) AS (SELECT x FROM b) SELECT * FROM c"
    assert order_of(a=a, b="CREATE TABLE b AS SELECT 1 AS x", c="CREATE TABLE c AS SELECT 1 AS y") == "abc"
    assert order_of(a=a.replace("FROM b", "FROM {{ ref('b') }}"), b="CREATE TABLE b AS SELECT 1 AS x") == "ba"


def test_functions_come_before_their_callers():
    caller = "CREATE TABLE t AS SELECT udf.norm(x) AS y FROM s"
    assert order_of(a=caller, b="CREATE FUNCTION udf.norm(x STRING) AS (LOWER(x))") == "ba"


def test_a_circle_is_broken_at_a_member_of_it():
    """`a` waits for the circle of `b` and `c`, and is none of it."""
    texts = {
        "a": "CREATE TABLE a AS SELECT * FROM c",
        "b": "CREATE TABLE b AS SELECT * FROM c",
        "c": "CREATE TABLE c AS SELECT * FROM b",
    }
    assert order_of(**texts) == "bca"


def test_the_plan_is_shown_and_nothing_is_harvested(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(
        written(tmp_path, FILES | {"headwater.toml": f'[harvest]\ntarget = "{PATTERN}"\nexclude = ["mart"]\n'})
    )
    assert run(["harvest", "sql", "-d", "bigquery", "--dry-run", "--json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert [(Path(each["file"]).parent.name, each["makes"]) for each in files] == [
        ("events", None),
        ("events_v1", "`proj-1`.stage.events_v1"),
    ]
    assert not (tmp_path / "warehouse").exists()
    assert run(["harvest", "sql", "--no-spark", "--master", "local[2]"]) == 2
    assert run(["harvest", "sql", "--jobs", "2", "--master", "local[2]"]) == 2
    assert run(["harvest", "sql", "--jobs", "0"]) == 2


@pytest.mark.parametrize("dialect", ["tsql", "postgres", "bigquery", "snowflake"])
def test_a_temporary_table_belongs_to_its_file(tmp_path, dialect):
    """Two files use one name for two tables: what one reads is not what the other made."""
    make = "SELECT x INTO #tmp FROM {};" if dialect == "tsql" else "CREATE TEMP TABLE tmp AS SELECT x FROM {};"
    take = "INSERT INTO {} (x) SELECT x FROM " + ("#tmp;" if dialect == "tsql" else "tmp;")
    files = {f"{name}.sql": f"{make.format(f's_{name}')}\n{take.format(f't_{name}')}" for name in ("a", "b")}
    folder, state = harvested(tmp_path, files, dialect)
    edges = state.read(EDGES, ["source", "target"]).to_pylist()
    temporary = "#tmp" if dialect == "tsql" else "tmp"
    own = {name: f"{folder}/{name}.sql:{temporary}" for name in ("a", "b")}
    flows = {(edge["source"].lower(), edge["target"].lower()) for edge in edges}
    assert {(source, target) for source, target in flows if source.startswith("s_")} == {
        (f"s_{name}", own[name].lower()) for name in ("a", "b")
    }
    assert {(source, target) for source, target in flows if target.startswith("t_")} == {
        (own[name].lower(), f"t_{name}") for name in ("a", "b")
    }


def test_rows_that_a_procedure_is_given_belong_to_it(tmp_path):
    body = "CREATE PROCEDURE p_{0} @rows app.RowList READONLY AS INSERT INTO t_{0} (x) SELECT r.x FROM @rows AS r;"
    folder, state = harvested(tmp_path, {f"{name}.sql": body.format(name) for name in ("a", "b")}, "tsql")
    sources = {edge["source"] for edge in state.read(EDGES, ["source"]).to_pylist()}
    assert sources == {f"{folder}/a.sql:@rows", f"{folder}/b.sql:@rows"}
