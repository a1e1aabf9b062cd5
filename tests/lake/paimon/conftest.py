"""Two readers and writers of Paimon that are not ours: pypaimon (Python) and pypaimon-rust."""

import json
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pytest

collect_ignore = ["peer.py"]  # run by another interpreter
PYTHON = Path(__file__).parents[3] / ".venv-paimon" / "bin" / "python"


class Peer:
    """pypaimon, in a process of its own."""

    def __init__(self, process, folder):
        self._process, self._folder = process, folder

    def _ask(self, do, warehouse, **request):
        self._process.stdin.write(json.dumps({"do": do, "warehouse": str(warehouse), **request}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert "error" not in answer, answer["error"]

    def _rows(self, table):
        path = self._folder / "rows.arrow"
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as file:
            file.write_table(table)
        return str(path)

    def create(self, warehouse, name, rows, keys=(), partitions=(), **options):
        self._ask(
            "create",
            warehouse,
            name=name,
            rows=self._rows(rows),
            keys=list(keys),
            partitions=list(partitions),
            options={key.replace("_", "."): value for key, value in options.items()},
        )
        self.write(warehouse, name, rows)

    def write(self, warehouse, name, rows):
        self._ask("write", warehouse, name=name, rows=self._rows(rows))

    def add_column(self, warehouse, name, column, type):
        self._ask("alter", warehouse, name=name, column=column, type=type)

    def rename_column(self, warehouse, name, column, new):
        self._ask("rename", warehouse, name=name, column=column, new=new)

    def read(self, warehouse, name, **options):
        path = self._folder / "read.arrow"
        self._ask("read", warehouse, name=name, into=str(path), options=options)
        with pa.OSFile(str(path)) as source, pa.ipc.open_file(source) as file:
            return file.read_all().to_pylist()


@pytest.fixture(scope="session")
def pypaimon(tmp_path_factory):
    if not PYTHON.exists():
        pytest.skip("pypaimon is not installed: `make test` puts it into .venv-paimon, an environment of its own")
    process = subprocess.Popen(
        [str(PYTHON), str(Path(__file__).with_name("peer.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    yield Peer(process, tmp_path_factory.mktemp("peer"))
    process.stdin.close()
    process.stdout.close()
    process.wait()


@pytest.fixture(scope="session")
def rust_read():
    """Reads all rows of a Paimon table as pypaimon-rust sees them."""
    from pypaimon_rust.datafusion import PaimonCatalog

    def read(warehouse, name):
        builder = PaimonCatalog({"warehouse": str(warehouse)}).get_table(name).new_read_builder()
        batches = builder.new_read().read(builder.new_scan().plan().splits())
        return [row for batch in batches for row in batch.to_pylist()]

    return read
