"""Where a soak plays: one folder that holds the warehouses, the journals and what was seen, so that it can go on.

Nothing here knows Headwater: actors write journals, the witness and the checker read them.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

BUCKET = "soak"
GROUP = 8
"""Keys that one writer owns and always writes together: a reader never sees them apart."""
SHARED = 60
"""Keys that all writers of a table fight for."""
OWN = 1000
"""The first key of the group of writer number 0; writer n has the one at `OWN * (n + 1)`."""
HOGGED = ".hog"
"""What fills the small disk. It outlives a soak that is killed, and the next one makes room first."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The places of one soak, as every process of it is told them."""

    folder: str
    seed: int
    server_port: int = 0
    moto: str = ""  # the S3 server itself, for who must see the truth
    proxy: str = ""  # the same with faults, for who is tested
    epoch: int = 0  # how often the soak was begun: what moto held is gone each time
    small_is_mounted: bool = False

    @property
    def root(self) -> Path:
        return Path(self.folder)

    @property
    def lake(self) -> Path:
        return self.root / "lake"

    @property
    def small(self) -> Path:
        """A warehouse on a disk that is full now and then."""
        return self.root / "small"

    @property
    def estate(self) -> Path:
        return self.root / "estate"

    @property
    def is_over(self) -> bool:
        return (self.root / "stop").exists()

    def journal(self, name: str) -> Path:
        return self.root / "journals" / f"{name}.ndjson"

    def save(self) -> None:
        (self.root / "stage.json").write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, folder: str | Path) -> "Stage":
        return cls(**json.loads((Path(folder) / "stage.json").read_text()))

    def s3_options(self, endpoint: str) -> dict[str, str]:
        return {
            "endpoint": endpoint,
            "access_key_id": "test",
            "secret_access_key": "test",
            "region": "us-east-1",
            "virtual_hosted_style_request": "false",
        }

    @property
    def s3_url(self) -> str:
        return f"s3://{BUCKET}/lake{self.epoch}"


class Journal:
    """What an actor intended and what it was told, each line on disk before the next step is taken."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        size = os.fstat(self._file).st_size
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            os.write(self._file, b"\n")  # the actor before was killed in the middle of a line
        self.lines = list(read_journal(path))

    def note(self, kind: str, **facts: Any) -> None:
        line = {"kind": kind} | facts
        os.write(self._file, json.dumps(line, separators=(",", ":")).encode() + b"\n")
        os.fsync(self._file)
        self.lines.append(line)

    @property
    def turn(self) -> int:
        """The number of the next intention."""
        return sum(line["kind"] == "intend" for line in self.lines)

    @property
    def pending(self) -> dict[str, Any] | None:
        """The last intention, if nothing is known of what became of it."""
        for line in reversed(self.lines):
            if line["kind"] == "intend":
                return line
            if line["kind"] in ("done", "refused", "left"):
                return None
        return None


def read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a journal, in order."""
    if not path.exists():
        return
    for line in path.read_bytes().split(b"\n"):
        try:
            yield json.loads(line)
        except ValueError:
            continue  # torn by a kill


def digest(rows: list[dict[str, Any]]) -> str:
    """One value for the contents of a table, whatever the order of its rows."""
    lines = sorted(json.dumps(row, sort_keys=True) for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
