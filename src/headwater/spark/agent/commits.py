"""The commit of a run to a table that keeps versions: the version, and what the table says was written.

A run is looked at some time after it has ended, and others may have committed since, so the newest version need not
be its own. That is the newest that was there when it ended; if it is older than the run, the run committed nothing.
How much was written is told where the table got no other version during the run.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from headwater.spark.agent.context import OpenLineageContext
from headwater.spark.agent.datasets import Amount, PlanDataset, PlanOutput

_MOST = 50  # commits since the end of a run that are looked at


def committed(context: OpenLineageContext, output: PlanOutput, start: int, end: int) -> PlanOutput:
    """An output with the version that a run made, and how much it wrote; `start` and `end` are its milliseconds."""
    dataset = output.dataset
    if context.spark_context is None or dataset.layer not in ("delta", "iceberg") or output.change == "DROP":
        return output  # what was written down was asked right after the end
    commits = _delta_commits(context, dataset) if dataset.layer == "delta" else _iceberg_commits(dataset)
    before_end = (commit for commit in commits if commit[1] <= end)
    newest = next(before_end, None)
    if newest is None:
        return dataclasses.replace(output, dataset=dataclasses.replace(dataset, version=None))
    version, time, summary = newest
    other = next(before_end, None)  # one that another run may have made meanwhile
    is_own = start and time >= start and (other is None or other[1] < start)
    known = dataclasses.replace(dataset, version=version)
    report = _report(version, summary) if is_own and dataset.layer == "iceberg" else None
    return dataclasses.replace(output, dataset=known, written=_amount(summary) if is_own else None, report=report)


def _delta_commits(context: OpenLineageContext, dataset: PlanDataset) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """The commits of a table of Delta Lake, the newest first: version, time and metrics, as its log has them."""
    assert context.spark_context is not None
    jvm: Any = context.spark_context._jvm
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(context.session, dataset.uri)
    files = log.logPath().getFileSystem(context.session.sessionState().newHadoopConf())
    newest = int(log.unsafeVolatileSnapshot().version())
    for version in range(newest, max(-1, newest - _MOST), -1):
        path = jvm.org.apache.hadoop.fs.Path(log.logPath(), f"{version:020}.json")
        reader = jvm.java.io.BufferedReader(jvm.java.io.InputStreamReader(files.open(path), "UTF-8"))
        try:
            info = msgspec.json.decode(reader.readLine()).get("commitInfo", {})
        finally:
            reader.close()
        yield str(version), int(info.get("timestamp", 0)), info.get("operationMetrics", {})


def _iceberg_commits(dataset: PlanDataset) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """The snapshots of a table of Iceberg, or of the branch that was written, the newest first."""
    if dataset.live is None:
        return
    table, branch = dataset.live.table(), dataset.live.branch()
    snapshot = table.currentSnapshot() if branch is None else table.snapshot(branch)
    for _ in range(_MOST):
        if snapshot is None:
            return
        summary = {**(snapshot.summary() or {}), "operation": snapshot.operation()}
        yield str(snapshot.snapshotId()), int(snapshot.timestampMillis()), summary
        parent = snapshot.parentId()
        snapshot = None if parent is None else table.snapshot(parent)


_ROWS = ("numOutputRows", "numUpdatedRows", "added-records")
_BYTES = ("numOutputBytes", "numTargetBytesAdded", "numAddedBytes", "added-files-size")
_FILES = ("numFiles", "numTargetFilesAdded", "numAddedFiles", "added-data-files")


def _amount(summary: Mapping[str, Any]) -> Amount | None:
    """Return what was written, by the names that Delta Lake and Iceberg have for it."""
    numbers = {name: int(value) for name, value in summary.items() if str(value).isdigit()}
    known = (next((numbers[name] for name in names if name in numbers), None) for names in (_ROWS, _BYTES, _FILES))
    found = Amount(*known)
    return found if found != Amount() else None


_WORDS = {"deleted": "removed", "position": "positional", "size": "sizeInBytes", "dvs": "DVs"}


def _report(version: str, summary: Mapping[str, Any]) -> dict[str, Any]:
    """The summary of a snapshot in the form of OpenLineage's facet of Iceberg's reports."""
    words = {name: [_WORDS.get(word, word) for word in name.split("-")] for name in summary}
    names = {
        name: first + "".join(word[:1].upper() + word[1:] for word in rest) for name, (first, *rest) in words.items()
    }
    metrics = {names[name]: int(value) for name, value in summary.items() if str(value).isdigit()}
    return {"snapshotId": int(version), "operation": summary["operation"], "commitMetrics": metrics}
