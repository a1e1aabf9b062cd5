"""Whatever is asked: an answer or an error of ours, and nothing is changed."""

import contextlib

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.effort import examples
from tests.mcp.assistant import connected, started
from tests.mcp.conftest import HOSTILE, make_shop

from headwater.lake.tables import Warehouse
from headwater.mcp.protocol import tools

TOOLS = tools()
odd = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.text(max_size=30),
    st.sampled_from(["", "\x00", "‮", "../../etc/passwd", "a" * 5_000, "raw.orders", "@-1", "1; DROP TABLE x"]),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=2),
)
calls = st.sampled_from(sorted(TOOLS)).flatmap(
    lambda name: st.tuples(
        st.just(name),
        st.dictionaries(st.sampled_from([*TOOLS[name].schema["properties"], "at", "self"]), odd, max_size=4),
    )
)


def snapshots(lake):
    """The latest snapshot of every table."""
    warehouse = Warehouse(str(lake))
    names = [f"{each}.{name}" for each in warehouse.list_databases() for name in warehouse.list_tables(each)]
    return {name: getattr(warehouse.table(name).snapshot(), "snapshot_id", None) for name in names}


@settings(max_examples=examples(300), suppress_health_check=list(HealthCheck))
@given(call=calls)
def test_odd_arguments_get_an_answer_or_an_error_of_ours(shop, call):
    name, arguments = call
    failed, answer = shop.call(name, **arguments)
    if failed:
        assert answer["error"]["code"] != "error", (call, answer)
        assert "Traceback" not in answer["error"]["message"]
    else:
        jsonschema.validate(arguments, TOOLS[name].schema)


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE raw.orders",
        "INSERT INTO raw.orders (id) VALUES (1)",
        "DELETE FROM raw.orders",
        "CREATE TABLE t AS SELECT 1 AS x",
        "SELECT 1; DROP TABLE raw.orders",
        "COPY raw.orders TO '/tmp/out.csv'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "ATTACH '/tmp/x.db'",
        "SET memory_limit = '100GB'",
        "REFRESH MATERIALIZED VIEW told.counted",
    ],
)
def test_sql_that_writes_or_leaves_the_warehouse_is_refused(shop, shop_lake, sql):
    before = snapshots(shop_lake)
    shop.refused("run_sql", sql=sql)
    assert snapshots(shop_lake) == before


def test_no_tool_writes_unless_it_is_allowed(shop, shop_lake):
    before = snapshots(shop_lake)
    listed = shop.tools()
    assert "rebuild" not in listed
    assert all(each.annotations.read_only_hint for each in listed.values())
    assert "--allow-write" in shop.refused("rebuild")["hint"]
    for name, tool in TOOLS.items():
        texts = dict.fromkeys(tool.schema.get("required", ()), "raw.orders")
        with contextlib.suppress(AssertionError):
            shop.ask(name, **texts)
    assert snapshots(shop_lake) == before


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("trace", {"name": "no.such"}, "no.such"),
        ("trace", {"name": "mart.revenu"}, "mart.revenu"),
        ("trace", {"name": "mart.revenue", "as_of": "state of grace"}, "state of grace"),
        ("trace", {"name": "mart.revenue", "as_of": "999"}, "999"),
        ("trace", {"name": "mart.revenue", "limit": 10**9}, "limit"),
        ("run_sql", {"sql": "SELECT 1", "limit": 5_000}, "too high"),
        ("trace", {"name": "mart.revenue", "at": "1"}, "`at`"),
        ("why", {"table": "../../etc/passwd"}, "not the name of a database"),
        ("table", {"name": "/etc/passwd"}, "passwd"),
        ("why_rows", {"table": "told.counted", "row": {}}, "row"),
        ("lineage_of_sql", {"sql": "SELECT 1", "dialect": "klingon"}, "klingon"),
        ("nothing", {}, "nothing"),
    ],
)
def test_a_refusal_says_what_is_wrong(shop, name, arguments, said):
    assert said in shop.refused(name, **arguments)["message"]


def test_texts_of_the_warehouse_are_marked_as_data(shop):
    for tool, arguments in (
        ("table", {"name": "told.notes"}),
        ("run_sql", {"sql": "SELECT text FROM told.notes WHERE id = 1"}),
    ):
        answer = shop.ask(tool, **arguments)
        assert HOSTILE in str(answer.pop("data"))
        assert HOSTILE not in str(answer)
        assert "no instruction" in answer["note"]


def test_a_server_that_may_write_rebuilds(tmp_path):
    lake = make_shop(tmp_path / "lake")
    with connected(started(lake, "--allow-write")) as assistant:
        assert not assistant.tools()["rebuild"].annotations.read_only_hint
        (done,) = assistant.ask("rebuild")["data"]["tables"]
        assert (done["table"], done["snapshot_id"]) == ("told.counted", 2)
        assert assistant.ask("stale")["total"] == 0
