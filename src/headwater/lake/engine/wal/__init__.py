"""The write-ahead log: rows are durable before they are in a data file."""

from headwater.lake.engine.wal.format import LogContent, Record, RecordType, encode_record, read_log
from headwater.lake.engine.wal.log import WAL

__all__ = ["WAL", "LogContent", "Record", "RecordType", "encode_record", "read_log"]
