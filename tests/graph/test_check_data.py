"""The built-in checks of lake tables, and the facts that they leave."""

import pytest

import headwater
from headwater.errors import InputError, NotFoundError, UsageError
from headwater.events import decode, encode
from headwater.graph import GraphStore
from headwater.graph.check_data import check_tables, declare, read_checks_file
from headwater.graph.checks import forget_check, read_checks
from headwater.graph.observed import gather, ingest
from headwater.graph.tables import CHECKS
from headwater.lake.metadata.schema_change import RenameColumn
from headwater.lake.tables import Warehouse

ROWS = """(1, 'a', 10.5, 'paid', DATE '2026-11-01', TIMESTAMP '2026-11-01 10:00:00'),
  (2, 'a', NULL, 'lost', DATE '2026-11-02', TIMESTAMP '2026-11-01 11:00:00'),
  (NULL, 'b', -1, NULL, NULL, NULL)"""


@pytest.fixture
def lake(tmp_path):
    session = headwater.connect(str(tmp_path / "lake"))
    session.sql("CREATE DATABASE shop")
    columns = "id BIGINT, kind STRING, price DOUBLE, status STRING, day DATE, at TIMESTAMP"
    session.sql(f"CREATE TABLE shop.orders ({columns})")
    session.sql(f"INSERT INTO shop.orders VALUES {ROWS}")
    session.sql("CREATE TABLE shop.empty (id BIGINT, at TIMESTAMP)")
    return session.warehouse


def results(lake, plain, table="shop.orders", at=None):
    facts, _, bad = gather([check_tables(lake, {table: declare(plain)}, at)])
    assert bad == []
    rows = [row for row in facts.of(CHECKS) if row["outcome"] != "measured"]
    return [(row["column"], row["check"], row["outcome"], row["actual"]) for row in rows]


@pytest.mark.parametrize(
    ("plain", "found"),
    [
        ({"not_null": True}, ("not_null", "fail", "1 null")),
        ({"unique": True}, ("unique", "pass", "0 duplicate")),
        ({"range": {"min": 1}}, ("range", "pass", "0 outside")),
        ({"range": {"min": 2, "max": 9}}, ("range", "fail", "1 outside")),
        ({"accepted_values": [1, 2]}, ("accepted_values", "pass", "0 other")),
        ({"accepted_values": [1]}, ("accepted_values", "fail", "1 other")),
        ({"accepted_values": []}, ("accepted_values", "pass", "0 other")),
    ],
)
def test_checks_of_a_column(lake, plain, found):
    assert results(lake, {"columns": {"id": plain}}) == [("id", *found)]


def test_values_are_compared_as_the_column_has_them(lake):
    declared = {
        "kind": {"unique": True, "accepted_values": ["a", "it's"]},
        "price": {"range": {"min": 0, "max": 10.5}},
        "day": {"range": {"min": "2026-11-02"}},
    }
    assert results(lake, {"columns": declared}) == [
        ("day", "range", "fail", "1 outside"),
        ("kind", "accepted_values", "fail", "1 other"),
        ("kind", "unique", "fail", "1 duplicate"),
        ("price", "range", "fail", "1 outside"),
    ]


def test_columns_that_are_unique_together(lake):
    assert results(lake, {"unique": ["kind", "price"]}) == [
        ("kind", "unique(kind, price)", "pass", "0 duplicate"),
        ("price", "unique(kind, price)", "pass", "0 duplicate"),
    ]
    headwater.connect(lake).sql("INSERT INTO shop.orders SELECT * FROM shop.orders")
    assert [each[2:] for each in results(lake, {"unique": ["kind", "price"]})] == [("fail", "2 duplicate")] * 2


def test_rows_and_age(lake):
    assert results(lake, {"row_count": {"min": 3, "max": 3}}) == [("*", "row_count", "pass", "3")]
    assert results(lake, {"row_count": {"max": 2}}) == [("*", "row_count", "fail", "3")]
    [(_, _, outcome, actual)] = results(lake, {"freshness": {"max_age": "1h"}})
    assert (outcome, actual.endswith("s old")) == ("pass", True)
    assert results(lake, {"freshness": {"max_age": "0s"}})[0][2] == "fail"
    assert results(lake, {"freshness": {"max_age": "9999 weeks", "column": "at"}})[0][2] == "pass"
    assert results(lake, {"freshness": {"max_age": "0.001s", "column": "day"}})[0][2] == "fail"


def test_a_table_without_rows(lake):
    assert results(lake, {"row_count": {"min": 1}}, "shop.empty") == [("*", "row_count", "fail", "0")]
    late = [("*", "freshness", "fail", "there is none")]
    assert results(lake, {"freshness": {"max_age": "1h"}}, "shop.empty") == late
    assert results(lake, {"freshness": {"max_age": "1h", "column": "at"}}, "shop.empty") == late
    assert results(lake, {"columns": {"id": {"not_null": True}}}, "shop.empty")[0][2] == "pass"


def test_the_facts_are_pinned_to_the_snapshot(lake):
    store = GraphStore(lake)
    headwater.connect(lake).sql("INSERT INTO shop.orders VALUES (9, 'z', 1, 'paid', NULL, NULL)")
    for at in (None, 1):
        ingest(store, [check_tables(lake, {"shop.orders": declare({"row_count": {"min": 4}})}, at)])
    rows = [row for row in read_checks(store.state(), history=True) if row["check"] == "row_count"]
    assert [(row["version"], row["outcome"], row["source"]) for row in rows] == [
        ("2", "pass", "check-data"),
        ("1", "fail", "check-data"),
    ]
    assert {row["table_uuid"] for row in rows} == {lake.table("shop.orders").store.table_uuid}
    newest = [row for row in read_checks(store.state()) if row["check"] == "row_count"]
    assert [row["version"] for row in newest] == ["1"]


def test_an_event_says_the_same_elsewhere(lake, tmp_path):
    """What `--events` sends is what is kept: read again, it gives the same facts."""
    event = check_tables(lake, {"shop.orders": declare({"columns": {"id": {"not_null": True, "unique": True}}})})
    [dataset] = event.inputs
    assert dataset.facets["version"].dataset_version == "1"
    here, there = (gather([each])[0].of(CHECKS) for each in (event, decode(encode(event))))
    assert here == there
    assert [(row["column"], row["check"], row["actual"]) for row in here if row["outcome"] == "measured"] == [
        ("*", "rowCount", "3"),
        ("id", "nullCount", "1"),
    ]
    far = GraphStore(Warehouse(tmp_path / "far"))
    ingest(far, [decode(encode(event))])
    assert {row["table_uuid"] for row in read_checks(far.state())} == {None}  # the table is not in this warehouse


def test_a_column_that_was_renamed_since(lake):
    lake.table("shop.orders").alter(RenameColumn("id", "number"))
    assert results(lake, {"columns": {"number": {"not_null": True}}}) == [("number", "not_null", "fail", "1 null")]
    assert results(lake, {"columns": {"id": {"not_null": True}}}, at=1)[0][2] == "fail"


def test_what_cannot_be_checked_says_why(lake):
    with pytest.raises(NotFoundError, match=r"`prise` is not a column of shop.orders") as told:
        results(lake, {"columns": {"prise": {"not_null": True}}})
    assert told.value.hint == "did you mean `price`?"
    with pytest.raises(UsageError, match=r"the checks of shop.orders cannot be run: Could not convert"):
        results(lake, {"columns": {"id": {"range": {"min": "much"}}}})
    with pytest.raises(UsageError, match="`often` is not an age"):
        results(lake, {"freshness": {"max_age": "often"}})
    with pytest.raises(UsageError, match="Expected `int"):
        declare({"row_count": {"min": "many"}})
    with pytest.raises(NotFoundError):
        results(lake, {"row_count": {"min": 1}}, "shop.nothing")


def test_a_check_that_is_run_no_more_can_be_forgotten(lake):
    store = GraphStore(lake)
    ingest(store, [check_tables(lake, {"shop.orders": declare({"row_count": {"min": 9}})})])
    assert forget_check(store, "row_count", "other.*") == 0
    assert forget_check(store, "row_count") == 1
    assert [row["check"] for row in read_checks(store.state())] == ["rowCount"]


TOML = """\
[tables."shop.orders"]
row_count = { min = 1 }
freshness = { max_age = "1h" }
unique = ["id", "day"]

[tables."shop.orders".columns]
id = { not_null = true, range = { min = 0 } }
status = { accepted_values = ["paid", "open"] }
"""
YAML = """\
tables:
  shop.orders:
    row_count: {min: 1}
    freshness: {max_age: 1h}
    unique: [id, day]
    columns:
      id: {not_null: true, range: {min: 0}}
      status: {accepted_values: [paid, open]}
"""


def test_files_of_checks(lake, tmp_path):
    (tmp_path / "checks.toml").write_text(TOML)
    (tmp_path / "checks.yml").write_text(YAML)
    found = read_checks_file(tmp_path / "checks.toml")
    assert found == read_checks_file(tmp_path / "checks.yml")
    rows = gather([check_tables(lake, found)])[0].of(CHECKS)
    assert {(row["column"], row["check"]) for row in rows if row["outcome"] == "fail"} == {
        ("id", "not_null"),
        ("status", "accepted_values"),
    }


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.toml", "tables = [", "is no file of checks"),
        ("a.yml", "tables: {t: {columns: {a: {notnull: true}}}}", "unknown field `notnull`"),
        ("b.yaml", "a: [", "it is not YAML"),
        ("c.yml", "[]", "Expected `object`"),
    ],
)
def test_files_that_are_none(tmp_path, name, text, says):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=says):
        read_checks_file(tmp_path / name)
    with pytest.raises(InputError, match="cannot be read"):
        read_checks_file(tmp_path / "nothing.toml")
