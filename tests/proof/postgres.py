"""Worlds in PostgreSQL: a server of its own in a temporary folder, spoken to through psql."""

import atexit
import csv
import io
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from tests.proof.engine import Row, Variant, World
from tests.proof.tables import Table

_END, _NULL = "__end__", "__null__"


def _binaries() -> Path | None:
    found = shutil.which("initdb") or next(map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))), None)
    return Path(found).parent if found else None


def missing_postgres() -> str | None:
    """Why there is no PostgreSQL here; None when there is."""
    if _binaries() is None or shutil.which("psql") is None:
        return "PostgreSQL is not installed (initdb and psql; Debian: apt-get install postgresql)"
    return None


@cache
def _server() -> Path:
    """The folder of a running server, which is stopped when the process ends."""
    binaries = _binaries()
    assert binaries is not None
    folder = Path(tempfile.mkdtemp(prefix="proof-postgres-"))
    data = folder / "data"
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []  # the server refuses root
    if as_user:
        shutil.chown(folder, "postgres")
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    subprocess.run([*as_user, binaries / "initdb", "-D", data, "-A", "trust", "-U", "postgres", "-N"], **quiet)
    options = f"-F -c listen_addresses='' -k {folder} -c full_page_writes=off"
    start = [*as_user, binaries / "pg_ctl", "-D", data, "-w", "-o", options, "-l", folder / "log", "start"]
    subprocess.run(start, **quiet)

    def stop() -> None:
        stopped = [*as_user, binaries / "pg_ctl", "-D", data, "-m", "immediate", "stop"]
        subprocess.run(stopped, check=False, stdout=subprocess.DEVNULL)
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    return folder


def _psql() -> list[str]:
    return ["psql", "-X", "-q", "-t", "--csv", "-h", str(_server()), "-U", "postgres", "-d", "postgres"]


class PostgresWorld(World):
    """Base tables in a schema of their own, variants in others."""

    __slots__ = ("made", "name", "process")
    worlds = 0

    def __init__(self, tables: dict[str, Table], seed: str) -> None:
        super().__init__(tables, seed)
        PostgresWorld.worlds += 1
        self.name = f"w{PostgresWorld.worlds}"
        self.process = subprocess.Popen(
            _psql(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._ask(f"\\pset null {_NULL}\n\\set VERBOSITY terse\nSET client_min_messages = error")
        self._ask(f"SET application_name = '{self.name}'")
        self.made: set[str] = set()
        for name in tables:
            self._create(self.name, name, self.base(name))

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def interrupt(self) -> None:
        told = f"SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = '{self.name}'"
        subprocess.run([*_psql(), "-c", told], check=False, stdout=subprocess.DEVNULL)

    def _ask(self, sql: str) -> str:
        """What psql prints for statements."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{sql};\n\\echo {_END}\n")
        self.process.stdin.flush()
        lines: list[str] = []
        for line in self.process.stdout:
            if line.rstrip("\n") == _END:
                break
            lines.append(line)
        return "".join(lines)

    def _create(self, schema: str, name: str, values: dict[str, tuple[str, ...]]) -> None:
        typed = ", ".join(f'"{column}" {held.type}' for column, held in self.tables[name].items())
        lines = ", ".join(f"({', '.join(line)})" for line in zip(*values.values(), strict=True))
        self._ask(f"CREATE SCHEMA IF NOT EXISTS {schema}; DROP TABLE IF EXISTS {schema}.{name}")
        told = self._ask(f"CREATE TABLE {schema}.{name} ({typed}); INSERT INTO {schema}.{name} VALUES {lines}")
        assert "ERROR:" not in told, told

    def run(self, sql: str, variant: Variant | None = None, *, then: str | None = None) -> list[Row] | None:
        path = []
        for name, values in (variant.values if variant else {}).items():
            schema = f"{self.name}_{variant.names.get(name, 'once') if variant else ''}"
            if schema not in self.made:
                self._create(schema, name, values)
                if variant is not None and name in variant.names:
                    self.made.add(schema)
            path.append(schema)
        told = self._ask(f"SET search_path = {', '.join([*path, self.name])}; {sql}")
        if "ERROR:" in told:
            return None
        return [tuple(row) or ("",) for row in csv.reader(io.StringIO(told))]  # an empty text is an empty line
