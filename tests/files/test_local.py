"""What only a local disk does: permissions, leftovers, logs cut by a crash of the machine."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headwater.errors import NotFoundError, NotWritableError, StorageError
from headwater.files import LocalFiles


def test_an_unwritable_root_says_so(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with pytest.raises(StorageError, match="cannot write"):
        LocalFiles(blocked).put("a", b"x")


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = LocalFiles(tmp_path)
    files.put("a/there", b"before")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NotWritableError, match="No space left") as caught:
        files.put("a/b", b"x")
    assert caught.value.hint is not None
    with pytest.raises(NotWritableError):
        files.put("a/there", b"after")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["there"]
    assert files.get("a/there") == b"before"


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path)
    files.put("a/b", b"x")
    with pytest.raises(NotFoundError):
        files.get("a")


def test_failing_content_publishes_nothing(tmp_path: Path) -> None:
    def pieces():
        yield b"half"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        LocalFiles(tmp_path).put("a", pieces())
    assert list(tmp_path.iterdir()) == []


def test_a_folder_may_come_and_go_beside_those_who_write_into_it(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path)

    def write_and_delete(me: int) -> None:
        for n in range(400):
            files.put(f"a/b/{me}-{n}", b"x", synced=False)
            files.appender(f"a/b/{me}-{n}.log").close()
            files.delete(f"a/b/{me}-{n}")
            files.delete(f"a/b/{me}-{n}.log")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write_and_delete, range(4)))
    assert list(tmp_path.iterdir()) == []


def test_leftovers_of_dead_writers_are_hidden_and_swept(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path)
    files.put("t/data", b"x")
    (tmp_path / "t" / ".unpublished-dead").write_bytes(b"half")
    assert [entry.path for entry in files.list(deep=True)] == ["t/data"]
    assert files.sweep(older_than=3600) == []
    assert files.sweep(older_than=0) == ["t/.unpublished-dead"]
    assert files.get("t/data") == b"x"


def test_a_closed_log_takes_nothing(tmp_path: Path) -> None:
    log = LocalFiles(tmp_path).appender("log")
    log.close()
    with pytest.raises(StorageError, match="closed"):
        log.append(b"x")


def test_a_hint_is_not_synced(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", synced.append)
    files = LocalFiles(tmp_path)
    files.put("hint", b"1", synced=False)
    assert (files.get("hint"), synced) == (b"1", [])
    files.put("file", b"1")
    assert len(synced) == 2  # the file and its folder
