"""A file that does not fit into memory is not called damaged."""

import os
import subprocess
import sys
from textwrap import dedent

import pytest

from headwater import Warehouse

CHILD = """
    import resource, sys
    import pyarrow as pa
    from headwater import Warehouse
    from headwater.errors import HeadwaterError

    table = Warehouse(sys.argv[1]).table("t")
    table.scan(["id"])
    pa.array(["x"]).cast(pa.binary())
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), -1))
    try:
        table.to_arrow()
    except HeadwaterError as err:
        print(err.code)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process so")
@pytest.mark.parametrize("file_format", ["sst", "parquet", "orc", "json"])
def test_an_allocation_that_fails_is_reported_as_such(tmp_path, file_format):
    options = {"file.format": file_format, "file.compression": "zstd"}
    table = Warehouse(tmp_path).create_table("t", {"id": "INT", "s": "STRING"}, primary_key="id", options=options)
    table.write([(1, "x" * (200 << 20))])
    done = subprocess.run(
        [sys.executable, "-c", dedent(CHILD), tmp_path],
        env=os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"},  # the others take address space long before its use
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.stdout, done.returncode) == ("memory-limit\n", 0), done.stderr
