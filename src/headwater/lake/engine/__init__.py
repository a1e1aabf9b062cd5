"""The storage engine: a sorted map in files, from the write-ahead log to compaction."""
