"""An agent on the shared Spark, and the events that it sends."""

import json
from collections.abc import Iterator

import msgspec
import pytest
from openlineage.client import event_v2
from tests.events.test_event import published
from tests.spark.conftest import RELEASE

from headwater.events import RunEvent, encode
from headwater.events.sinks.sink import Delivery
from headwater.spark import observe

# about lake tables, and sources written in Python
collect_ignore = ["discard.py", "test_lake_tables.py", "test_sources.py"] if RELEASE < (4, 1) else []


class KeptEvents:
    """A sink that keeps events, each as the JSON that would be sent."""

    def __init__(self) -> None:
        self.events: list[dict] = []

    def emit(self, event: RunEvent) -> None:
        self.events.append(json.loads(encode(event)))

    def flush(self, timeout: float) -> bool:
        return True

    def close(self) -> Delivery:
        return Delivery(len(self.events))


class Watch:
    """What the agent has said since it was last asked."""

    def __init__(self, spark, sink: KeptEvents, agent) -> None:
        self.spark, self.agent = spark, agent
        self._sink = sink
        self._seen = 0

    def said(self) -> list[dict]:
        """The events since the last call; every one is checked against the published forms."""
        assert self.agent.flush(30)
        new = self._sink.events[self._seen :]
        self._seen = len(self._sink.events)
        for event in new:
            check(event)
        return new

    def run(self, action) -> dict:
        """The last event of what an action did: of one run."""
        self.said()
        action() if callable(action) else self.spark.sql(action)
        events = self.said()
        assert len({event["run"]["runId"] for event in events}) == 1, [event["job"]["name"] for event in events]
        assert [event["eventType"] for event in events] == ["START", "COMPLETE"]
        return events[-1]


def check(event: dict) -> None:
    """The event and all its facets have the forms that OpenLineage publishes, and its own client reads it."""
    msgspec.convert(event, event_v2.RunEvent)
    for facet in facets_of(event):
        assert facet["_producer"] == "urn:headwater"
        if "#/$defs/BaseFacet" in facet["_schemaURL"]:
            continue
        kind = published(facet["_schemaURL"])
        if "inputCondition" in facet or "outputCondition" in facet:  # a union that msgspec does not read
            (where,) = (facet[name] for name in facet if name.endswith("Condition"))
            assert where == {"type": "location", "locations": where["locations"]}
            continue
        assert {name for name in facet if not name.startswith("_")} <= {each.name for each in kind.__attrs_attrs__}
        msgspec.convert({name: value for name, value in facet.items() if not name.startswith("_")}, kind)


def facets_of(event: dict) -> Iterator[dict]:
    holders = [event["run"], event["job"], *event.get("inputs", ()), *event.get("outputs", ())]
    for holder in holders:
        for kind in ("facets", "inputFacets", "outputFacets"):
            yield from holder.get(kind, {}).values()


def short(dataset: dict) -> str:
    """A dataset by the last part of its name."""
    return dataset["name"].rsplit("/", 1)[-1]


def shown(event: dict) -> str:
    """An event in one line: `t, u -> dst OVERWRITE`."""
    inputs = ", ".join(sorted(map(short, event.get("inputs", ()))))
    outputs = []
    for each in event.get("outputs", ()):
        change = each["facets"].get("lifecycleStateChange", {}).get("lifecycleStateChange", "")
        outputs.append(f"{short(each)} {change}".strip())
    return f"{inputs} -> {', '.join(sorted(outputs))}".strip()


def columns(event: dict, at: int = 0) -> dict[str, set[str]]:
    """The value columns of an output: name → `dataset.column`."""
    lineage = event["outputs"][at]["facets"].get("columnLineage", {}).get("fields", {})
    return {
        name: {f"{short(each)}.{each['field']}" for each in made["inputFields"]} for name, made in lineage.items()
    }


@pytest.fixture(scope="module")
def watch(case_tables):
    """An agent that watches the shared Spark while the tests of a module run."""
    sink = KeptEvents()
    agent = observe(case_tables, sink, namespace="tests", job="suite")
    yield Watch(case_tables, sink, agent)
    agent.stop()


@pytest.fixture
def settings(case_tables, tmp_path, monkeypatch):
    """A Spark that is observed with OpenLineage's settings."""
    from tests.spark.agent.openlineage import Settings

    return Settings(case_tables, tmp_path, monkeypatch)
