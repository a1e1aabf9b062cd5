"""The logger `headwater.lake`: one line for each commit that was tried again, and each expiry; names of files."""

import logging
import time

import pytest

from headwater import Warehouse
from headwater.lake.metadata.snapshot import SnapshotLog


@pytest.fixture
def table(tmp_path):
    return Warehouse(tmp_path).create_table("default.t", {"k": "INT", "v": "INT"}, primary_key="k")


def lines(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "headwater.lake"]


def test_a_commit_that_is_tried_again_is_logged(table, caplog, monkeypatch):
    """Another writer takes the place of the snapshot between two steps of the commit."""
    publish = SnapshotLog.publish
    other = Warehouse(table.store.files.root).table("default.t")

    def publish_second(self, snapshot):
        monkeypatch.setattr(SnapshotLog, "publish", publish)
        other.write([(2, 2)])
        publish(self, snapshot)

    monkeypatch.setattr(SnapshotLog, "publish", publish_second)
    with caplog.at_level(logging.INFO, "headwater.lake"):
        table.write([(1, 1)])
    assert lines(caplog) == ["commit retry table=default/t snapshot=1 operation=INSERT attempt=1"]
    assert table.to_arrow().num_rows == 2


def test_an_expiry_is_logged(table, caplog):
    for number in range(3):
        table.overwrite([(number, number)])
    time.sleep(0.05)  # the clock of a store is coarse: only now is the last snapshot older than it says
    with caplog.at_level(logging.INFO, "headwater.lake"):
        table.expire_snapshots(keep_min=1, older_than=0)
        table.expire_snapshots(keep_min=1, older_than=0)  # nothing is left to do
    assert lines(caplog) == ["expiry table=default/t snapshots=1..2 files=4"]


def test_nothing_is_printed_by_default(table, capfd):
    for number in range(3):
        table.overwrite([(number, number)])
    table.expire_snapshots(keep_min=1, older_than=0)
    assert capfd.readouterr() == ("", "")


def test_the_name_of_a_file_has_its_sequence(table):
    for number in range(3):
        table.write([(number, number)])
    named = {
        entry.file.name.rpartition("/")[2].split("-")[1]: entry.file.sequence
        for entry in table.store.latest().entries
    }
    assert named == {"00001": 1, "00002": 2, "00003": 3}
