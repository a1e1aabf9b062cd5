"""Delta Lake and Iceberg, where a release for this Spark exists and can be fetched."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
from tests.spark.agent.conftest import check, columns, short, shown

from headwater.spark.environment import spark_environment

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(1_200)]

SPARK = ".".join(pyspark.__version__.split(".")[:2])
PACKAGES = {
    ("delta", "4.1"): "io.delta:delta-spark_4.1_2.13:4.4.0",
    ("delta", "4.2"): "io.delta:delta-spark_4.2_2.13:4.4.0",
    ("iceberg", "4.1"): "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
}


def run_job(format: str, folder: Path) -> dict[str, list[dict]]:
    """The events of every step but those that say that something begins."""
    package = PACKAGES.get((format, SPARK))
    if package is None:
        pytest.skip(f"there is no release of {format} for Spark {SPARK} yet")
    job = Path(__file__).parent / "jobs" / "table_formats.py"
    env = dict(os.environ) | spark_environment() | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(job), format, package, str(folder)]
    run = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=1_100)
    if "UNRESOLVED DEPENDENCIES" in run.stderr:
        pytest.skip(f"{package} cannot be fetched from here")
    assert run.returncode == 0, run.stderr[-3000:]
    events = [json.loads(line) for line in (folder / "events.ndjson").read_text().splitlines()]
    for event in events:
        check(event)
    steps, before = {}, 1
    for name, after in json.loads(run.stdout.splitlines()[-1]).items():
        steps[name] = [event for event in events[before:after] if event["eventType"] != "START"]
        before = after
    return steps


@pytest.fixture(scope="module")
def delta(tmp_path_factory):
    return run_job("delta", tmp_path_factory.mktemp("delta"))


@pytest.fixture(scope="module")
def iceberg(tmp_path_factory):
    return run_job("iceberg", tmp_path_factory.mktemp("iceberg"))


@pytest.fixture(params=["delta", "iceberg"])
def steps(request):
    return request.getfixturevalue(request.param)


def version(dataset: dict) -> str | None:
    return dataset["facets"].get("version", {}).get("datasetVersion")


def written(steps: dict[str, list[dict]], name: str) -> dict:
    """The one thing that a step wrote."""
    *_, event = steps[name]
    (output,) = event["outputs"]
    return output


def read(steps: dict[str, list[dict]], name: str) -> dict:
    """The one thing that a step read."""
    *_, event = steps[name]
    (found,) = event["inputs"]
    return found


def links(dataset: dict) -> list[str]:
    return [each["name"] for each in dataset["facets"].get("symlinks", {}).get("identifiers", ())]


def rows(dataset: dict) -> int | None:
    facets = dataset.get("outputFacets") or dataset.get("inputFacets") or {}
    return next((facet["rowCount"] for name, facet in facets.items() if name.endswith("Statistics")), None)


def doubts(events: list[dict]) -> list[str]:
    facets = (event["run"]["facets"].get("extractionError", {}) for event in events)
    return [error["errorMessage"] for facet in facets for error in facet.get("errors", ())]


def test_writes_merges_and_versions(steps):
    assert [shown(steps[name][0]) for name in ("create", "insert", "ctas", "double", "merge", "delete", "rtas")] == [
        "-> orders CREATE",
        "-> orders",
        "orders -> sums CREATE",
        "orders -> orders",
        "orders -> sums",
        "-> orders",
        "orders -> sums OVERWRITE",
    ]
    assert columns(steps["ctas"][0]) == {"city": {"orders.city"}, "total": {"orders.amount"}}
    assert columns(steps["merge"][0])["total"] == {"orders.amount"}
    lineage = written(steps, "merge")["facets"]["columnLineage"]
    assert {each["field"] for each in lineage["dataset"]} >= {"city"}
    assert not [doubt for events in steps.values() for doubt in doubts(events)]


def test_every_write_makes_a_version_and_the_next_read_has_it(steps):
    made = [version(written(steps, name)) for name in ("insert", "double", "delete", "update")]
    assert len(set(made)) == 4
    assert None not in made
    assert version(read(steps, "double")) == made[0]
    assert version(read(steps, "merge")) == made[1]
    assert version(read(steps, "rtas")) == made[2]
    created, replaced = version(written(steps, "ctas")), version(written(steps, "rtas"))
    assert None not in (created, replaced)
    assert created != replaced


def test_statistics_are_those_of_the_commit(steps):
    assert [rows(written(steps, name)) for name in ("insert", "ctas", "double")] == [2, 2, 2]
    statistics = written(steps, "insert")["outputFacets"]["outputStatistics"]
    assert statistics["fileCount"] > 0
    assert statistics["size"] > 0


def test_an_update_changes_the_columns_that_it_sets(steps):
    (event,) = steps["update"]
    assert columns(event) == {"amount": {"orders.amount"}}
    assert [each["field"] for each in event["outputs"][0]["facets"]["columnLineage"]["dataset"]] == ["id"]


def test_a_dropped_table_has_the_name_that_it_had(steps):
    made, gone = written(steps, "rtas"), written(steps, "drop")
    assert (gone["namespace"], gone["name"], links(gone)) == (made["namespace"], made["name"], links(made))
    assert version(gone) is None


def test_versions_that_are_asked_for(steps):
    assert version(read(steps, "as of")) == version(written(steps, "insert"))


# ------------------------------------------------------------------------------------------------------ Delta Lake


def test_writes_to_a_path_have_versions(delta):
    assert [version(written(delta, name)) for name in ("path", "path again", "path by SQL")] == ["0", "1", "2"]
    assert len({(written(delta, name)["name"]) for name in ("path", "path again", "path by SQL")}) == 1


def test_alter_makes_a_version(delta):
    assert int(version(written(delta, "alter"))) == int(version(written(delta, "update"))) + 1


def test_a_run_that_commits_nothing_leaves_the_version(delta):
    assert version(written(delta, "nothing")) == version(written(delta, "alter"))
    assert rows(written(delta, "nothing")) is None


def test_a_table_has_one_name_whoever_writes_it(delta):
    names = ("ctas", "merge", "rtas", "sums again", "by saveAsTable", "by writeTo", "optimize", "drop")
    assert {written(delta, name)["name"] for name in names} == {written(delta, "ctas")["name"]}
    assert {tuple(links(written(delta, name))) for name in names} == {("shop.sums",)}
    assert read(delta, "by path")["name"] == written(delta, "create")["name"]


def test_clone(delta):
    assert shown(delta["clone"][0]) == "orders -> cloned CREATE"
    assert version(read(delta, "clone")) == "1"
    assert version(written(delta, "clone")) == "0"
    assert shown(delta["clone of a path"][0]) == "path -> cloned CREATE"
    assert version(read(delta, "clone of a path")) == "2"


def test_restore_and_optimize(delta):
    assert [shown(delta[name][0]) for name in ("restore", "optimize")] == ["-> orders OVERWRITE", "-> sums ALTER"]
    assert int(version(written(delta, "restore"))) > int(version(written(delta, "alter")))
    assert int(version(written(delta, "optimize"))) > int(version(written(delta, "by writeTo")))


def test_streams_of_delta_lake(delta):
    *_, path = delta["stream to a path"]
    assert (path["eventType"], shown(path)) == ("COMPLETE", "sums -> streamed")
    assert columns(path) == {"city": {"sums.city"}, "total": {"sums.total"}}
    assert version(path["inputs"][0]) == version(written(delta, "optimize"))
    assert version(path["outputs"][0]) == "0"
    *_, table = delta["stream to a table"]
    assert shown(table) == "streamed -> streamed"
    assert columns(table) == {"n": {"streamed.total"}}
    assert links(table["outputs"][0]) == ["shop.streamed"]
    assert version(table["outputs"][0]) is not None
    assert rows(path["inputs"][0]) == rows(path["outputs"][0])


# --------------------------------------------------------------------------------------------------------- Iceberg


def test_tables_of_metadata_are_tables_of_their_own(iceberg):
    found = read(iceberg, "snapshots")
    assert short(found) == "orders.snapshots"
    assert found["name"] == f"{written(iceberg, 'create')['name']}.snapshots"
    assert columns(iceberg["snapshots"][-1]) == {"operation": {"orders.snapshots.operation"}}


def test_branches(iceberg):
    main, branch = read(iceberg, "main"), written(iceberg, "write to a branch")
    assert (branch["name"], links(branch)) == (main["name"], ["shop.orders"])
    assert version(branch) != version(main)
    assert version(main) == version(written(iceberg, "nothing"))
    assert version(read(iceberg, "read a branch")) == version(branch)
    assert rows(branch) == 1


def test_an_update_that_writes_what_differs(iceberg):
    assert columns(iceberg["update by delta"][0]) == {"note": {"orders.city"}}


def test_streams_of_iceberg(iceberg):
    *_, event = iceberg["stream to a table"]
    assert (event["eventType"], shown(event)) == ("COMPLETE", "feed -> streamed")
    assert columns(event) == {"city": {"feed.city"}, "total": {"feed.total"}}
    assert version(event["inputs"][0]) == version(written(iceberg, "feed rows"))
    assert version(event["outputs"][0]) is not None


def test_reports_of_scans_and_commits(iceberg):
    scan = read(iceberg, "double")["inputFacets"]["icebergScanReport"]
    assert scan["snapshotId"] == int(version(written(iceberg, "insert")))
    assert scan["scanMetrics"]["resultDataFiles"] >= 1
    assert scan["scanMetrics"]["totalFileSizeInBytes"] > 0
    assert scan["scanMetrics"]["totalDataManifests"] == scan["scanMetrics"]["scannedDataManifests"] == 1
    commit = written(iceberg, "double")["outputFacets"]["icebergCommitReport"]
    assert (commit["snapshotId"], commit["operation"]) == (int(version(written(iceberg, "double"))), "append")
    metrics = commit["commitMetrics"]
    assert (metrics["addedRecords"], metrics["totalRecords"]) == (2, 4)
    assert metrics["addedFilesSizeInBytes"] > 0
    assert "icebergCommitReport" not in written(iceberg, "alter").get("outputFacets", {})
