"""Events go out as OpenLineage says and come back as they went."""

import contextlib
import json
import uuid

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openlineage.client import event_v2, facet_v2

from headwater.errors import EventError
from headwater.events import (
    DatasetEvent,
    EventType,
    InputDataset,
    Job,
    JobEvent,
    OutputDataset,
    Run,
    RunEvent,
    by_key,
    decode,
    encode,
    find_facet,
    new_run_id,
    read_events,
)
from headwater.events import facets as ours
from headwater.events.facet import Facet

EVERY_FACET = [
    ours.SourceCodeFacet(language="python", source_code="spark.range(1)"),
    ours.SchemaFacet(fields=(ours.SchemaField(name="a", type="struct", fields=(ours.SchemaField(name="b"),)),)),
    ours.DataSourceFacet(name="file", uri="file:/t"),
    ours.VersionFacet(dataset_version="7"),
    ours.SymlinksFacet(identifiers=(ours.Identifier(namespace="hive://m:1", name="d.t", type="TABLE"),)),
    ours.StorageFacet(storage_layer="headwater", file_format="sst"),
    ours.CatalogFacet(framework="iceberg", type="rest", name="lake", warehouse_uri="s3://b/w", source="spark"),
    ours.LifecycleFacet(
        lifecycle_state_change="RENAME", previous_identifier=ours.PreviousIdentifier(namespace="file", name="/old")
    ),
    ours.ColumnLineageFacet(
        fields={"a": ours.FieldLineage(input_fields=[ours.InputField(namespace="n", name="t", field="x")])},
        dataset=(
            ours.InputField(
                namespace="n",
                name="t",
                field="y",
                transformations=(ours.Transformation(type="INDIRECT", subtype="FILTER", masking=True),),
            ),
        ),
    ),
    ours.InputStatisticsFacet(row_count=1, size=2, file_count=3),
    ours.OutputStatisticsFacet(row_count=0),
    ours.DataQualityAssertionsFacet(
        assertions=(ours.Assertion(assertion="not_null", success=False, column="a", severity="warn", actual="3"),)
    ),
    ours.DataQualityMetricsFacet(row_count=3, bytes=10, column_metrics={"a": {"nullCount": 1, "distinctCount": 2}}),
    ours.CatalogFacet(framework="iceberg", type="hadoop", name="ice", warehouse_uri="file:/w"),
    ours.InputSubsetFacet(input_condition=ours.LocationCondition(locations=("file:/t/day=1",))),
    ours.OutputSubsetFacet(output_condition=ours.LocationCondition(locations=("file:/t/day=2",))),
    ours.RunTagsFacet(tags=(ours.Tag(key="night", value="3"),)),
    ours.SqlFacet(query="SELECT 1", dialect="spark"),
    ours.JobTypeFacet(processing_type="BATCH", integration="SPARK", job_type="SQL_JOB"),
    ours.JobOwnershipFacet(owners=(ours.Owner(name="me", type="MAINTAINER"),)),
    ours.JobTagsFacet(tags=(ours.Tag(key="tier", value="gold"),)),
    ours.RunTagsFacet(tags=(ours.Tag(key="shift", value="night", source="CONFIG"),)),
    *(
        kind(**{f"{name}_condition": ours.LocationCondition(locations=("/a",))})
        for name, kind in ours.SUBSETS.items()
    ),
    ours.SourceCodeLocationFacet(type="git", url="https://example.org/a.git", path="job.py"),
    ours.ParentFacet(
        run=ours.RunReference(run_id=new_run_id()),
        job=ours.JobReference(namespace="n", name="app"),
        root=ours.Root(run=ours.RunReference(run_id=new_run_id()), job=ours.JobReference(namespace="n", name="dag")),
    ),
    ours.ProcessingEngineFacet(version="4.3.0", name="spark"),
    ours.ErrorMessageFacet(message="no", programming_language="PYTHON", stack_trace="at x"),
    ours.EnvironmentFacet(environment_variables=(ours.EnvironmentVariable(name="A", value="b"),)),
    ours.ExtractionErrorFacet(total_tasks=2, failed_tasks=1, errors=(ours.ExtractionError(error_message="?"),)),
]


def published(url: str) -> type:
    """The class that the OpenLineage client generates from the schema at an address."""
    for module in vars(facet_v2).values():
        for kind in vars(module).values() if hasattr(module, "__file__") else ():
            if isinstance(kind, type) and "_get_schema" in vars(kind) and kind._get_schema() == url:
                return kind
    raise AssertionError(f"no published schema at {url}")


@pytest.mark.parametrize("one", EVERY_FACET, ids=lambda one: type(one).__name__)
def test_every_facet_has_the_published_form(one):
    plain = json.loads(msgspec.json.encode(one))
    assert plain["_producer"] == "urn:headwater"
    kind = published(plain["_schemaURL"])
    names = {field.name for field in kind.__attrs_attrs__}
    assert set(plain) <= names
    theirs = kind(**{name: value for name, value in plain.items() if not name.startswith("_")})
    for field in kind.__attrs_attrs__:
        if field.name in plain and not field.name.startswith("_"):
            assert getattr(theirs, field.name) == plain[field.name]
    assert find_facet(type(one), {one.key: plain}) == one


def test_facets_know_all_of_a_kind():
    kinds = {kind for kind in vars(ours).values() if isinstance(kind, type) and issubclass(kind, Facet)}
    of_nobody_else = {Facet, ours.ColumnPathsFacet}
    assert kinds - of_nobody_else == {type(one) for one in EVERY_FACET}


def run_event() -> RunEvent:
    return RunEvent(
        event_type=EventType.COMPLETE,
        run=Run(run_id=new_run_id(), facets=by_key(ours.ProcessingEngineFacet(version="1"))),
        job=Job(namespace="n", name="j", facets=by_key(ours.SqlFacet(query="SELECT 1"))),
        inputs=(InputDataset(namespace="n", name="a", input_facets=by_key(ours.InputStatisticsFacet(row_count=3))),),
        outputs=(OutputDataset(namespace="n", name="b", output_facets=by_key(ours.OutputStatisticsFacet(size=3))),),
    )


def test_an_event_comes_back_as_it_went():
    event = run_event()
    again = decode(encode(event))
    assert isinstance(again, RunEvent)
    assert (again.run.run_id, again.event_type) == (event.run.run_id, EventType.COMPLETE)
    assert find_facet(ours.SqlFacet, again.job.facets) == event.job.facets["sql"]
    assert decode(encode(again)) == again


def test_the_client_reads_our_events():
    plain = json.loads(encode(run_event()))
    theirs = msgspec.convert(plain, event_v2.RunEvent)
    assert theirs.eventType is event_v2.RunState.COMPLETE
    assert [one.name for one in theirs.inputs] == ["a"]
    assert plain["schemaURL"] == event_v2.RunEvent._get_schema()


def test_what_we_do_not_know_survives():
    plain = json.loads(encode(run_event()))
    plain["run"]["facets"]["airflow"] = {"_producer": "p", "_schemaURL": "s", "dag": {"id": 3}}
    again = json.loads(encode(decode(json.dumps(plain))))
    assert again["run"]["facets"]["airflow"]["dag"] == {"id": 3}


def test_the_kind_of_an_event_is_seen():
    job = {
        "eventTime": "2026-01-01T00:00:00Z",
        "producer": "p",
        "schemaURL": "s",
        "job": {"namespace": "n", "name": "j"},
    }
    dataset = {"eventTime": "2026-01-01T00:00:00Z", "dataset": {"namespace": "n", "name": "d"}}
    assert isinstance(decode(json.dumps(job)), JobEvent)
    assert isinstance(decode(json.dumps(dataset)), DatasetEvent)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("[1]", "Expected `object`"),
        ("{}", "neither `job` nor `dataset`"),
        ('{"job": {"name": "j"}}', "missing required field `namespace`"),
        ('{"eventTime": "soon", "job": {"namespace": "n", "name": "j"}}', "eventTime"),
        ('{"job": {"namespace": "n", "name": "j"}, "run": {"runId": "7"}}', "not a UUID"),
        ('{"eventType": "BEGIN", "run": {"runId": "7"}, "job": {"namespace": "n", "name": "j"}}', "BEGIN"),
        ('{"dataset": ' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_bad_events_say_what_is_wrong(text, said):
    with pytest.raises(EventError, match=said):
        decode(text)


def test_a_bad_facet_says_which_and_what():
    with pytest.raises(EventError, match=r"`columnLineage`.*fields"):
        find_facet(ours.ColumnLineageFacet, {"columnLineage": {"fields": 3}})


def test_one_bad_line_does_not_lose_the_others():
    lines = [encode(run_event()) + b"\n", b"\n", b"{broken\n", encode(run_event())]
    read = list(read_events(lines, "events.ndjson"))
    assert [type(one) for one in read] == [RunEvent, EventError, RunEvent]
    assert read[1].place == "events.ndjson:3"


def test_run_ids_are_ordered_by_time():
    first, later = uuid.UUID(new_run_id()), uuid.UUID(new_run_id())
    assert first.version == later.version == 7
    assert first.variant == uuid.RFC_4122
    assert first.int >> 80 <= later.int >> 80


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_any_json_is_an_event_or_an_error(value):
    with contextlib.suppress(EventError):
        assert encode(decode(json.dumps(value)))
