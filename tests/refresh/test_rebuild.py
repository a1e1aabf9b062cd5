"""`headwater rebuild`: tables in order, the least of them, and the same rows whatever happens on the way."""

import random
import signal
import subprocess
import sys
import time

import pytest

import headwater
from headwater.errors import CannotTellError, NotFoundError, UsageError
from headwater.graph.origins import ingest_origins
from headwater.graph.rebuild import adopt_table, find_tables, plan_rebuild, rebuild
from headwater.graph.rebuild_recipe import ON_SPARK
from headwater.graph.store import GraphStore
from headwater.graph.tags import tag_columns
from headwater.lake.metadata.snapshot import InputVersion, Origin, Recipe
from headwater.provenance.replay import replay_rows
from tests.effort import first_then_slow
from tests.refresh.pipelines import Pipeline

CHAIN = {
    "paid": "SELECT id, customer, amount FROM orders WHERE amount > 2",
    "totals": "SELECT customer, sum(amount) AS total, count(*) AS n FROM paid GROUP BY customer",
    "names": "SELECT id, upper(name) AS name FROM customers",
    "report": "SELECT n.name, t.total FROM totals t JOIN names n ON n.id = t.customer",
}


@pytest.fixture
def chain(session):
    for name, query in CHAIN.items():
        session.sql(f"CREATE MATERIALIZED VIEW {name} AS {query}")
    return session


def rows(session, text):
    return sorted(session.sql(text).fetchall(), key=repr)


def check(session):
    for name, query in CHAIN.items():
        assert rows(session, f"FROM {name}") == rows(session, query), name


def ways(found):
    return {each.table.removeprefix("default."): each.way for each in found}


def test_tables_come_after_what_they_are_made_of(chain):
    chain.sql("INSERT INTO orders VALUES (9, 3, 8, '')")
    tables = find_tables(chain.warehouse)
    assert ways(plan_rebuild(chain.warehouse, tables)) == {
        "paid": "rows",
        "totals": "waits",
        "names": "nothing",
        "report": "waits",
    }
    assert ways(rebuild(chain.warehouse, tables, verify=True)) == {
        "paid": "rows",
        "totals": "groups",
        "names": "nothing",
        "report": "rows",
    }
    check(chain)


def test_a_plan_tells_what_is_read_and_the_time_of_earlier_refreshes(chain):
    def plan(**options):
        return {each.table: each for each in plan_rebuild(chain.warehouse, find_tables(chain.warehouse), **options)}

    chain.sql("INSERT INTO orders VALUES (9, 3, 8, '')")
    cost = plan()["default.paid"].cost
    assert (cost.changed_rows, cost.input_rows, cost.seconds) == (1, 5, None)
    assert cost.changed_bytes > 0
    assert cost.input_bytes > 0
    waits = plan()["default.totals"].cost
    assert (waits.changed_rows, waits.input_rows) == (None, 3)
    assert waits.seconds == made_in(chain, "totals").seconds  # it was made once, when it was created
    rebuild(chain.warehouse, find_tables(chain.warehouse))
    chain.sql("INSERT INTO orders VALUES (10, 3, 8, '')")
    record = made_in(chain, "paid")
    assert record.way == "rows"
    assert plan()["default.paid"].cost.seconds == record.seconds
    full = plan(full=True)["default.paid"].cost
    assert (full.changed_rows, full.input_rows) == (None, 6)
    assert full.seconds == chain.table("paid").snapshots()[0].origin.refresh.seconds


def made_in(session, name):
    return session.table(name).snapshot().origin.refresh


def test_only_what_is_behind_is_touched(chain):
    chain.sql("INSERT INTO orders VALUES (9, 3, 1, '')")  # too little to be paid
    found = rebuild(chain.warehouse, find_tables(chain.warehouse))
    assert [each.table for each in found if each.snapshot_id is not None] == ["default.paid"]
    before = {name: chain.table(name).snapshot().snapshot_id for name in CHAIN}
    assert set(ways(rebuild(chain.warehouse, find_tables(chain.warehouse), jobs=2)).values()) == {"nothing"}
    assert before == {name: chain.table(name).snapshot().snapshot_id for name in CHAIN}


def test_a_selector_names_tables_and_those_around_them(chain):
    found = [*find_tables(chain.warehouse, "+default.totals")]
    assert found == ["default.paid", "default.totals"]
    assert set(find_tables(chain.warehouse, "default.totals+1")) == {"default.totals", "default.report"}
    with pytest.raises(NotFoundError, match="total"):
        find_tables(chain.warehouse, "default.total")


def test_stale_names_what_is_behind_and_what_is_made_of_it(chain):
    assert find_tables(chain.warehouse, "stale") == {}
    chain.sql("INSERT INTO orders VALUES (9, 1, 8, '')")
    assert set(find_tables(chain.warehouse, "stale")) == {"default.paid", "default.totals", "default.report"}
    rebuild(chain.warehouse, find_tables(chain.warehouse, "stale"))
    assert find_tables(chain.warehouse, "stale") == {}


def test_a_tag_names_the_tables_that_carry_it(chain):
    store = GraphStore(chain.warehouse)
    ingest_origins(store)
    with pytest.raises(NotFoundError, match="no table that a query defines has the tag `money`"):
        find_tables(chain.warehouse, "tag:money")
    tag_columns(store, ["default.totals.total"], ["money"])
    assert set(find_tables(chain.warehouse, "tag:money")) == {"default.totals"}
    assert set(find_tables(chain.warehouse, "tag:money+")) == {"default.totals", "default.report"}


def test_what_is_made_of_a_table_that_fails_is_left(chain):
    chain.sql("ALTER TABLE orders RENAME COLUMN amount TO price; INSERT INTO customers VALUES (9, 'zoe')")
    found = {each.table: each for each in rebuild(chain.warehouse, find_tables(chain.warehouse))}
    assert "amount" in (found["default.paid"].error or "")
    assert "default.paid failed" in (found["default.totals"].error or "")
    assert found["default.names"].way == "rows"


def test_a_table_of_create_table_as_is_adopted(session):
    session.sql("CREATE DATABASE other; USE other; CREATE TABLE copy AS SELECT id, amount FROM default.orders")
    assert find_tables(session.warehouse) == {}
    assert [*find_tables(session.warehouse, "other.copy")] == ["other.copy"]
    adopt_table(session.warehouse, "other.copy")
    session.sql("INSERT INTO default.orders VALUES (9, 3, 8, '')")
    assert [each.way for each in rebuild(session.warehouse, find_tables(session.warehouse), verify=True)] == ["full"]
    session.sql("INSERT INTO default.orders VALUES (10, 3, 8, '')")
    (found,) = rebuild(session.warehouse, find_tables(session.warehouse), verify=True)
    assert (found.way, found.differs) == ("rows", 0)


def test_tables_made_of_each_other_do_not_stop_the_others(chain):
    chain.sql("CREATE TABLE a AS SELECT id FROM orders; CREATE TABLE b AS SELECT id FROM a")
    chain.sql("INSERT OVERWRITE a SELECT id FROM b")
    assert set(find_tables(chain.warehouse)) == {f"default.{name}" for name in CHAIN}
    assert [*find_tables(chain.warehouse, "default.b")] == ["default.b"]
    with pytest.raises(UsageError, match="made of each other"):
        find_tables(chain.warehouse, "+default.b")


def test_a_statement_that_read_its_own_table_defines_nothing(session):
    session.sql("CREATE TABLE kept AS SELECT id FROM orders; INSERT OVERWRITE kept SELECT id + 1 AS id FROM kept")
    with pytest.raises(CannotTellError, match="read its rows before"):
        adopt_table(session.warehouse, "default.kept")
    with pytest.raises(NotFoundError):
        find_tables(session.warehouse, "default.kept")


def test_odd_names_are_verified(session):
    session.sql('CREATE TABLE "my-table" (id INT PRIMARY KEY, "a AS b" INT)')
    session.sql('CREATE MATERIALIZED VIEW "to-sum" AS SELECT sum("a AS b") AS "x AS y" FROM "my-table"')
    session.sql('INSERT INTO "my-table" VALUES (1, 5)')
    (found,) = rebuild(session.warehouse, find_tables(session.warehouse), verify=True)
    assert (found.way, found.differs) == ("groups", 0)


SPARK = (
    "INSERT OVERWRITE hw.default.made SELECT customer, sum(amount) AS total FROM hw.default.orders GROUP BY customer"
)


@pytest.fixture
def made_by_spark(session):
    """A table as Spark's `INSERT OVERWRITE` leaves it: with the statement, and the state of what it read."""
    session.sql("CREATE TABLE made (customer INT, total DECIMAL(20, 2))")
    read = session.table("orders")
    origin = Origin(
        sql=SPARK,
        inputs=(
            InputVersion(
                dataset="default.orders",
                snapshot_id=read.snapshot().snapshot_id,
                table_uuid=read.store.table_uuid,
                columns=("customer", "amount"),
            ),
        ),
        recipe=Recipe(engine="spark", sql=SPARK, database="default"),
    )
    session.table("made").overwrite(session.sql(TOTALS).table.cast(session.table("made").arrow_schema), origin=origin)
    return session


TOTALS = "SELECT customer, CAST(sum(amount) AS DECIMAL(20, 2)) AS total FROM orders GROUP BY customer"


def test_a_statement_of_spark_runs_on_the_states_of_now(made_by_spark):
    """DuckDB stands in for Spark here: what runs the statement is given by the caller."""
    session, warehouse = made_by_spark, made_by_spark.warehouse
    tables = find_tables(warehouse, "default.made")
    assert ways(rebuild(warehouse, tables)) == {"made": "nothing"}
    session.table("orders").compact()
    assert ways(plan_rebuild(warehouse, tables)) == {"made": "nothing"}
    session.sql("INSERT INTO orders VALUES (9, 3, 8, '')")
    (planned,) = plan_rebuild(warehouse, tables)
    assert (planned.way, planned.reasons) == ("full", ("default.orders 1→3: 1 row changed", ON_SPARK))
    (failed,) = rebuild(warehouse, tables)
    assert failed.error == ON_SPARK
    (found,) = rebuild(warehouse, tables, spark=replay_rows)
    assert (found.way, found.error) == ("full", None)
    assert rows(session, "FROM made") == rows(session, TOTALS)
    origin = session.table("made").snapshot().origin
    assert (origin.inputs[0].snapshot_id, origin.recipe.sql, origin.refresh.way) == (3, SPARK, "full")
    assert ways(rebuild(warehouse, tables)) == {"made": "nothing"}


def test_a_statement_of_spark_runs_when_columns_of_its_inputs_have_changed(made_by_spark):
    session, warehouse = made_by_spark, made_by_spark.warehouse
    session.sql("ALTER TABLE orders ADD COLUMN more INT")
    tables = find_tables(warehouse, "default.made")
    (planned,) = plan_rebuild(warehouse, tables)
    assert planned.reasons[0] == "the columns of default.orders have changed"
    assert ways(rebuild(warehouse, tables, spark=replay_rows)) == {"made": "full"}
    assert ways(rebuild(warehouse, tables)) == {"made": "nothing"}


def test_duckdb_runs_no_statement_of_spark(made_by_spark):
    with pytest.raises(CannotTellError, match="was made by Spark"):
        made_by_spark.sql("REFRESH MATERIALIZED VIEW made")
    with pytest.raises(CannotTellError, match="was made by Spark"):
        adopt_table(made_by_spark.warehouse, "default.made")


def contents(session, pipeline):
    return {view.name: rows(session, f"FROM {view.name}") for view in pipeline.views}


def expected(session, pipeline):
    """The rows of every view when all queries are run, in order, over the base tables as they are."""
    text = ", ".join(f"{view.name} AS ({view.query})" for view in pipeline.views)
    return {view.name: rows(session, f"WITH {text} FROM {view.name}") for view in pipeline.views}


def needed(pipeline, before, after, changed):
    """The views of which a column that they read has other values than before, by comparing the rows themselves."""
    moved = {(base, column) for base, columns in changed.items() for column in columns}
    for view in pipeline.views:
        for at, column in enumerate(("id", "grp", "amount", "note")):
            if sorted(row[at] for row in before[view.name]) != sorted(row[at] for row in after[view.name]):
                moved.add((view.name, column))
    return {view.name for view in pipeline.views if view.reads & moved}


@pytest.mark.parametrize("seed", first_then_slow(range(3)))
def test_one_night_writes_only_what_it_reaches(tmp_path, seed):
    """A view is written only if a column that it reads has changed in one of its inputs."""
    pipeline = Pipeline(seed, 12)
    with headwater.connect(tmp_path / "warehouse") as session:
        pipeline.create(session)
        for _ in range(2):
            before = contents(session, pipeline)
            pipeline.night(session)
            found = rebuild(session.warehouse, find_tables(session.warehouse))
            assert [each for each in found if each.error] == []
            after = contents(session, pipeline)
            assert after == expected(session, pipeline)
            changed, noted = pipeline.last
            every = {changed: ("id", "grp", "amount", "note"), noted: ("note",)}
            written = {each.table.removeprefix("default.") for each in found if each.snapshot_id is not None}
            assert written == needed(pipeline, before, after, every)


@pytest.mark.fault
@pytest.mark.parametrize(("views", "kills"), [(8, 3), pytest.param(40, 10, marks=pytest.mark.slow)])
def test_a_rebuild_that_is_killed_goes_on_where_it_was(tmp_path, views, kills):
    """Each kill comes after a random number of tables, at a random moment of the next one; the last run ends."""
    pipeline, chance = Pipeline(views, views), random.Random(5)
    folder = tmp_path / "warehouse"
    with headwater.connect(folder) as session:
        pipeline.create(session)
        pipeline.night(session)
        for number in range(kills):
            killed_after(folder, chance.randrange(1 + views // kills), chance.uniform(0.0, 0.1))
            if number % 3 == 2:
                pipeline.night(session)  # the next night comes before the last is done
    with headwater.connect(folder) as opened:
        found = rebuild(opened.warehouse, find_tables(opened.warehouse), verify=True)
        assert [each for each in found if each.error is not None or each.differs] == []
        assert contents(opened, pipeline) == expected(opened, pipeline)
        again = rebuild(opened.warehouse, find_tables(opened.warehouse))
        assert {each.way for each in again} == {"nothing"}


@pytest.mark.fault
@pytest.mark.parametrize(("seed", "views", "kills"), [(1, 12, 3), pytest.param(3, 40, 10, marks=pytest.mark.slow)])
def test_one_night_killed_again_and_again_writes_only_what_it_reaches(tmp_path, seed, views, kills):
    """Every kill hits a living process; all runs together write each table that is reached once, and no other."""
    pipeline, chance = Pipeline(seed, views), random.Random(seed)
    folder = tmp_path / "warehouse"
    with headwater.connect(folder) as session:
        pipeline.create(session)
        before = contents(session, pipeline)
        snapshots = newest(session, pipeline)
        pipeline.night(session)
        codes = [killed_after(folder, chance.randrange(2), chance.uniform(0.0, 0.2)) for _ in range(kills)]
        assert codes == [-signal.SIGKILL] * kills
    with headwater.connect(folder) as opened:
        found = rebuild(opened.warehouse, find_tables(opened.warehouse), verify=True)
        assert [each for each in found if each.error is not None or each.differs] == []
        assert any(each.way != "nothing" for each in found)  # the last kill came before the end
        after = contents(opened, pipeline)
        assert after == expected(opened, pipeline)
        changed, noted = pipeline.last
        reached = needed(pipeline, before, after, {changed: ("id", "grp", "amount", "note"), noted: ("note",)})
        commits = {name: id - snapshots[name] for name, id in newest(opened, pipeline).items()}
        assert commits == {view.name: int(view.name in reached) for view in pipeline.views}


def newest(session, pipeline):
    return {view.name: session.warehouse.table(view.name).snapshot().snapshot_id for view in pipeline.views}


def killed_after(folder, tables, seconds):
    """Start a rebuild and kill it once it has done some tables, and some time more. Return how it ended."""
    child = subprocess.Popen([sys.executable, "-c", REBUILD, str(folder)], stdout=subprocess.PIPE, text=True)
    for line in child.stdout:
        tables -= "nothing" not in line
        if tables < 0:
            break
    time.sleep(seconds)
    child.kill()
    child.communicate()
    return child.returncode


REBUILD = """
import sys
from headwater.graph.origins import ingest_origins
from headwater.graph.rebuild import find_tables, rebuild
from headwater.lake.tables import Warehouse
warehouse = Warehouse(sys.argv[1])
print("begun", flush=True)
rebuild(warehouse, find_tables(warehouse), progress=lambda done: print(done.way, flush=True))
"""
