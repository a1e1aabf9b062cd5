"""The store that fails on purpose must itself be right."""

import pytest
from tests.faulty_files import Death, Fault, FaultyFiles

from headwater.errors import StorageError
from headwater.files import MemoryFiles

pytestmark = pytest.mark.fault


def test_a_failed_call_does_nothing_and_life_goes_on() -> None:
    files = FaultyFiles(MemoryFiles(), at=2, fault=Fault.FAIL)
    files.put("a", b"1")
    with pytest.raises(StorageError, match="on purpose at call 2"):
        files.put("b", b"2")
    files.put("c", b"3")
    assert [entry.path for entry in files.list()] == ["a", "c"]


def test_a_lost_reply_takes_effect() -> None:
    files = FaultyFiles(MemoryFiles(), at=1, fault=Fault.LOSE_REPLY)
    with pytest.raises(StorageError):
        files.put("a", b"1")
    assert files.get("a") == b"1"


@pytest.mark.parametrize(("fault", "survives"), [(Fault.DIE, False), (Fault.DIE_AFTER, True)])
def test_death_is_final(fault: Fault, survives: bool) -> None:
    files = FaultyFiles(MemoryFiles(), at=1, fault=fault)
    with pytest.raises(Death):
        files.put("a", b"1")
    with pytest.raises(Death):
        files.list()
    assert bool(files.recover().list()) is survives


@pytest.mark.parametrize(("kept", "expected"), [(0.0, b"synced"), (0.5, b"syncedun"), (1.0, b"syncedunsd")])
def test_unsynced_bytes_are_forgotten(kept: float, expected: bytes) -> None:
    files = FaultyFiles(MemoryFiles())
    log = files.appender("log")
    log.append(b"synced")
    log.sync()
    log.append(b"unsd")
    assert files.recover(kept=kept).get("log") == expected


def test_a_deletion_is_undone_unless_its_folder_was_synced() -> None:
    files = FaultyFiles(MemoryFiles())
    for path in ("a/1", "b/1"):
        files.put(path, b"x")
        files.delete(path)
    files.put("b/2", b"syncs b")
    assert [entry.path for entry in files.recover().list(deep=True)] == ["a/1", "b/2"]


def test_a_hint_is_empty_after_a_loss_of_power() -> None:
    files = FaultyFiles(MemoryFiles())
    files.put("hint", b"7", synced=False)
    files.put("again", b"7", synced=False)
    files.put("again", b"8")
    recovered = files.recover()
    assert (recovered.get("hint"), recovered.get("again")) == (b"", b"8")
