"""Jobs in words."""

import pytest

from headwater.events.titles import job_owner, job_title


@pytest.mark.parametrize(
    ("job", "title"),
    [
        ("default/shop.read_deserialize_to_object.orders_csv", "shop: read orders_csv"),
        ("default/shop.adaptive_spark_plan", "shop: read"),
        ("default/shop.rdd_csv.orders_csv", "shop: read orders_csv"),
        ("shop.execute_insert_into_hadoop_fs_relation_command.out", "shop: write to out"),
        ("shop.overwrite_by_expression.gold_revenue", "shop: overwrite gold_revenue"),
        ("shop.merge_into_table.silver_lines", "shop: merge into silver_lines"),
        ("shop.create_data_source_table_as_select_command.t", "shop: create t"),
        ("shop.execute_optimized_create_hive_table_as_select_command.t", "shop: create t"),
        ("shop.replace_table_as_select.t", "shop: replace t"),
        ("shop.delete_from_table.t", "shop: delete from t"),
        ("shop.whole_stage_codegen", "shop: read"),
    ],
)
def test_a_step_of_a_plan_is_said_in_words(job, title):
    assert job_title(job) == title
    assert job_owner(job) == "shop"


@pytest.mark.parametrize(
    "job", ["sql", "headwater harvest", "dbt/nightly.orders", "airflow/dag.load_orders", "default/shop", "a.b.c"]
)
def test_names_that_people_gave_stay(job):
    assert job_title(job) == job_owner(job) == job


def test_a_dataset_that_is_known_stands_for_the_name_of_the_job():
    assert job_title("shop.append_data.bronze_orders", "bronze.orders") == "shop: append to bronze.orders"
