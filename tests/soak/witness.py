"""Sees every snapshot while it is there, by its file alone: the order of commits outlives their expiry."""

import hashlib
import json
import threading
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.soak.decoder import SpecTable, Store, read_snapshot
from tests.soak.stage import BUCKET, Journal, Stage


def local_store(root: Path) -> Store:
    def listed(folder: str) -> list[str]:
        found = (path for path in (root / folder).rglob("*") if path.is_file())
        return sorted(path.relative_to(root).as_posix() for path in found)

    return Store(lambda path: (root / path).read_bytes(), listed)


def s3_store(endpoint: str, prefix: str) -> Store:
    """A bucket by plain HTTP."""
    base = f"{endpoint}/{BUCKET}"
    signed = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"

    def asked(url: str) -> urllib.request.Request:
        return urllib.request.Request(url, headers={"Authorization": signed})  # which moto does not look at closely

    def read(path: str) -> bytes:
        try:
            with urllib.request.urlopen(asked(f"{base}/{prefix}/{urllib.parse.quote(path)}"), timeout=30) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as err:
            raise FileNotFoundError(path) from err

    def listed(folder: str) -> list[str]:
        found: list[str] = []
        token = ""
        while True:
            query = {"list-type": "2", "prefix": f"{prefix}/{folder}/"} | (
                {"continuation-token": token} if token else {}
            )
            with urllib.request.urlopen(asked(f"{base}?{urllib.parse.urlencode(query)}"), timeout=30) as answer:
                tree = ElementTree.fromstring(answer.read())
            space = tree.tag.partition("}")[0] + "}"
            found += [str(each.text)[len(prefix) + 1 :] for each in tree.iter(f"{space}Key")]
            token = tree.findtext(f"{space}NextContinuationToken") or ""
            if not token:
                return found

    return Store(read, listed)


def stores(stage: Stage) -> dict[str, Store]:
    s3 = s3_store(stage.moto, f"lake{stage.epoch}")
    return {"lake": local_store(stage.lake), "small": local_store(stage.small), "s3": s3}


def tables(stage: Stage) -> Iterator[tuple[str, SpecTable]]:
    """Every table of the soak under its name, `lake/db.keyed`."""
    for where, store in stores(stage).items():
        folders = {"db/keyed"}
        if where == "lake":
            folders = {path.parent.relative_to(stage.lake).as_posix() for path in stage.lake.glob("*/*/snapshot")}
        for folder in sorted(folders):
            yield f"{where}/{folder.replace('/', '.')}", SpecTable(store, folder)


class Witness(threading.Thread):
    """Notes each new snapshot, and looks again at old ones: a file once written never changes."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(daemon=True, name="witness")
        self._stage = stage
        self._journal = Journal(stage.journal("witness"))
        self._ended = threading.Event()
        self.seen: dict[str, dict[int, str]] = {}
        for line in self._journal.lines:
            if line["kind"] == "snapshot":
                self.seen.setdefault(line["table"], {})[line["id"]] = line["sum"]

    def run(self) -> None:
        while not self._ended.wait(0.5):
            self.look()

    def end(self) -> None:
        self._ended.set()
        self.join()
        self.look()

    def look(self) -> None:
        for name, table in tables(self._stage):
            if name.startswith("s3/"):
                name = f"{name}@{self._stage.epoch}"
            known = self.seen.setdefault(name, {})
            with suppress(OSError):
                for id in self._ids(table, known):
                    self._note(name, table, id, known)

    def _ids(self, table: SpecTable, known: dict[int, str]) -> Iterator[int]:
        """The next ids as long as there are any; at first sight, all."""
        if not known:
            yield from table.snapshot_ids()
            return
        id = max(known) + 1
        while True:
            yield id  # ends by the file that is not there
            id += 1

    def _note(self, name: str, table: SpecTable, id: int, known: dict[int, str]) -> None:
        data = table.store.read(f"{table.folder}/snapshot/snapshot-{id}")
        snapshot = read_snapshot(data, f"{name}/snapshot-{id}")
        known[id] = hashlib.sha256(data).hexdigest()[:16]
        kept: dict[str, Any] = {
            "id": id,
            "user": snapshot["commitUser"],
            "commit": snapshot["commitId"],
            "operation": snapshot["operation"],
            "time": snapshot["timestamp"],
            "inputs": (snapshot.get("origin") or {}).get("inputs", []),
            "sum": known[id],
        }
        self._journal.note("snapshot", table=name, **json.loads(json.dumps(kept)))
