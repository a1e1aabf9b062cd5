"""Functions across files: each unit knows those that were defined before it, in whatever batch it is."""

from collections import Counter
from weakref import WeakKeyDictionary

import pytest

from headwater.analysis.schemas import import_schema
from headwater.graph import GraphStore
from headwater.graph.tables import EDGES
from headwater.jobs.harvest import preludes, runner
from headwater.jobs.harvest.batch_analysis import analyse_tasks
from headwater.jobs.harvest.harvest import HarvestOptions, harvest
from headwater.jobs.harvest.unit_analysis import HarvestSetting, Task
from headwater.jobs.harvest.units import Script, cut_units, with_preludes
from headwater.lake.tables import Warehouse
from headwater.lineage.slices import Slice
from tests.jobs.test_harvest import estate_of

SCHEMA = {"d.s": {"a": "INT64", "b": "INT64"}}


def pairs(store):
    edges = store.state().read(EDGES).to_pylist()
    return sorted((each["target"], each["source_column"], bool(each["approximate"])) for each in edges)


@pytest.mark.parametrize("alone", [False, True])
def test_a_function_that_is_defined_anew_is_the_newest_for_who_comes_after(tmp_path, monkeypatch, alone):
    if alone:  # each unit in a batch of its own
        monkeypatch.setattr(runner, "_ALONE", 1)
    texts = [
        ("1.sql", "CREATE OR REPLACE FUNCTION d.pick(x INT64, y INT64) AS (x);"),
        ("2.sql", "CREATE TABLE d.first AS SELECT d.pick(a, b) AS c FROM d.s;"),
        ("3.sql", "DROP FUNCTION d.pick; CREATE OR REPLACE FUNCTION d.pick(x INT64, y INT64) AS (y);"),
        ("4.sql", "CREATE TABLE d.second AS SELECT d.pick(a, b) AS c FROM d.s;"),
        ("5.sql", "CREATE TABLE d.third AS SELECT d.twice(a) AS c FROM d.s;"),
        ("6.sql", "CREATE OR REPLACE FUNCTION d.total() AS ((SELECT SUM(b) FROM d.s));"),
        ("7.sql", "CREATE TABLE d.fourth AS SELECT d.total() AS c;"),
    ]
    store = GraphStore(Warehouse(tmp_path / "lake"))
    harvest(store, estate_of(texts, dialect="bigquery"), HarvestOptions(schema=SCHEMA))
    assert pairs(store) == [
        ("d.first", "a", False),
        ("d.fourth", "b", False),
        ("d.second", "b", False),
        ("d.third", "a", True),  # nothing defines `twice`
    ]


def analyst(texts, monkeypatch):
    """A function that gives the rows of texts by number, analysed in some batches by a worker that begins."""
    scripts = [Script(f"{at}.sql", text, "bigquery", "") for at, text in enumerate(texts)]
    units = with_preludes([unit for script in scripts for unit in cut_units(script)])
    setting = HarvestSetting({"bigquery": import_schema(SCHEMA, "bigquery")})

    def rows_of(*batches):
        monkeypatch.setattr(preludes, "_kept", WeakKeyDictionary())
        found = {}
        for batch in batches:
            tasks = [Task(at, units[at], Slice()) for at in batch]
            found |= {row["index"]: row for row in analyse_tasks(tasks, setting).to_pylist()}
        return found

    return rows_of


def test_the_guess_at_an_unknown_function_does_not_reach_units_that_know_it(monkeypatch):
    """`wrap` is defined before `is_on`, which it calls: for it, ZetaSQL is told of some `is_on`."""
    texts = [
        "CREATE FUNCTION d.wrap(x INT64) AS (d.is_on(x));",
        "CREATE FUNCTION d.is_on(x INT64) AS (x > 0);",
        "CREATE TABLE d.t AS SELECT a FROM d.s WHERE d.wrap(a) = 'x';",
        "CREATE TABLE d.u AS SELECT a FROM d.s WHERE d.is_on(b) AND a > 1;",
    ]
    rows_of = analyst(texts, monkeypatch)
    alone = rows_of([3])[3]
    assert [each["status"] for each in alone["statements"]] == ["resolved"]
    assert rows_of([0, 1, 2, 3])[3] == rows_of([1], [2], [3])[3] == alone


def test_a_function_without_a_project_is_found_in_every_batch(monkeypatch):
    """Files define `m.f` and call `p.m.f`: what one unit makes of that must not decide what others see."""
    texts = [
        "CREATE FUNCTION m.key(x ANY TYPE) AS (x);",
        "CREATE FUNCTION m.half(x INT64) AS (DIV(x, 2));",
        "CREATE FUNCTION d.first(x ANY TYPE) AS (p.m.key(x));",  # its body is resolved for the types of a call
        "CREATE TABLE d.t AS SELECT p.m.key(a) AS k, p.m.half(b) AS h FROM d.s;",
        "CREATE TABLE d.u AS SELECT d.first(a) AS k FROM d.s;",
        "CREATE TABLE d.v AS SELECT p.m.half(b) AS h, lost FROM d.s;",
        "CREATE TABLE d.w AS SELECT p.m.half('x') AS h FROM d.s;",
    ]
    rows_of = analyst(texts, monkeypatch)
    whole = rows_of(range(7))
    assert [whole[at]["statements"][0]["status"] for at in (3, 4)] == ["resolved", "resolved"]
    for at in range(7):
        assert rows_of([at])[at] == whole[at]
    said = " ".join(issue["message"] for at in (5, 6) for issue in whole[at]["issues"])
    assert all(word in said for word in ("lost", "STRING"))  # the reason, not the function that was found
    assert not any(words in said for words in ("not found: p.m", "chained call"))


def test_functions_of_an_earlier_estate_are_not_known_to_the_next(tmp_path):
    first = [("1.sql", "CREATE FUNCTION d.f(x INT64) AS (x + 1);"), ("2.sql", "SELECT d.f(a) AS c FROM d.s")]
    second = [("3.sql", "CREATE TABLE d.u AS SELECT d.f(a) AS c FROM d.s;")]
    for name, texts, doubt in (("one", first, False), ("two", second, True)):
        store = GraphStore(Warehouse(tmp_path / name))
        harvest(store, estate_of(texts, dialect="bigquery"), HarvestOptions(schema=SCHEMA))
        assert [each[2] for each in pairs(store)] == [doubt]


def test_functions_before_many_units_are_cut_once(tmp_path, monkeypatch):
    """Two files define one name, so that the units cannot share it; one of them ZetaSQL does not parse as a whole."""
    broken = "CREATE FUNCTION d.f(x INT64) AS (x + 1); SELECT FROM WHERE; CREATE FUNCTION d.g(x INT64) AS (x);"
    texts = [("1.sql", broken), ("2.sql", "CREATE FUNCTION d.f(x INT64) AS (x + 2);")]
    texts += [(f"t{at}.sql", f"CREATE TABLE d.t{at} AS SELECT d.f(a) AS c, d.g(b) AS e FROM d.s;") for at in range(9)]
    cut, real = Counter(), preludes.split_script
    monkeypatch.setattr(
        preludes, "split_script", lambda source, *more: cut.update([source.text]) or real(source, *more)
    )
    store = GraphStore(Warehouse(tmp_path / "lake"))
    harvest(store, estate_of(texts, dialect="bigquery"), HarvestOptions(schema=SCHEMA))
    assert {each[0] for each in pairs(store)} == {f"d.t{at}" for at in range(9)}
    assert cut[broken] == 1


TSQL = """CREATE OR ALTER FUNCTION app.kind_of (@name NVARCHAR(50)) RETURNS INT AS
BEGIN
  DECLARE @id INT
  SELECT TOP 1 @id = id FROM app.kinds WHERE name = @name
  RETURN @id
END"""
PLPGSQL = """CREATE FUNCTION app.kind_of(n text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE v int; BEGIN SELECT k.id INTO v FROM app.kinds k WHERE k.name = n; RETURN v; END $$"""
MACRO = "CREATE MACRO app.kind_of(n) AS (SELECT id FROM app.kinds WHERE name = n)"
PLAIN = (
    "CREATE FUNCTION app.kind_of(n text) RETURNS int LANGUAGE sql AS $$ SELECT id FROM app.kinds WHERE name = n $$"
)


@pytest.mark.parametrize(
    ("dialect", "function"), [("tsql", TSQL), ("postgres", PLPGSQL), ("postgres", PLAIN), ("duckdb", MACRO)]
)
def test_a_function_of_another_file_gives_the_columns_that_it_reads(tmp_path, dialect, function):
    texts = [
        ("calls.sql", "\n\nINSERT INTO app.sales (kind) SELECT app.kind_of('cash') FROM app.staged"),
        ("kinds.sql", "CREATE TABLE app.kinds (id INT, name VARCHAR(50))"),
        ("makes.sql", function),
    ]
    store = GraphStore(Warehouse(tmp_path / "lake"))
    harvest(store, estate_of(texts, dialect=dialect), HarvestOptions())
    edges = [each for each in store.state().read(EDGES).to_pylist() if each["target_column"] == "kind"]
    found = {(each["target_column"], each["source"], each["source_column"], each["kind"]) for each in edges}
    assert found == {("kind", "app.kinds", "id", "IDENTITY"), ("kind", "app.kinds", "name", "FILTER")}
    assert {(each["line"], each["file"], each["approximate"]) for each in edges} == {(3, "sql/calls.sql", None)}
    again = harvest(store, estate_of(texts, dialect=dialect), HarvestOptions())
    assert again.analysed == 0
    texts[2] = ("makes.sql", function.replace("id", "name"))
    harvest(store, estate_of(texts, dialect=dialect), HarvestOptions())
    kinds = {(each["source_column"], each["kind"]) for each in store.state().read(EDGES).to_pylist()}
    assert ("name", "IDENTITY") in kinds
    assert ("id", "IDENTITY") not in kinds


def test_rows_of_a_macro_of_another_file_have_their_columns(tmp_path):
    texts = [
        (
            "a.sql",
            "CREATE VIEW s.best AS SELECT b.amount AS best FROM s.customers c JOIN s.big(10) b ON b.customer = c.id",
        ),
        ("big.sql", "CREATE MACRO s.big(n) AS TABLE SELECT customer, amount FROM s.orders WHERE amount > n"),
    ]
    store = GraphStore(Warehouse(tmp_path / "lake"))
    harvest(store, estate_of(texts, dialect="duckdb"), HarvestOptions())
    assert ("s.best", "amount", False) in pairs(store)
