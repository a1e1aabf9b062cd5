"""The write-ahead log: torn tails are cut, damage in the middle is not."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.faulty_files import Fault, FaultyFiles

from headwater.errors import CorruptFileError, StorageError
from headwater.files import MemoryFiles
from headwater.lake.engine.options import Fsync
from headwater.lake.engine.wal import WAL, RecordType, encode_record, read_log
from headwater.lake.engine.wal.format import HEADER

RECORDS = [encode_record(RecordType.PUT, b"k%d" % i, b"row %d" % i) for i in range(4)]
LOG = HEADER + b"".join(RECORDS)
STARTS = [len(HEADER) + sum(map(len, RECORDS[:i])) for i in range(5)]


def test_records_come_back_in_order() -> None:
    log = LOG + encode_record(RecordType.DELETE, b"gone", b"")
    content = read_log(log, "wal")
    assert [(record.type, record.key, record.row) for record in content.records] == [
        *((RecordType.PUT, b"k%d" % i, b"row %d" % i) for i in range(4)),
        (RecordType.DELETE, b"gone", b""),
    ]
    assert content.torn_at is None


@pytest.mark.parametrize("size", range(len(LOG)))
def test_a_log_cut_anywhere_keeps_its_whole_records(size: int) -> None:
    content = read_log(LOG[:size], "wal")
    whole = sum(size >= start for start in STARTS[1:])
    assert len(content.records) == whole
    if size in STARTS:
        assert content.torn_at is None
    else:
        assert content.torn_at == (STARTS[whole] if size >= len(HEADER) else 0)


@pytest.mark.parametrize("position", range(len(LOG)))
def test_a_flipped_byte_is_an_error_unless_it_is_in_the_last_record(position: int) -> None:
    damaged = bytearray(LOG)
    damaged[position] ^= 0x40
    if position >= STARTS[3]:
        content = read_log(bytes(damaged), "wal")
        assert len(content.records) == 3
        assert content.torn_at == STARTS[3]
    else:
        with pytest.raises(CorruptFileError, match="wal") as caught:
            read_log(bytes(damaged), "wal")
        is_version = 4 <= position < 8  # a number that nobody has written yet could be one of the future
        assert ("later" if is_version else "repair") in (caught.value.hint or "")
        if position >= len(HEADER):
            start = max(start for start in STARTS if start <= position)
            assert f"at byte {start} " in caught.value.message


@given(st.lists(st.tuples(st.binary(max_size=20), st.binary(max_size=50))), st.binary(max_size=30))
def test_anything_at_the_end_is_a_torn_tail(pairs: list[tuple[bytes, bytes]], tail: bytes) -> None:
    log = HEADER + b"".join(encode_record(RecordType.PUT, key, row) for key, row in pairs)
    content = read_log(log + tail, "wal")
    assert [(record.key, record.row) for record in content.records] == pairs


def test_many_writers_share_syncs() -> None:
    files = MemoryFiles()
    wal = WAL(files.appender("log"), 1, fsync=Fsync.ALWAYS)
    real, gate = wal._appender.sync, threading.Event()

    def slow() -> None:
        gate.wait(5)
        real()

    wal._appender.sync = slow  # type: ignore[method-assign]
    threads = [threading.Thread(target=lambda: wal.wait(wal.append(RECORDS[0]))) for _ in range(20)]
    for thread in threads:
        thread.start()
    while wal.size < len(HEADER) + 20 * len(RECORDS[0]):
        pass
    gate.set()
    for thread in threads:
        thread.join()
    assert len(read_log(files.get("log"), "log").records) == 20
    assert wal.syncs <= 3


@pytest.mark.parametrize("fsync", [Fsync.INTERVAL, Fsync.NONE])
def test_without_always_a_put_does_not_wait(fsync: Fsync) -> None:
    wal = WAL(MemoryFiles().appender("log"), 1, fsync=fsync, interval_millis=1)
    wal.wait(wal.append(RECORDS[0]))
    if fsync is Fsync.INTERVAL:
        for _ in range(2000):
            if wal.syncs:
                break
            threading.Event().wait(0.005)
        assert wal.syncs in (1, 2)  # the header may have gone first
    else:
        assert wal.syncs == 0
    wal.close()


@pytest.mark.fault
def test_a_log_that_failed_takes_nothing_more() -> None:
    files = FaultyFiles(MemoryFiles(), at=3, fault=Fault.FAIL)
    wal = WAL(files.appender("log"), 1, fsync=Fsync.NONE)
    with pytest.raises(StorageError, match="on purpose"):
        wal.append(RECORDS[0])
    with pytest.raises(StorageError, match="failed before"):
        wal.append(RECORDS[1])
    assert files.get("log") == HEADER


def test_closing_covers_those_who_wait() -> None:
    wal = WAL(MemoryFiles().appender("log"), 1, fsync=Fsync.ALWAYS)
    size = wal.append(RECORDS[0])
    wal.close()
    wal.wait(size)
