import pytest

from headwater.spark.agent.scala import class_name
from headwater.spark.plan.dump import dump_plan

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("characters", [4_000_000, 10], ids=["whole", "truncated"])
def test_nodes_of_a_dump_are_those_of_the_plan_in_spark(spark, characters):
    below = "(SELECT max(id) FROM range(3) WHERE id NOT IN (SELECT id FROM range(2)))"
    query = spark.sql(f"WITH w AS (SELECT id FROM range(5)) SELECT * FROM w a JOIN w b USING (id) WHERE id < {below}")
    plan = dump_plan(spark.sparkContext, query._jdf.queryExecution(), most_characters=characters)
    nodes = list(plan.root.walk())
    assert plan.truncated == (characters == 10)
    assert len(nodes) > 5
    assert [class_name(node.jvm) for node in nodes] == [node.name for node in nodes]
    assert class_name(plan.root.jvm) == class_name(query._jdf.queryExecution().analyzed())
