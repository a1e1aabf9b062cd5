"""What every store promises, tried on all of them."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.effort import examples

from headwater.errors import AlreadyExistsError, NotFoundError, UsageError
from headwater.files import Appending, Files, Locking, Mapping, open_reader


def test_what_was_put_is_read_back(files: Files) -> None:
    files.put("a/b/c", b"first")
    files.put("a/b/c", [b"sec", bytearray(b"on"), memoryview(b"d")])
    assert files.get("a/b/c") == b"second"


def test_an_empty_file_is_a_file(files: Files) -> None:
    files.put("empty", b"")
    assert files.get("empty") == b""
    assert [entry.path for entry in files.list()] == ["empty"]


@pytest.mark.parametrize(
    ("start", "length", "expected"),
    [
        (0, 3, b"012"),
        (4, 3, b"456"),
        (8, 5, b"89"),
        (10, 5, b""),
        (99, 1, b""),
        (-3, 3, b"789"),
        (-3, 1, b"7"),
        (2, 0, b""),
        (-99, 4, b"0123"),
    ],
)
def test_ranges(files: Files, start: int, length: int, expected: bytes) -> None:
    files.put("digits", b"0123456789")
    assert files.get_range("digits", start, length) == expected


def test_what_is_missing_is_not_found(files: Files) -> None:
    with pytest.raises(NotFoundError):
        files.get("no/such")
    with pytest.raises(NotFoundError):
        files.get_range("no/such", 0, 1)
    with pytest.raises(NotFoundError):
        files.get_range("no/such", -1, 1)


def test_put_if_absent_never_overwrites(files: Files) -> None:
    files.put_if_absent("snapshot/snapshot-1", b"mine")
    with pytest.raises(AlreadyExistsError):
        files.put_if_absent("snapshot/snapshot-1", b"yours")
    assert files.get("snapshot/snapshot-1") == b"mine"


def test_listing_one_level_and_all(files: Files) -> None:
    for path in ("t/b", "t/a/2", "t/a/1", "t/a/x/y", "other"):
        files.put(path, path.encode())
    assert [entry.path for entry in files.list("t")] == ["t/a/", "t/b"]
    assert [entry.path for entry in files.list("t/")] == ["t/a/", "t/b"]
    assert [(entry.path, entry.size) for entry in files.list("t", deep=True)] == [
        ("t/a/1", 5),
        ("t/a/2", 5),
        ("t/a/x/y", 7),
        ("t/b", 3),
    ]
    assert [entry.name for entry in files.list()] == ["other", "t"]
    assert all(entry.modified > 1_700_000_000 for entry in files.list(deep=True))


def test_a_folder_is_there_as_long_as_it_holds_something(files: Files) -> None:
    assert files.list("a") == []
    files.put("a/b/c", b"x")
    files.put("a-b", b"x")  # not in the folder `a`, though its name begins so
    assert [entry.path for entry in files.list("a", deep=True)] == ["a/b/c"]
    files.delete("a/b/c")
    assert files.list("a") == []
    assert [entry.path for entry in files.list()] == ["a-b"]
    files.put("a/b/c", b"again")
    assert files.get("a/b/c") == b"again"


def test_deleting_twice_is_harmless(files: Files) -> None:
    files.put("x", b"x")
    files.delete("x")
    files.delete("x")
    with pytest.raises(NotFoundError):
        files.get("x")


@pytest.mark.parametrize("path", ["", "/etc/passwd", "a/../../b", "..", "a//b", "a/./b", "a\\b", "a/", "a\x00b"])
def test_no_path_leaves_the_store(files: Files, path: str) -> None:
    for call in (files.get, files.delete, lambda p: files.put(p, b""), lambda p: files.put_if_absent(p, b"")):
        with pytest.raises(UsageError):
            call(path)
    with pytest.raises(UsageError):
        files.list("../up")


def test_a_reader_reads_exactly_what_it_was_asked(files: Files) -> None:
    from headwater.errors import StorageError

    files.put("digits", b"0123456789")
    reader = open_reader(files, "digits", 10)
    assert bytes(reader.read(3, 4)) == b"3456"
    assert bytes(reader.read(10, 0)) == b""
    for start, length in ((8, 3), (11, 1), (-1, 1)):
        with pytest.raises(StorageError, match="ends at byte"):
            reader.read(start, length)


def test_a_mapped_file_outlives_its_deletion(files: Files) -> None:
    if not isinstance(files, Mapping):
        pytest.skip("this store cannot map")
    files.put("x", b"still here")
    view = files.map("x")
    files.delete("x")
    assert bytes(view) == b"still here"


def test_a_log_grows_and_is_never_continued(files: Files) -> None:
    if not isinstance(files, Appending):
        pytest.skip("this store cannot append")
    log = files.appender("wal/log")
    log.append(b"one ")
    log.append(memoryview(b"two"))
    assert files.get("wal/log") == b"one two"
    log.sync()
    log.close()
    log.close()
    with pytest.raises(AlreadyExistsError):
        files.appender("wal/log")


def test_a_lock_has_one_holder(opened: Callable[[], Files]) -> None:
    from headwater.errors import StorageError

    first, second = opened(), opened()
    if not isinstance(first, Locking) or not isinstance(second, Locking):
        pytest.skip("this store cannot lock")
    held = first.lock("t/LOCK")
    with pytest.raises(StorageError, match="held by another"):
        second.lock("t/LOCK")
    held.close()
    held.close()
    second.lock("t/LOCK").close()


def test_sixteen_writers_have_one_winner_in_each_round(opened: Callable[[], Files]) -> None:
    writers, rounds = 16, examples(20)
    ready = threading.Barrier(writers)

    def write(me: int) -> list[bool]:
        files, won = opened(), []
        for turn in range(rounds):
            ready.wait()
            try:
                files.put_if_absent(f"commit/snapshot-{turn}", [b"%02d" % me] * 5_000)
                won.append(True)
            except AlreadyExistsError:
                won.append(False)
        return won

    with ThreadPoolExecutor(writers) as pool:
        wins = list(pool.map(write, range(writers)))
    for turn in range(rounds):
        winners = [me for me in range(writers) if wins[me][turn]]
        assert len(winners) == 1
        assert opened().get(f"commit/snapshot-{turn}") == b"%02d" % winners[0] * 5_000


def test_no_reader_sees_a_torn_file(opened: Callable[[], Files]) -> None:
    size, done = 200_000, threading.Event()
    opened().put("shared", b"0" * size)

    def read() -> int:
        files, seen = opened(), 0
        while not done.is_set() or seen == 0:
            content = files.get("shared")
            assert len(content) == size
            assert content == content[:1] * size
            seen += 1
        return seen

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        for turn in range(40):
            opened().put("shared", b"%d" % (turn % 10) * size)
        done.set()
        assert all(reader.result() > 0 for reader in readers)
