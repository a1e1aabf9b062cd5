"""Questions to the graph, asked as a person asks them."""

import json
import re
import shlex

import pytest
from tests.cli.test_color import COLOR, on_terminal
from tests.cli.test_main import fails, headwater
from tests.graph.conftest import MARTS, STAGING, harvested

from headwater.events import EventType, Job, Run, RunEvent, encode, new_run_id
from headwater.graph import GraphStore
from headwater.lake.tables import Warehouse


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graph")
    store = GraphStore(Warehouse(folder / "w"))
    harvested(store, ("staging.sql", STAGING), ("marts.sql", MARTS))
    harvested(store, ("staging.sql", STAGING.replace("* 100", "* 1000")))

    def run(*args, code=0):
        done = headwater(*map(str, args), "--warehouse", str(folder / "w"), cwd=folder)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    run.folder = folder
    return run


def test_trace(lake):
    shown = lake("trace", "mart.revenue.total", "--influence", "value")
    assert "stg.orders.cents  AGGREGATION sum(o.cents)  marts.sql:2" in shown
    assert "amount * 1000" in shown
    assert "amount * 100 " in lake("trace", "mart.revenue.total", "--influence", "value", "--as-of", "1")
    answer = json.loads(lake("trace", "mart.revenue.total", "--depth", 1, "--json"))
    assert answer["cut"] is True


def test_values_are_followed_unless_all_is_asked_for(lake):
    assert "raw.orders.status" not in lake("trace", "mart.revenue.total")
    assert "raw.orders.status" in lake("trace", "mart.revenue.total", "--influence", "all")
    assert "stg.orders.*" not in lake("impact", "raw.orders.status")
    lake("impact", "raw.orders.status", "--fail-on", "mart.*", code=1)  # by rows only


def test_on_a_terminal_lines_fit_and_have_colours(lake):
    warehouse = str(lake.folder / "w")
    shown = on_terminal("trace", "mart.revenue.total", "--warehouse", warehouse, COLUMNS="50")
    plain = COLOR.sub("", shown).replace("\r", "").splitlines()
    assert " ".join(map(str.strip, plain[-2:])).endswith("more steps decide values or rows: --influence all")
    assert all(len(line) <= 50 for line in plain)
    assert plain[1].startswith("└─ stg.orders.cents  AGGREGATION")
    assert COLOR.search(shown)
    assert not COLOR.search(on_terminal("trace", "mart.revenue.total", "--warehouse", warehouse, NO_COLOR="1"))


def test_impact_fails_on_what_must_not_change(lake):
    lake("impact", "raw.orders.amount")
    lake("impact", "raw.orders.amount", "--fail-on", "mart.*", code=1)
    lake("impact", "raw.orders.amount", "--fail-on", "other.*")


@pytest.mark.parametrize("at", ["-1", "99", "@7", "two fortnights ago"])
def test_a_state_that_there_is_not_names_those_that_there_are(lake, at):
    run = headwater("trace", "mart.revenue", "--as-of", at, "--warehouse", lake.folder / "w")
    assert run.returncode == 2
    assert "of the graph" in run.stderr or f"the graph has no state {at}" in run.stderr
    assert "1 to 2 (`headwater harvests` lists them)" in run.stderr
    assert "table" not in run.stderr.split("\n")[0]


@pytest.mark.parametrize(
    "line",
    [
        "trace mart.revenu.total --as-of 1",
        "trace 2+mart.revenu.total --as-of 1",
        "impact raw.ordrs.amount+1",
        "search totl --as-of 1 --limit 3",
        "trace mart.revenue+2",
        "impact 1+raw.orders.amount",
        "trace zzzzzz --as-of 1",
        "checks --as-of -1",
    ],
)
def test_a_hint_can_be_followed_as_it_stands(lake, line):
    run = headwater(*line.split(), "--warehouse", lake.folder / "w")
    for command in re.findall(r"`(headwater [^`]*)`", run.stderr.replace("(headwater explain", "")):
        done = headwater(*shlex.split(command)[1:], "--warehouse", lake.folder / "w")
        assert done.returncode in (0, 1), (command, done.stderr)
        assert command.startswith("headwater harvests") or ("--as-of 1" in command) == ("--as-of 1" in line)
        assert "2+mart.revenue.total" in command or not line.startswith("trace 2+")


def test_steps_before_or_behind_a_name_are_a_depth(lake):
    assert lake("trace", "1+mart.revenue.total") == lake("trace", "mart.revenue.total", "--depth", 1)
    assert lake("impact", "raw.orders.amount+1") == lake("impact", "raw.orders.amount", "--depth", 1)
    assert lake("trace", "+mart.revenue.total") == lake("trace", "mart.revenue.total")
    assert lake("trace", "1+mart.revenue.total", "--depth", 2) == lake("trace", "mart.revenue.total", "--depth", 2)


def test_a_change_of_a_long_expression_shows_the_change(lake, tmp_path):
    for name, tail in (("before", "+ 1"), ("after", "+ 2")):
        (tmp_path / name).mkdir()
        sums = " + ".join(f"t.a_rather_long_column_{at}" for at in range(8))
        (tmp_path / name / "a.sql").write_text(f"CREATE TABLE d AS SELECT {sums} {tail} AS total FROM t")
    shown = headwater("diff", tmp_path / "before", tmp_path / "after").stdout
    for line in shown.splitlines():
        before, _, after = line.rpartition("  ")[2].partition(" ⇒ ")
        assert before != after
    assert shown.count("⇒") == 8


def test_output_by_the_ending(lake):
    lake("trace", "mart.revenue.total", "-o", "total.svg")
    assert (lake.folder / "total.svg").read_text().startswith("<svg")


def test_path_search_unused(lake):
    assert "stg.orders.cents" in lake("path", "raw.orders.amount", "mart.revenue.total")
    lake("path", "mart.revenue.total", "raw.orders.amount", code=1)
    assert lake("search", "cents").split() == ["stg.orders.cents"]
    lake("search", "zzz", code=1)
    assert "raw.orders.note" in lake("unused", "--like", "raw.*", code=1)


def test_unused_columns_are_counted_by_table(lake):
    every = lake("unused", "--columns", code=1).split()
    lines = lake("unused", code=1).splitlines()
    counts = [int(line.split()[1]) for line in lines[2:]]
    assert sum(counts) == len(every)
    assert counts == sorted(counts, reverse=True)
    assert {line.split()[0] for line in lines[2:]} == {name.rpartition(".")[0] for name in every}
    assert len(lake("unused", "--limit", "1", code=1).splitlines()) == 3


def test_tags(lake):
    assert "1 column changed" in lake("tag", "raw.customers.email", "--tag", "email")
    assert "mart.revenue.email" in lake("pii", "--tag", "email")
    lake("tag", "raw.customers.email", "--tag", "email", "--remove")
    lake("pii", "--tag", "email", code=2)


def test_diff_of_states_and_folders(lake):
    assert lake("diff", "1..2", code=1).strip() == (
        "~ raw.orders.amount → stg.orders.cents  TRANSFORMATION  amount * 100 ⇒ amount * 1000"
    )
    assert lake("diff", "2..2").strip() == "no differences"
    for name, text in (("a", STAGING), ("b", STAGING.replace("lower(email)", "email"))):
        (lake.folder / name).mkdir(exist_ok=True)
        (lake.folder / name / "staging.sql").write_text(text)
    shown = lake("diff", "a", "b", "-d", "postgres", "--format", "github", code=1)
    assert "| + | `stg.customers.email` | `raw.customers.email` | IDENTITY |" in shown
    lake("diff", "1", code=2)


def test_ingest_events(lake):
    good = RunEvent(event_type=EventType.START, run=Run(run_id=new_run_id()), job=Job(namespace="n", name="j"))
    (lake.folder / "events.ndjson").write_bytes(encode(good) + b"\n{broken\n")
    assert lake("ingest", "events.ndjson").strip() == "1 event, 1 refused"
    lake("ingest", "events.ndjson", "--strict", code=1)
    lake("ingest", "missing.ndjson", code=2)


def test_versions(lake):
    for statement in (
        "CREATE DATABASE IF NOT EXISTS shop",
        "CREATE TABLE shop.raw (id BIGINT NOT NULL, v BIGINT, PRIMARY KEY (id))",
        "INSERT INTO shop.raw VALUES (1, 1)",
        "CREATE TABLE shop.gold AS SELECT sum(v) AS v FROM shop.raw",
    ):
        lake("sql", "-e", statement)
    assert "shop.raw@1" in lake("why", "shop.gold")
    assert json.loads(lake("why", "shop.gold@1", "--json"))[0]["inputs"][0]["columns"] == ["v"]
    assert "up to date" in lake("stale")
    lake("sql", "-e", "UPDATE shop.raw SET v = 2 WHERE id = 1")
    assert "shop.gold" in lake("stale", code=1)
    assert "agree" in lake("drift")


def test_states_are_listed(lake):
    assert [each["kind"] for each in json.loads(lake("harvests", "--json"))][:2] == ["harvest", "harvest"]


def test_no_lineage_is_a_plain_error(tmp_path):
    fails(
        headwater("trace", "a.b", "--warehouse", str(tmp_path)),
        "not-found",
        "there is no lineage",
        "headwater harvest",
    )
