"""Builders: ours, their factory, and those of users, which are guarded as visitors are."""

from typing import ClassVar

import pytest

from headwater.events.naming import DatasetName
from headwater.model.names import TableName
from headwater.spark.agent.datasets import PlanDataset, PlanOutput
from headwater.spark.agent.visitors import visitor as registry
from headwater.spark.agent.visitors.catalog import builder_classes
from headwater.spark.agent.visitors.visitor import (
    DatasetBuilder,
    Spark3DatasetBuilderFactory,
    register_builder,
)
from headwater.spark.plan.node import PlanNode

OURS = {
    "AppendDataDatasetBuilder": PlanOutput,
    "CreateReplaceDatasetBuilder": PlanOutput,
    "MergeIntoCommandOutputDatasetBuilder": PlanOutput,
    "MergeIntoCommandInputDatasetBuilder": PlanDataset,
    "DataSourceV2RelationInputOnStartDatasetBuilder": PlanDataset,
}


def test_the_built_in_builders_and_their_factory():
    found = {each.__name__: each.makes for each in builder_classes()}
    assert OURS.items() <= found.items()
    inputs = Spark3DatasetBuilderFactory.get_input_builders(None)
    outputs = Spark3DatasetBuilderFactory.get_output_builders(None)
    assert {type(each).__name__ for each in inputs} == {name for name, made in found.items() if made is PlanDataset}
    assert {type(each).__name__ for each in outputs} == {name for name, made in found.items() if made is PlanOutput}


def test_a_builder_is_for_the_plans_that_have_one_of_its_nodes():
    class Stores(DatasetBuilder[PlanDataset]):
        nodes = frozenset({"StoreRelation"})

        def build(self, node):
            return [PlanDataset(DatasetName("store", node.name), TableName.of("store"))]

    leaf = PlanNode("StoreRelation")
    plan = PlanNode("Project", children=(PlanNode("Filter", children=(leaf,)),))
    builder = Stores(None)
    assert (builder.is_defined_at(plan), builder.is_defined_at(PlanNode("Range"))) == (True, False)
    assert [each.name.name for each in builder.apply(plan, None)] == ["StoreRelation"]
    with pytest.raises(NotImplementedError):
        DatasetBuilder(None).build(leaf)


class Cached(DatasetBuilder[PlanOutput]):
    """What a job also writes, by the whole execution: a file of statistics."""

    seen: ClassVar[list[str]] = []

    def is_defined_at(self, plan):
        return any(node.name == "InsertIntoHadoopFsRelationCommand" for node in plan.walk())

    def apply(self, plan, execution):
        self.seen.append(str(execution.id()))
        dataset = PlanDataset(DatasetName("statistics", "written"), TableName.of("statistics"))
        return [PlanOutput(dataset, plan)]


class Audit(DatasetBuilder[PlanDataset]):
    def is_defined_at(self, plan):
        return True

    def apply(self, plan, execution):
        return [PlanDataset(DatasetName("audit", "rules"), TableName.of("rules"))]


class Broken(DatasetBuilder[PlanDataset]):
    def is_defined_at(self, plan):
        raise RuntimeError("no plan is good enough")


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(registry, "_BUILDERS", list(registry._BUILDERS))
    for each in (Cached, Audit, Broken):
        register_builder(each)


@pytest.mark.spark
def test_builders_of_users_from_start_to_complete(registered, watch, tmp_path):
    Cached.seen.clear()
    watch.said()
    watch.spark.sql("SELECT 1 AS a").write.parquet(str(tmp_path / "out"))
    start, complete = watch.said()
    assert (start["eventType"], complete["eventType"]) == ("START", "COMPLETE")
    assert start["job"]["name"] == complete["job"]["name"]
    for event in (start, complete):
        assert {each["name"].rsplit("/")[-1] for each in event["outputs"]} == {"out", "written"}
        assert [each["namespace"] for each in event["inputs"]] == ["audit"]
        (error,) = event["run"]["facets"]["extractionError"]["errors"]
        assert error["errorMessage"] == "the builder `Broken` failed: RuntimeError: no plan is good enough"
    assert Cached.seen
