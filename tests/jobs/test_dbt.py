"""dbt projects without dbt: a small shop of our own, rendered, put in order and harvested."""

import json

import pytest

from headwater.cli.main import run
from headwater.graph import GraphStore, LineageGraph
from headwater.graph.tables import COLUMNS, ISSUES, STATEMENTS, WHOLE
from headwater.graph.tags import describe
from headwater.jobs.harvest.dbt.scripts import read_dbt
from headwater.jobs.harvest.harvest import HarvestOptions, harvest
from headwater.jobs.harvest.order import in_order
from headwater.jobs.harvest.sources import read_estate
from headwater.model.edges import InfluenceClass

FILES = {
    "dbt_project.yml": """
name: shop
model-paths: [models, ../shared]
vars: {currency: EUR, shop: {rate: '{{ 100 }}'}}
models:
  shop:
    marts: {+materialized: table, +schema: "{{ 'marts' }}"}
""",
    "profiles.yml": 'default: {outputs: {dev: {type: postgres, schema: \'{{ env_var("DBT_SCHEMA", "main") }}\'}}}',
    "../shared/countries.sql": "select code, name from {{ ref('regions') }}",
    "seeds/regions.csv": "code,name,continent\nDE,Germany,Europe\n",
    "snapshots/kept.sql": """{# {% macro no() %} #}
{% snapshot kept_orders %}
{{ config(unique_key='id', strategy='timestamp', updated_at='changed', target_schema='kept') }}
select id, changed, status from {{ source('raw', 'orders') }}
{% endsnapshot %}
""",
    "models/sources.yml": """
version: 2
sources:
  - name: raw
    schema: landing
    tables:
      - name: orders
        identifier: orders_v2
        columns: [{name: id, data_type: int}, {name: cents}, {name: status}, {name: changed}]
models:
  - name: dim
    latest_version: 2
    versions: [{v: 1}, {v: 2}]
exposures:
  - name: weekly
    depends_on: [ref('revenue'), ref('countries')]
snapshots:
  - {name: declared, relation: ref('stg_orders'), config: {unique_key: id}}
""",
    "models/stg_orders.sql": """{{ config(alias='orders') }}
select {{ dbt_utils.star(from=source('raw', 'orders'), except=['cents']) }},
    {{ money('cents') }} as amount
from {{ source('raw', 'orders') }}
""",
    "models/dim_v1.sql": "select code from {{ ref('regions') }}",
    "models/dim_v2.sql": "select code as country from {{ ref('regions') }}",
    "models/marts/revenue.sql": """{{ config(materialized='incremental') }}
select o.id, d.country, {{ total('o.amount') }} as revenue
from {{ ref('shop', 'stg_orders') }} o
join {{ ref('dim') }} d on true
{% if is_incremental() %}where o.changed > (select max(id) from {{ this }}){% endif %}
group by {{ names(2) | join(', ') }}
""",
    "models/marts/old.sql": "select code from {{ ref('dim', v=1) }}",
    "models/broken.sql": "select {{ exceptions.raise_compiler_error('no') }} from {{ ref('countries') }}",
    "models/asks.sql": """{% set found = run_query('select 1') %}
select code{% for row in found %}, '{{ row[0] }}' as x{% endfor %} from {{ ref('countries') }}""",
    "models/strange.sql": "select {{ lost_package.shout('code') }} as loud from {{ ref('countries') }}",
    "models/script.py": "def model(dbt, session):\n    return dbt.ref('countries')\n",
    "macros/money.sql": """
{% macro money(column) %}{{ return(adapter.dispatch('money')(column)) }}{% endmacro %}
{% macro default__money(column) %}{{ column }} / 0{% endmacro %}
{% macro postgres__money(column) -%} ({{ column }} / {{ var('rate') }}) {%- endmacro %}
{% macro total(column) %}sum({{ column }}){% if var('currency') == 'EUR' %} * 1{% endif %}{% endmacro %}
{% macro names(n) %}
  {% set all = [] %}{% for i in range(n) %}{% do all.append(i + 1) %}{% endfor %}{{ return(all) }}
{% endmacro %}
{% macro loop_for_ever() %}{% set l = [1] %}{% for x in l %}{% do l.append(x) %}{% endfor %}{% endmacro %}
""",
    "macros/names.sql": """{% macro generate_schema_name(custom_schema_name, node) -%}
{{ custom_schema_name or target.schema }}
{%- endmacro %}""",
}


@pytest.fixture
def shop(tmp_path, monkeypatch):
    project = tmp_path / "shop"
    for name, text in FILES.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DBT_PROFILES_DIR", str(tmp_path / "none"))
    return project


def scripts(shop, **variables):
    return {script.makes: script for script in read_dbt(shop, None, variables).scripts}


def test_a_project_renders_as_dbt_does(shop):
    made = scripts(shop)
    orders = "select id, status, changed, (cents / 100) as amount from landing.orders_v2"
    assert " ".join(made["main.orders"].text.split()) == f"CREATE VIEW main.orders AS {orders}"
    assert made["main.orders"].dialect == "postgres"  # as the profile says
    assert made["main.countries"].text == "CREATE VIEW main.countries AS select code, name from main.regions"
    assert made["marts.old"].text == "CREATE TABLE marts.old AS select code from main.dim_v1"
    assert made["kept.kept_orders"].text.startswith("CREATE TABLE kept.kept_orders AS SELECT snapshotted.*, ")


@pytest.mark.parametrize(("folder", "known"), [("profile", True), (".dbt", True), ("ci/dbt", False)])
def test_a_profile_may_lie_in_a_folder_of_the_project(shop, folder, known):
    (shop / folder).mkdir(parents=True)
    (shop / "profiles.yml").rename(shop / folder / "profiles.yml")
    found = read_dbt(shop, None, {})
    assert ({script.dialect for script in found.scripts} == {"postgres"}) is known
    told = [text for text in found.warnings if "the dialect of the dbt project `shop` is not known" in text]
    assert len(told) == (not known)


def test_a_dialect_that_is_named_needs_no_profile(shop):
    (shop / "profiles.yml").unlink()
    assert not any("dialect" in text for text in read_dbt(shop, "snowflake", {}).warnings)


def test_both_branches_of_an_incremental_model_are_there(shop):
    first, second = scripts(shop)["marts.revenue"].text.split("\n;\n")
    assert "where" not in first
    assert first.startswith("CREATE TABLE marts.revenue AS")
    assert second.startswith("INSERT INTO marts.revenue")
    assert "select max(id) from marts.revenue" in second
    assert "sum(o.amount) * 1 as revenue" in first
    assert "group by 1, 2" in first
    assert "* 1" not in scripts(shop, currency="USD")["marts.revenue"].text


def test_the_order_is_that_of_refs(shop):
    (shop / "models/a_lost.sql").write_text(
        "select * from {{ ref('revenue_of_others') }} join {{ ref('old_orders') }}"
    )
    (shop / "models/stg_late.sql").write_text(
        "{{ config(alias='old_orders', schema='z') }}select * from {{ ref('a_lost') }}"
    )
    names = [script.makes for script in in_order(read_estate([str(shop)]).scripts)]
    for before, after in [
        ("main.orders", "marts.revenue"),
        ("main.dim_v2", "marts.revenue"),
        ("marts.revenue", "exposure.weekly"),
        ("main.countries", "main.broken"),
        ("main.a_lost", "z.old_orders"),  # a name that is not found means no other table that ends alike
    ]:
        assert names.index(before) < names.index(after)


@pytest.fixture
def graph(shop, tmp_path):
    store = GraphStore(str(tmp_path / "lake"))
    harvest(store, read_estate(["shop"]), HarvestOptions(spark=False))
    return LineageGraph(store.state())


def traced(graph, name):
    return [str(node) for node in graph.trace(name, influences=[InfluenceClass.VALUE]).nodes]


def rows(graph, table):
    return graph.state.read(table).to_pylist()


def test_the_lineage_of_a_project(graph):
    assert traced(graph, "marts.revenue.revenue") == ["main.orders.amount", "landing.orders_v2.cents"]
    reached = {str(node) for node in graph.impact("landing.orders_v2.cents").nodes}
    assert {"marts.revenue.revenue", "exposure.weekly.revenue"} <= reached
    places = {step.place for step in graph.trace("marts.revenue.revenue", influences=[InfluenceClass.VALUE]).steps}
    assert places == {"shop/models/marts/revenue.sql:2", "shop/models/stg_orders.sql:3"}


WORDS = """
version: 2
groups: [{name: finance, owner: {name: Finance, email: finance@shop.example}}]
models:
  - name: stg_orders
    description: "{{ doc('orders') }}"
    config: {meta: {owner: [ana, bo]}}
    columns: [{name: amount, description: 'In EUR'}, {name: status, description: "{{ doc('nowhere') }}"}]
  - {name: revenue, description: What was sold, group: finance}
sources:
  - name: raw
    schema: landing
    tables:
      - {name: orders, identifier: orders_v2, description: From the shop,
         columns: [{name: cents, description: Cents}]}
exposures:
  - {name: weekly, description: For the board, owner: {email: board@shop.example}, depends_on: [ref('revenue')]}
"""


def words(store):
    rows = store.state().read(COLUMNS).to_pylist()
    told = {f"{row['dataset']}.{row['column']}": (row["description"], row["owner"]) for row in rows}
    return {name: said for name, said in told.items() if any(said)}


def test_descriptions_and_owners_are_kept_beside_our_own(shop, tmp_path):
    yaml = shop / "models/words.yml"
    yaml.write_text(WORDS)
    (shop / "models/orders.md").write_text("{% docs orders %}\nOne row for each order.\n{% enddocs %}")
    store = GraphStore(str(tmp_path / "lake"))
    harvest(store, read_estate(["shop"]), HarvestOptions(spark=False))
    assert words(store) == {
        "main.orders.*": ("One row for each order.", "ana, bo"),
        "main.orders.amount": ("In EUR", None),
        "marts.revenue.*": ("What was sold", "Finance"),
        "landing.orders_v2.*": ("From the shop", None),
        "landing.orders_v2.cents": ("Cents", None),
        "exposure.weekly.*": ("For the board", "board@shop.example"),
    }
    describe(store, "main.orders", "Ours", owner="sales")
    harvest(store, read_estate(["shop"]), HarvestOptions(spark=False))
    assert words(store)["main.orders.*"] == ("One row for each order.", "ana, bo"), "both are kept"
    graph = LineageGraph(store.state())
    assert str(graph.search("owner:sales")[0]) == "main.orders.*"
    assert str(graph.search("owner:Finance sold")[0]) == "marts.revenue.*"
    yaml.unlink()
    harvest(store, read_estate(["shop"]), HarvestOptions(spark=False))
    whole = {row["dataset"]: row for row in store.state().read(COLUMNS).to_pylist() if row["column"] == WHOLE}
    assert [*whole] == ["main.orders"], "what people have said stays"
    row = whole["main.orders"]
    assert (row["words"], row["tags"], row["description"], row["owner"]) == ("Ours", ["owner:sales"], None, None)


def test_snapshots_have_the_columns_that_dbt_adds(graph):
    assert traced(graph, "kept.kept_orders.dbt_valid_from") == ["landing.orders_v2.changed"]
    assert traced(graph, "main.declared.amount") == ["main.orders.amount", "landing.orders_v2.cents"]
    (place,) = {step.place for step in graph.trace("kept.kept_orders.status").steps}
    assert place == "shop/snapshots/kept.sql:4"


def test_a_model_that_cannot_be_rendered_keeps_its_tables(graph):
    found = {row["target"]: row for row in rows(graph, STATEMENTS)}
    for name in ("main.broken", "main.script"):
        assert (found[name]["status"], found[name]["reads"]) == ("table-only", ["main.countries"]), name
    assert {row["file"] for row in rows(graph, ISSUES) if row["severity"] == "error"} == {"shop/models/broken.sql"}


def test_a_loop_without_end_is_stopped(shop):
    text = "{{ loop_for_ever() }} select 1 as a from {{ ref('countries') }}"
    (shop / "models/endless.sql").write_text(text)
    made = scripts(shop)["main.endless"]
    assert (made.is_rough, made.reads) == (True, ("main.countries",))
    assert "loops take more than" in made.rendered.issues[-1].message


def test_what_only_a_database_or_a_package_knows_is_approximate(graph):
    found = {row["target"]: row["status"] for row in rows(graph, STATEMENTS)}
    assert (found["main.asks"], found["main.strange"]) == ("approximate", "approximate")
    assert traced(graph, "main.strange.loud") == ["main.countries.code", "main.regions.code"]
    messages = {row["message"] for row in rows(graph, ISSUES)}
    assert "the template uses `lost_package.shout`, which is not defined here" in messages
    assert any("runs a query" in message for message in messages)


def test_what_is_switched_off_renders_as_if_it_were_on(shop):
    (shop / "models/off.sql").write_text(
        "{{ config(enabled=var('wide', false)) }}"
        "{% if var('wide', false) %}select code from {{ ref('regions') }}{% endif %}"
    )
    (shop / "models/other.sql").write_text("{{ config(enabled=false, alias='countries') }}select 1 as x")
    made = scripts(shop)
    assert made["main.off"].text.endswith("select code from main.regions")
    assert "select 1" not in made["main.countries"].text  # of two that make a table, the one that is on


def test_an_unchanged_project_is_not_analysed_again(shop, tmp_path):
    store = GraphStore(str(tmp_path / "lake"))
    assert harvest(store, read_estate(["shop"]), HarvestOptions(spark=False)).analysed > 10
    assert harvest(store, read_estate(["shop"]), HarvestOptions(spark=False)).analysed == 0


def test_templates_reach_nothing_of_the_machine(shop, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hidden")
    monkeypatch.setenv("DBT_ENV_SECRET_X", "hidden")
    (shop / "models/spy.sql").write_text(
        "select '{{ env_var('AWS_SECRET_ACCESS_KEY', '') }}{{ env_var('DBT_ENV_SECRET_X', '') }}' as a, "
        "{{ modules.re.enum }} as b, {{ ref.__class__ }} as c"
    )
    text = scripts(shop)["main.spy"].text
    assert "hidden" not in text
    assert "module" not in text
    assert "class" not in text.replace("__class__", "")


def test_a_manifest(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model = {"resource_type": "model", "package_name": "shop", "database": "db", "language": "sql"}
    nodes = {
        "model.shop.a_mart": {**model, "name": "a_mart", "schema": "m", "original_file_path": "models/a_mart.sql"}
        | {"compiled_code": 'select total from "db"."s"."z_stg"', "relation_name": '"db"."m"."a_mart"'}
        | {"depends_on": {"nodes": ["model.shop.z_stg"]}},
        "model.shop.z_stg": {**model, "name": "z_stg", "schema": "s", "original_file_path": "models/z_stg.sql"}
        | {"raw_code": "select {{ shout('amount') }} as total, o.* from {{ source('raw', 'orders') }} o"},
    }
    macro = {"name": "shout", "package_name": "shop", "macro_sql": "{% macro shout(c) %}upper({{ c }}){% endmacro %}"}
    source = {"source_name": "raw", "name": "orders", "database": "db", "schema": "raw", "identifier": "orders"}
    source |= {"description": "From the shop", "columns": {"amount": {"name": "amount", "description": "In EUR"}}}
    nodes["model.shop.z_stg"] |= {"description": "As it came", "group": "finance"}
    exposure = {"name": "board", "owner": {"name": "Bo"}, "depends_on": {"nodes": ["model.shop.a_mart"]}}
    metric = {"name": "sales", "depends_on": {"nodes": ["semantic_model.shop.s"]}}
    metric["type_params"] = {"input_measures": [{"name": "paid"}]}
    semantic = {"depends_on": {"nodes": ["model.shop.a_mart"]}, "measures": [{"name": "paid", "expr": "total"}]}
    manifest = {
        "metadata": {"adapter_type": "postgres", "project_name": "shop"},
        "nodes": nodes,
        "macros": {"macro.shop.shout": macro},
        "groups": {"group.shop.finance": {"name": "finance", "owner": {"email": "finance@shop.example"}}},
        "sources": {"source.shop.raw.orders": source},
        "exposures": {"exposure.shop.board": exposure},
        "metrics": {"metric.shop.sales": metric},
        "semantic_models": {"semantic_model.shop.s": semantic},
    }
    catalog = {"sources": {"source.shop.raw.orders": {"columns": {"amount": {"name": "amount", "type": "int"}}}}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "catalog.json").write_text(json.dumps(catalog))
    assert run(["harvest", "manifest.json", "--no-spark", "--strict", "--warehouse", "lake"]) == 0
    assert words(GraphStore("lake")) == {
        "db.raw.orders.*": ("From the shop", None),
        "db.raw.orders.amount": ("In EUR", None),
        "db.s.z_stg.*": ("As it came", "finance@shop.example"),
        "exposure.board.*": (None, "Bo"),
    }
    monkeypatch.setenv("HEADWATER_WAREHOUSE", "lake")
    capsys.readouterr()
    assert run(["impact", "db.raw.orders.amount"]) == 0
    said = capsys.readouterr().out
    for name in (
        "db.s.z_stg.total",
        "db.s.z_stg.amount",
        "db.m.a_mart.total",
        "exposure.board.total",
        "metric.sales.sales",
    ):
        assert name in said
