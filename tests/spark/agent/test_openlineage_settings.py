"""OpenLineage's settings, each tried on a real Spark. The guide's table says which are honoured."""

import json
import re
from functools import cache
from pathlib import Path

import pytest
from tests.events.test_sinks import receiver
from tests.spark.agent import test_openlineage_transports as transports
from tests.spark.agent.conftest import KeptEvents, check, short, shown
from tests.spark.agent.openlineage import PARENT, WRITE

from headwater.errors import ConfigError
from headwater.events.settings import gather
from headwater.spark import observe
from headwater.spark.agent.settings import agent_settings

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[3]
APPLICATION = "0190a1b2-0000-7000-8000-00000000000b"
ROOT_RUN = "0190a1b2-0000-7000-8000-00000000000c"


@cache
def table() -> dict[str, str]:
    """The guide's table: setting → honoured."""
    text = (ROOT / "docs/guides/coming-from-openlineage.md").read_text()
    rows = re.findall(r"^\| (`.*?`) \| (yes|no|client) \|", text, re.MULTILINE)
    return {name.replace("`", ""): said for name, said in rows}


def facets(event: dict) -> dict:
    (output,) = event["outputs"]
    return output["facets"]


# ------------------------------------------------------------------------------------------------ names and parents


def test_names_parents_owners_and_tags(settings, monkeypatch):
    """namespace, appName, applicationRunId, parent…, rootParent…, job.owners.TYPE, job.tags, run.tags,
    capturedProperties, facets.variables, jobName.replaceDotWithUnderscore, facets.debug.disabled,
    transport.type file, transport.location"""
    monkeypatch.setenv("SHIFT", "night")
    whole, *_, event, last = settings.events(
        namespace="sales",
        appName="Daily.Load",
        applicationRunId=APPLICATION,
        parentJobNamespace="air/flow",
        parentJobName="dag/task",
        parentRunId=PARENT,
        rootParentJobNamespace="air/flow",
        rootParentJobName="dag",
        rootParentRunId=ROOT_RUN,
        job__owners__team="Data",
        job__owners__person="Ada",
        job__tags="tier:gold;pii;from:me:there",
        run__tags=r"a\:b:1",
        capturedProperties="spark.sql.shuffle.partitions,spark.ui.enabled,spark.absent",
        facets__variables="[SHIFT;ABSENT]",
        jobName__replaceDotWithUnderscore="true",
        facets__debug__disabled="false",
    )
    assert (whole["eventType"], last["eventType"]) == ("START", "COMPLETE")
    assert whole["run"]["runId"] == last["run"]["runId"] == APPLICATION
    assert (event["job"]["namespace"], whole["job"]["name"]) == ("sales", "daily_load")
    assert event["job"]["name"] == "daily_load.insert_into_hadoop_fs_relation_command.cases_dst"
    parent = whole["run"]["facets"]["parent"]
    assert parent["run"]["runId"] == PARENT
    assert parent["job"] == {"namespace": "air/flow", "name": "dag/task"}
    root = {"run": {"runId": ROOT_RUN}, "job": {"namespace": "air/flow", "name": "dag"}}
    assert parent["root"] == event["run"]["facets"]["parent"]["root"] == root
    assert event["run"]["facets"]["parent"]["run"]["runId"] == APPLICATION
    own = event["job"]["facets"]
    assert {(each["type"], each["name"]) for each in own["ownership"]["owners"]} == {
        ("team", "Data"),
        ("person", "Ada"),
    }
    assert [(each["key"], each["value"], each["source"]) for each in own["tags"]["tags"]] == [
        ("tier", "gold", "CONFIG"),
        ("pii", "true", "CONFIG"),
        ("from", "me", "there"),
    ]
    run = event["run"]["facets"]
    assert run["tags"]["tags"] == [{"key": "a:b", "value": "1", "source": "CONFIG"}]
    assert run["spark_properties"]["properties"] == {"spark.sql.shuffle.partitions": "2", "spark.ui.enabled": "false"}
    assert run["environment-properties"]["environment-properties"] == {"SHIFT": "night"}
    assert run["environmentVariables"]["environmentVariables"] == [{"name": "SHIFT", "value": "night"}]
    assert run["debug"]["logicalPlan"]["nodes"][0]["desc"] == "InsertIntoHadoopFsRelationCommand"


def test_a_context_and_wrong_ids(settings):
    """context, parentRunId"""
    given = {"run": {"runId": PARENT}, "job": {"namespace": "n", "name": "j"}}
    context = json.dumps(
        {"parent": given | {"root": {"run": {"runId": ROOT_RUN}, "job": {"namespace": "n", "name": "r"}}}}
    )
    whole, *_ = settings.events("SELECT 1", context=context)
    parent = whole["run"]["facets"]["parent"]
    assert (parent["run"]["runId"], parent["root"]["run"]["runId"]) == (PARENT, ROOT_RUN)
    whole, *_ = settings.events("SELECT 1", context="{", parentRunId="{{ run_id }}")
    assert "parent" not in whole["run"]["facets"]


# -------------------------------------------------------------------------------------------- facets, filters, limits


def test_facets_are_left_out(settings):
    """facets.disabled, facets.NAME.disabled, jobName.appendDatasetName"""
    *_, event, _ = settings.events(
        facets__disabled="[columnLineage;dataSource]",
        facets__schema__disabled="true",
        facets__processing_engine__disabled="true",
        facets__outputStatistics__disabled="true",
        jobName__appendDatasetName="false",
    )
    assert not {"columnLineage", "dataSource", "schema"} & facets(event).keys()
    assert "storage" in facets(event)
    assert "processing_engine" not in event["run"]["facets"]
    assert "outputFacets" not in event["outputs"][0]
    assert event["job"]["name"] == "suite.insert_into_hadoop_fs_relation_command"


def test_column_lineage_and_debug(settings):
    """columnLineage.datasetLineageEnabled, columnLineage.descriptionsEnabled, columnLineage.schemaSizeLimit,
    debug.smart, debug.smartMode, debug.payloadSizeLimitInKilobytes, facets.custom_environment_variables,
    transport.withThreadPool"""
    *_, event, _ = settings.events(
        columnLineage__datasetLineageEnabled="false",
        columnLineage__descriptionsEnabled="false",
        columnLineage__schemaSizeLimit="2",
        facets__custom_environment_variables="[HOME;]",
        transport__withThreadPool="false",
    )
    made = facets(event)["columnLineage"]
    assert "dataset" not in made
    assert {each["field"] for each in made["fields"]["p"]["inputFields"]} == {"a", "b"}
    assert "description" not in json.dumps(made)
    assert "HOME" in event["run"]["facets"]["environment-properties"]["environment-properties"]
    assert "debug" not in event["run"]["facets"]
    *_, event, _ = settings.events(columnLineage__schemaSizeLimit="1")
    assert "columnLineage" not in facets(event)
    *_, event, _ = settings.events("SELECT a FROM t", debug__smart="true", debug__smartMode="output-missing")
    assert event["run"]["facets"]["debug"]["classpath"]["sparkVersion"] == settings.spark.version
    *_, event, _ = settings.events("SELECT a FROM t", debug__smart="true", debug__payloadSizeLimitInKilobytes="0")
    (said,) = event["run"]["facets"]["debug"]["logs"]
    assert "more than 0" in said


def test_filters(settings, tmp_path):
    """filter.allowedSparkNodes, filter.deniedSparkNodes, filter.rddEventsDisabled"""
    node = "org.apache.spark.sql.execution.datasources.InsertIntoHadoopFsRelationCommand"
    assert len(settings.events(filter__deniedSparkNodes=f"[{node}]")) == 2
    project = "[org.apache.spark.sql.catalyst.plans.logical.Project]"
    jconf = settings.spark.sparkContext._conf._jconf
    jconf.set("spark.headwater.reads", "false")
    try:
        assert len(settings.events("SELECT a FROM t")) == 2
        assert len(settings.events("SELECT a FROM t", filter__allowedSparkNodes=project)) == 4
    finally:
        jconf.remove("spark.headwater.reads")

    def rdds():
        settings.spark.sparkContext.parallelize(["a"], 1).saveAsTextFile(f"{tmp_path}/out")

    assert len(settings.events(rdds, filter__rddEventsDisabled="true")) == 2


def test_limits(settings, case_tables):
    """circuitBreaker.type, circuitBreaker.timeoutInSeconds, circuitBreaker.memoryThreshold, circuitBreaker.queueSize,
    circuitBreaker.shutdownTimeoutSeconds, timeout.buildDatasetsTimePercentage,
    timeout.facetsBuildingTimePercentage"""
    said = str(settings.events(circuitBreaker__type="timeout", circuitBreaker__timeoutInSeconds="-1"))
    assert "columns are not known" in said
    assert "columnLineage" not in said
    assert len(settings.events(circuitBreaker__type="simpleMemory", circuitBreaker__memoryThreshold="100")) == 2
    given = {
        "circuitBreaker.type": "taskQueue",
        "circuitBreaker.queueSize": "7",
        "circuitBreaker.shutdownTimeoutSeconds": "3",
        "circuitBreaker.timeoutInSeconds": "10",
        "timeout.facetsBuildingTimePercentage": "80",
        "transport.type": "noop",
    }
    with settings.conf(given), observe(case_tables) as agent:
        assert (agent.options.queue, agent.options.flush_seconds, agent.options.seconds) == (7, 3.0, 8.0)
    with settings.conf(given | {"timeout.buildDatasetsTimePercentage": "50"}), observe(case_tables) as agent:
        assert agent.options.seconds == 5.0


# ------------------------------------------------------------------------------------------------- names of datasets


def test_names_of_datasets(settings, tmp_path):
    """dataset.removePath.pattern, dataset.namespaceResolvers.NAME, dataset.disabledTrimmers"""
    days = [f"{tmp_path}/raw/2026/01/{day}" for day in ("30", "31")]

    def write():
        for day in days:
            settings.spark.range(3).write.parquet(day)
        settings.spark.read.parquet(*days).write.parquet(f"{tmp_path}/out")

    *_, event, _ = settings.events(write)
    (read,) = event["inputs"]
    assert (short(read), facets(event)["columnLineage"]["fields"]["id"]["inputFields"][0]["name"]) == (
        "raw",
        read["name"],
    )
    assert read["inputFacets"]["subset"]["inputCondition"]["locations"] == [f"file:{day}" for day in days]
    *_, event, _ = settings.events(
        lambda: settings.spark.read.parquet(days[0]).write.parquet(f"{tmp_path}/out2"),
        dataset__removePath__pattern=r"(.*)(?<remove>/\d+/\d+)",
        dataset__disabledTrimmers="io.openlineage.client.dataset.partition.trimmer.MultiDirDateTrimmer",
        dataset__namespaceResolvers__disk__type="pattern",
        dataset__namespaceResolvers__disk__regex="fi+le",
    )
    (read,) = event["inputs"]
    assert (read["namespace"], read["name"]) == ("disk", f"{tmp_path}/raw/2026")


def test_a_folder_of_a_day_is_neither_a_dataset_nor_a_job(case_tables, tmp_path):
    sink = KeptEvents()
    days = [f"{tmp_path}/raw/2026/01/{day}" for day in ("30", "31")]
    with observe(case_tables, sink, job="suite", trimmers="all", start_events=False):
        for day in days:
            case_tables.range(3).write.parquet(day)
        case_tables.read.parquet(*days).write.parquet(f"{tmp_path}/out/20260131")
        case_tables.sparkContext.parallelize(["a"]).saveAsTextFile(f"{tmp_path}/text/2026-01-31")
    _, *events, _ = sink.events
    assert [shown(event) for event in events] == ["-> raw", "-> raw", "raw -> out", "-> text"]
    write = "suite.insert_into_hadoop_fs_relation_command"
    names = [f"{write}.raw", f"{write}.raw", f"{write}.out", "suite.rdd_run_job.text"]
    assert [event["job"]["name"].replace("save_as_text_file", "run_job") for event in events] == names
    for event in events:
        check(event)


def test_trimmers_that_do_not_exist(case_tables):
    with pytest.raises(ConfigError, match="there is no trimmer `DayTrimmer`"):
        observe(case_tables, KeptEvents(), trimmers="DateTrimmer, DayTrimmer")


RESOLVED = [
    (
        {"type": "hostList", "hosts": "['A1.co', 'a2.co']", "schema": "kafka"},
        "kafka://a2.co:9092",
        "kafka://prod:9092",
    ),
    ({"type": "hostList", "hosts": "[a1.co]", "schema": "kafka"}, "other://a1.co", "other://a1.co"),
    ({"type": "pattern", "regex": r"c(\d)+\.co"}, "cassandra://c12.co:1", "cassandra://prod:1"),
    (
        {"type": "patternGroup", "regex": r"(?<cluster>[a-z]+)-\d+\.co:\d*", "matchingGroup": "cluster"},
        "cassandra://test-7.co:90",
        "cassandra://test",
    ),
]


@pytest.mark.parametrize(("resolver", "given", "resolved"), RESOLVED)
def test_namespaces_are_resolved(resolver, given, resolved, tmp_path):
    conf = {f"spark.openlineage.dataset.namespaceResolvers.prod.{name}": value for name, value in resolver.items()}
    assert agent_settings(gather(conf, {}, tmp_path)).rewrite.name(given, "t").namespace == resolved


# --------------------------------------------------------------------------------- environment variables and the file


def test_variables_and_file(settings, tmp_path, monkeypatch):
    """OPENLINEAGE_CONFIG, OPENLINEAGE__A__B, OPENLINEAGE_NAMESPACE, OPENLINEAGE_PARENT_ID,
    OPENLINEAGE_ROOT_PARENT_ID, filters, tags.job, tags.run, facets.environment_variables"""
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT", '{"type": "file"}')
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "http")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__LOCATION", str(settings.file))
    monkeypatch.setenv("OPENLINEAGE__JOB__OWNERS__TEAM", "env")
    monkeypatch.setenv("OPENLINEAGE_NAMESPACE", "of env")
    monkeypatch.setenv("OPENLINEAGE_PARENT_ID", f"air/flow/dag/{PARENT}")
    monkeypatch.setenv("OPENLINEAGE_ROOT_PARENT_ID", f"air/flow/top/{ROOT_RUN}")
    whole, *_ = settings.sent("SELECT 1", {})
    assert (whole["job"]["namespace"], whole["job"]["facets"]["ownership"]["owners"][0]["name"]) == ("of env", "env")
    parent = whole["run"]["facets"]["parent"]
    assert (parent["job"], parent["root"]["job"]["name"]) == ({"namespace": "air/flow", "name": "dag"}, "top")

    (tmp_path / "openlineage.yml").write_text(
        "namespace: of file\ntags: {job: {a: 1}, run: {b: 2}}\n"
        "facets: {environment_variables: [OPENLINEAGE_NAMESPACE]}\n"
        "filters: [{type: regex, regex: 'suite\\..*dst'}, {type: exact, match: none}]\n"
    )
    settings.file.unlink()
    first, _ = settings.sent(WRITE, {"namespace": "of conf"})
    assert first["job"]["namespace"] == "of conf"
    assert (
        first["job"]["facets"]["tags"]["tags"][0] | {"key": "a", "value": "1"}
        == first["job"]["facets"]["tags"]["tags"][0]
    )
    assert first["run"]["facets"]["tags"]["tags"][0]["key"] == "b"
    assert first["run"]["facets"]["environmentVariables"]["environmentVariables"][0]["value"] == "of env"

    (tmp_path / "elsewhere.yml").write_text("namespace: of the named file")
    monkeypatch.setenv("OPENLINEAGE_CONFIG", str(tmp_path / "elsewhere.yml"))
    settings.file.unlink()
    first, *_ = settings.sent("SELECT 1", {})
    assert first["job"]["namespace"] == "of the named file"


def test_variables_of_the_python_client(settings, monkeypatch):
    """OPENLINEAGE_URL, OPENLINEAGE_ENDPOINT, OPENLINEAGE_API_KEY"""
    with receiver() as (server, url):
        monkeypatch.setenv("OPENLINEAGE_URL", url)
        monkeypatch.setenv("OPENLINEAGE_ENDPOINT", "events")
        monkeypatch.setenv("OPENLINEAGE_API_KEY", "k3y")
        settings.sent("SELECT 1", {})
        (path, headers, _), *_ = server.taken
    assert (path, headers["Authorization"]) == ("/events", "Bearer k3y")


def test_a_file_that_cannot_be_read(tmp_path):
    (tmp_path / "openlineage.yml").write_text("a: [")
    with pytest.raises(ConfigError, match=r"openlineage\.yml"):
        gather({}, {"HOME": str(tmp_path)}, tmp_path)
    with pytest.raises(ConfigError, match="removePath"):
        agent_settings({"dataset": {"removePath": {"pattern": "(?<remove>a"}}})


# ------------------------------------------------------------------------------------------------------- the table


def test_every_honoured_setting_of_the_table_is_tried():
    """The docstring of a test names the settings that it tries."""
    tried = re.sub(
        r"\s+",
        " ",
        " , ".join(
            test.__doc__ or "" for name, test in {**globals(), **vars(transports)}.items() if name[:5] == "test_"
        ),
    )
    named = {each.strip() for each in tried.split(",")}
    named |= {f"{kind}{what}" for kind in ("parent", "rootParent") for what in ("JobNamespace", "JobName", "RunId")}
    honoured = {name for name, said in table().items() if said != "no"}
    assert len(honoured) > 60
    assert honoured - named == set()


def test_settings_without_effect_are_named_in_the_log(tmp_path):
    """Every setting that the table says has none."""
    unheard = [name for name, said in table().items() if said == "no" and not name.startswith("transport.type")]
    for name in unheard:
        path = name.replace("NAME", "x")
        if path == "facets.spark_unknown.disabled":  # our own facet says it in any case
            continue
        conf = {f"spark.openlineage.{path}": "false"}
        (said,) = agent_settings(gather(conf, {"HOME": str(tmp_path)}, tmp_path)).unheard
        assert said.startswith(f"{path}: ")
