"""What a review says of changes whose effect is known."""

import pytest
from tests.review.history import History

STAGING, MART = "sql/1_staging.sql", "sql/2_mart.sql"


def test_no_change_is_no_change(shop):
    found = shop.review()
    assert found["changes"] == found["findings"] == found["rebuild"] == []
    assert found["head"].startswith("the work tree")


def test_a_column_that_is_removed_and_read_is_breaking(shop):
    shop.replace(STAGING, "o.amount AS total, ", "")
    found = shop.review()
    (removed,) = [each for each in found["changes"] if each["column"] == "total"]
    assert removed["risk"] == "breaking"
    assert [(each["dataset"], each["column"], each["file"]) for each in removed["readers"]] == [
        ("mart.revenue", "revenue", MART)
    ]
    assert removed["reaches"] == ["mart.revenue", "mart.report"]
    assert [each["code"] for each in found["findings"]] == ["UNKNOWN_COLUMN"]
    assert (found["findings"][0]["file"], found["findings"][0]["line"]) == (MART, 2)


def test_a_column_that_nobody_reads_any_more_is_possibly_breaking(shop):
    shop.replace(STAGING, ", o.state FROM", " FROM")
    assert shop.changes() == {("column removed", "stg.orders.state", "possibly")}


def test_readers_that_go_with_their_column_are_named(shop):
    shop.replace(STAGING, ", country FROM", " FROM")
    shop.replace(MART, "c.country, sum", "sum")
    shop.replace(MART, " GROUP BY c.country", "")
    shop.replace(MART, "SELECT country, revenue", "SELECT revenue")
    found = {each["column"]: each for each in shop.review()["changes"] if each["kind"] == "column removed"}
    assert found["country"]["risk"] == "possibly"
    assert {each["risk"] for each in found.values()} == {"possibly"}


def test_an_added_column_is_additive(shop):
    shop.replace(STAGING, "o.state FROM", "o.state, o.placed FROM")
    assert shop.changes() == {("column added", "stg.orders.placed", "additive")}


def test_a_renamed_column_says_its_new_name(shop):
    shop.replace(STAGING, "o.amount AS total", "o.amount AS sum_total")
    (renamed,) = [each for each in shop.review()["changes"] if each["kind"] == "column renamed"]
    assert (renamed["before"], renamed["after"], renamed["risk"]) == ("total", "sum_total", "breaking")


def test_a_value_that_is_made_differently(shop):
    shop.replace(STAGING, "o.amount AS total", "o.amount * 100 AS total")
    (change,) = shop.review()["changes"]
    assert (change["kind"], change["risk"]) == ("computed differently", "possibly")
    assert (change["before"], change["after"]) == ("o.amount", "o.amount * 100")
    assert [(each["dataset"], each["line"]) for each in change["readers"]] == [("mart.revenue", 2)]


def test_a_filter_changes_rows_and_what_must_be_rebuilt(shop):
    shop.replace(STAGING, "o.state <> 'test'", "o.state = 'paid'")
    found = shop.review()
    assert [(each["kind"], each["dataset"]) for each in found["changes"]] == [("other rows", "stg.orders")]
    assert found["rebuild"] == ["stg.orders", "mart.report"]  # the view between needs no rebuilding


def test_a_condition_that_is_added_takes_the_place_of_none(shop):
    shop.replace(STAGING, "AS o WHERE", "AS o WHERE o.id > 0 AND")
    shop.replace(MART, "AS o JOIN", "AS o JOIN raw.regions AS r ON r.country = o.state JOIN")
    found = {each["dataset"]: each for each in shop.review()["changes"] if each["kind"] == "other rows"}
    assert found["stg.orders"]["after"] == "o.id > 0 AND o.state <> 'test'"
    assert (found["mart.revenue"]["before"], found["mart.revenue"]["after"]) == (None, "r.country = o.state")


def test_a_column_that_was_only_named_is_shown_as_it_was(shop):
    shop.replace(STAGING, "o.customer,", "CAST(o.customer AS INT) AS customer,")
    found = {each["column"]: each for each in shop.review()["changes"] if each["kind"] == "computed differently"}
    assert (found["customer"]["before"], found["customer"]["after"]) == ("o.customer", "CAST(o.customer AS INT)")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("o.state <> 'test'", "o.state <> 'Test'"),
        ("SELECT o.id", "SELECT DISTINCT o.id"),
        (" WHERE", " /* x */\n WHERE"),
    ],
)
def test_what_edges_do_not_show_is_not_silent(shop, old, new):
    shop.replace(STAGING, old, new)
    changes = shop.changes()
    if "/*" in new:
        assert changes == set()
        assert shop.review()["same"] == [STAGING]
    else:
        assert len(changes) == 1


def test_form_alone_is_no_change(shop):
    shop.write(
        {
            STAGING: """\
            -- orders without tests
            create table stg.orders as
            select t.id, t.customer,
                   t.amount as total, t.state
            from raw.orders as t
            where t.state <> 'test';
            CREATE TABLE stg.customers AS SELECT id, email, country FROM raw.customers;
            """
        }
    )
    assert shop.changes() <= {("rewritten", "stg.orders", "possibly")}


def test_swapped_aliases_are_a_change(tmp_path):
    text = "CREATE TABLE d AS SELECT a.x AS one, b.x AS two FROM t AS a JOIN t AS b ON a.id = b.parent;"
    there = History(tmp_path / "r", {"a.sql": text})
    there.write({"a.sql": text.replace("a.x AS one, b.x AS two", "b.x AS one, a.x AS two")})
    assert ("computed differently", "d.one", "possibly") in there.changes()


def test_types(tmp_path):
    there = History(
        tmp_path / "r", {"ddl.sql": "CREATE TABLE t (id INT, name TEXT);\nCREATE VIEW v AS SELECT id FROM t;"}
    )
    there.write({"ddl.sql": "CREATE TABLE t (id BIGINT, name TEXT);\nCREATE VIEW v AS SELECT id FROM t;"})
    found = {each["dataset"]: each for each in there.review()["changes"]}
    assert {(each["kind"], each["before"], each["after"]) for each in found.values()} == {
        ("type changed", "INT", "BIGINT")
    }
    assert [each["dataset"] for each in found["t"]["readers"]] == ["v"]
    assert found["v"]["follows"]


def test_removed_and_added_tables(shop):
    shop.write({MART: None, "sql/3_new.sql": "CREATE TABLE mart.new AS SELECT id FROM stg.orders;"})
    assert shop.changes() == {
        ("table removed", "mart.revenue", "possibly"),
        ("table removed", "mart.report", "possibly"),
        ("table added", "mart.new", "additive"),
    }


def test_a_removed_table_that_is_read_is_breaking(shop):
    shop.replace(MART, "CREATE VIEW mart.revenue", "CREATE VIEW mart.income")
    changes = shop.changes()
    assert ("table removed", "mart.revenue", "breaking") in changes or (
        "table renamed",
        "mart.income",
        "breaking",
    ) in changes


def test_a_table_renamed_with_its_file(tmp_path):
    there = History(tmp_path / "r", {"models/old.sql": "SELECT id, total FROM raw.orders WHERE total > 0"})
    there.git("mv", "models/old.sql", "models/new.sql")
    changes = there.review("--target", "{dataset}/{table}.sql")["changes"]
    assert [(each["kind"], each["before"], each["after"]) for each in changes] == [
        ("table renamed", "models.old", "models.new")
    ]


def test_stars_pass_changes_on(tmp_path):
    files = {
        "a.sql": "CREATE TABLE a AS SELECT x, y FROM t;",
        "b.sql": "CREATE VIEW b AS SELECT * FROM a;",
        "c.sql": "CREATE TABLE c AS SELECT y FROM b;",
    }
    there = History(tmp_path / "r", files)
    there.write({"a.sql": "CREATE TABLE a AS SELECT x FROM t;"})
    found = {each["dataset"]: each for each in there.review()["changes"]}
    assert (found["a"]["risk"], found["a"]["follows"]) == ("possibly", False)
    assert (found["b"]["risk"], found["b"]["follows"]) == ("breaking", True)
    assert [each["dataset"] for each in found["b"]["readers"]] == ["c"]


def test_what_is_no_longer_understood(shop):
    shop.replace(STAGING, "country FROM raw.customers", "country FROM FROM raw.customers WHERE (")
    found = shop.review()
    assert "PARSE_ERROR" in [each["code"] for each in found["findings"]]
    assert not any(
        each["kind"] == "column removed" and each["dataset"] == "stg.customers" for each in found["changes"]
    )


def test_dbt_exposures_are_reached(tmp_path):
    files = {
        "dbt_project.yml": "name: shop\nprofile: shop\nmodel-paths: [models]\n",
        "models/stg.sql": "select id, amount from {{ source('raw', 'orders') }}",
        "models/mart.sql": "{{ config(materialized='table') }}\nselect id, amount as total from {{ ref('stg') }}",
        "models/all.yml": """\
            version: 2
            sources: [{name: raw, tables: [{name: orders}]}]
            exposures:
              - {name: weekly, type: dashboard, owner: {name: Ann}, depends_on: [ref('mart')]}
            """,
    }
    there = History(tmp_path / "r", files)
    there.replace("models/stg.sql", "amount from", "amount / 100 as amount from")
    found = there.review("--dialect", "postgres")
    assert [(each["dataset"], each["column"]) for each in found["changes"]] == [("stg", "amount")]
    assert found["changes"][0]["reaches"] == ["mart", "exposure.weekly"]
    assert found["rebuild"] == ["mart"]
    assert "exposure weekly" in there.run("--dialect", "postgres").stdout


def test_an_exposure_is_a_reader_and_no_change(tmp_path):
    files = {
        "dbt_project.yml": "name: shop\nprofile: shop\nmodel-paths: [models]\n",
        "models/one.sql": "{{ config(materialized='table') }}\nselect 1 as id, 2 as amount",
        "models/two.sql": "{{ config(materialized='table') }}\nselect 1 as id, 3 as weight",
        "models/all.yml": """\
            exposures:
              - {name: weekly, type: dashboard, depends_on: [ref('one'), ref('two')]}
            """,
    }
    there = History(tmp_path / "r", files)
    there.replace("models/one.sql", "2 as amount", "2 as amount, 4 as height")
    there.replace("models/all.yml", ", ref('two')", "")
    there.write({"models/two.sql": None})
    found = there.review("--dialect", "postgres")
    assert {(each["kind"], each["dataset"]) for each in found["changes"]} == {
        ("column added", "one"),
        ("table removed", "two"),
    }


def test_sqlmesh_models(tmp_path):
    files = {
        "config.yaml": "model_defaults: {dialect: duckdb}\n",
        "models/a.sql": "MODEL (name shop.a, kind FULL);\nSELECT id, total FROM raw.orders\n",
        "models/b.sql": "MODEL (name shop.b, kind VIEW);\nSELECT total FROM shop.a\n",
    }
    there = History(tmp_path / "r", files)
    there.replace("models/a.sql", "id, total", "id")
    assert ("column removed", "shop.a.total", "breaking") in there.changes()


def test_of_a_procedure_the_statements_that_changed_count(tmp_path):
    text = """\
        CREATE PROCEDURE dbo.night AS BEGIN
            INSERT INTO mart.orders SELECT id, amount FROM raw.orders WHERE amount > 0;
            UPDATE mart.state SET runs = runs + 1;
        END;
        """
    repository = History(tmp_path / "procedures", {"night.sql": text})
    repository.replace("night.sql", "runs + 1", "runs + 2")
    assert {each["dataset"] for each in repository.review("-d", "tsql")["changes"]} == {"mart.state"}


def test_tables_of_a_session_are_not_rebuilt(tmp_path):
    text = """\
        CREATE PROCEDURE dbo.night AS BEGIN
            SELECT id, amount INTO #paid FROM raw.orders WHERE amount > 0;
            INSERT INTO mart.orders SELECT id, amount FROM #paid;
        END;
        """
    repository = History(tmp_path / "procedures", {"night.sql": text})
    repository.replace("night.sql", "amount > 0", "amount > 9")
    assert repository.review("-d", "tsql")["rebuild"] == ["mart.orders"]


def test_of_a_procedure_variables_and_conditions_are_told_once(tmp_path):
    text = """\
        CREATE PROCEDURE dbo.night AS BEGIN
            DECLARE @least int = 1 + (SELECT max(id) FROM raw.names);
            SELECT id INTO #kept FROM raw.orders WHERE id > @least;
            INSERT INTO mart.notes SELECT id FROM #kept;
            INSERT INTO mart.all_notes SELECT id FROM raw.orders;
            UPDATE mart.state SET runs = runs + 1;
        END;
        """
    repository = History(tmp_path / "variables", {"night.sql": text})
    repository.replace("night.sql", "int = 1 +", "int = 2 +")
    repository.replace("night.sql", "runs + 1", "runs + 2")
    found = {each["dataset"]: each for each in repository.review("-d", "tsql")["changes"]}
    assert found.keys() == {"night.sql", "mart.state"}
    assert found["night.sql"]["kind"] == "variables or conditions"
    assert {"mart.notes", "mart.all_notes"} <= set(found["night.sql"]["reaches"])
    assert "other variables or conditions" in repository.run("-d", "tsql").stdout


def test_results_of_a_script_may_have_another_number(tmp_path):
    text = "".join(f"SELECT id, {number} AS n FROM raw.orders WHERE id > {number};\n" for number in range(1, 5))
    repository = History(tmp_path / "results", {"all.sql": text})
    repository.replace("all.sql", "SELECT id, 2 AS n", "SELECT customer FROM raw.customers;\nSELECT id, 2 AS n")
    found = repository.review("-d", "postgres")["changes"]
    assert [(each["kind"], each["dataset"]) for each in found] == [("table added", "all.sql#1")]
    repository.commit("added")
    repository.replace("all.sql", "SELECT customer FROM raw.customers;\n", "")
    found = repository.review("-d", "postgres", base="HEAD")["changes"]
    assert [(each["kind"], each["dataset"]) for each in found] == [("table removed", "all.sql#1")]
