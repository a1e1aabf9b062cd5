"""Those who read, tidy up and ask."""

import json
import random
import time
import urllib.error
import urllib.request
import uuid
from datetime import UTC, datetime
from typing import Any

from headwater.errors import CommitConflictError, HeadwaterError, NotFoundError, NotWritableError, StorageError
from headwater.lake.tables import Table
from tests.soak.actors import Play, lake_of
from tests.soak.stage import GROUP, OWN, Journal, Stage, digest

KEPT = 80  # snapshots that expiry leaves: who was killed finds its commit among them
TABLES = {
    "lake": ("db.keyed", "db.log", "db.sparked", "db.rows", "db.counter", "db.drain", "db.feed", "db.totals"),
    "small": ("db.keyed",),
    "s3": ("db.keyed",),
}
UNEXPIRED = ("db.feed",)  # a stream reads it, and may stand still for long


def reader(where: str) -> Play:
    """Reads whole snapshots, of now and of the past, and notes what they hold; the checker knows what they should."""

    def play(stage: Stage, me: str, journal: Journal, chance: random.Random) -> None:
        lake = lake_of(stage, where)
        while not stage.is_over:
            name = chance.choice([each for each in TABLES[where] if each not in ("db.rows", "db.drain", "db.totals")])
            try:
                read_once(lake.table(name), f"{where}/{name}", journal, chance)
            except StorageError as err:
                if where != "s3":
                    raise
                journal.note("failed", why=err.message[:200])
            time.sleep(chance.uniform(0.1, 0.7))

    return play


def read_once(table: Table, name: str, journal: Journal, chance: random.Random) -> None:
    ids = table.store.committer.log.ids()
    if not ids:
        return
    at = chance.choice([None, *ids[-30:]])
    core = ["p", "w", "n", "i"] if "p" in table.schema.names else ["k", "w", "n"]
    try:
        snapshot = table.snapshot(at)
        assert snapshot is not None
        rows = table.to_arrow(core, at=snapshot.snapshot_id).to_pylist()
    except NotFoundError:
        if at is not None and table.store.committer.log.earliest_id() > at:
            return  # it expired before our lease was there
        raise
    except NotWritableError:  # no lease on a full disk
        return
    if core[0] == "k":
        for row in rows:  # a group is seen whole: all its keys from one commit
            if row["k"] >= OWN:
                first = row["k"] // OWN * OWN
                group = {each["n"] for each in rows if first <= each["k"] < first + GROUP}
                if len(group) != 1:
                    journal.note("broken", what=f"{name}@{snapshot.snapshot_id}: group {first} shows turns {group}")
    journal.note("read", table=name, snapshot=snapshot.snapshot_id, rows=len(rows), digest=digest(rows))


def compactor(where: str) -> Play:
    def play(stage: Stage, me: str, journal: Journal, chance: random.Random) -> None:
        while not stage.is_over:
            table = lake_of(stage, where).table(chance.choice(TABLES[where]))
            try:
                done = table.compact(full=chance.random() < 0.3)
                journal.note("compacted", table=str(table.name), buckets=len(done))
            except CommitConflictError as err:
                journal.note("crossed", why=err.message)
            except StorageError as err:
                _allow(where, err)
                journal.note("failed", code=err.code, why=err.message[:200])
            time.sleep(chance.uniform(0.5, 2.5))

    return play


def cleaner(where: str) -> Play:
    """Expiry and the removal of orphans, as often as nobody would do it."""

    def play(stage: Stage, me: str, journal: Journal, chance: random.Random) -> None:
        while not stage.is_over:
            name = chance.choice(TABLES[where])
            table = lake_of(stage, where).table(name)
            try:
                kept = 12 if where == "small" else KEPT
                gone = None if name in UNEXPIRED else table.expire_snapshots(keep_min=kept, older_than=20)
                orphans = table.remove_orphans(older_than=90, dry_run=False)
                expired = len(gone.snapshots) if gone is not None else 0
                journal.note("cleaned", table=name, expired=expired, orphans=len(orphans.files))
            except StorageError as err:
                _allow(where, err)
                journal.note("failed", code=err.code, why=err.message[:200])
            time.sleep(chance.uniform(0.5, 3.0))

    return play


def _allow(where: str, err: HeadwaterError) -> None:
    """On the small disk and on S3 things fail; on a sound disk nothing does."""
    if where == "lake":
        raise err


def harvester(stage: Stage, me: str, journal: Journal, chance: random.Random) -> None:
    """Harvests an estate that changes from turn to turn."""
    from headwater.graph import GraphStore
    from headwater.jobs.harvest.harvest import HarvestOptions, harvest
    from headwater.jobs.harvest.sources import read_estate
    from tests.jobs import estates

    while not stage.is_over:
        turn = journal.turn
        journal.note("intend", turn=turn)
        write_estate(stage, turn)
        options = HarvestOptions(schema=estates.SCHEMA)
        harvest(GraphStore(lake_of(stage, "lake")), read_estate([str(stage.estate)], "postgres"), options)
        journal.note("done", turn=turn)
        time.sleep(chance.uniform(1.0, 4.0))


def write_estate(stage: Stage, turn: int) -> None:
    """The scripts of a turn: some as before, some changed, some gone."""
    from tests.jobs import estates

    stage.estate.mkdir(exist_ok=True)
    wanted = {
        f"{part}_{name}": text for part in range(3) for name, text in estates.scripts((turn + part) // 3 * 3 + part)
    }
    for path in stage.estate.glob("*.sql"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (stage.estate / name).write_text(text)


def server(stage: Stage, me: str, journal: Journal, chance: random.Random) -> None:
    """`headwater serve`, until it is killed or the soak is over."""
    import os
    import signal
    import threading

    from headwater.__main__ import main

    def watch() -> None:
        while not stage.is_over:
            time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

    import sys

    threading.Thread(target=watch, daemon=True).start()
    sys.argv = ["headwater", "--warehouse", str(stage.lake), "serve", "--port", str(stage.server_port)]
    main()


def event(run: str, job: str) -> dict[str, Any]:
    return {
        "eventType": "COMPLETE",
        "eventTime": datetime.now(UTC).isoformat(),
        "producer": "https://example.com/soak",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": run},
        "job": {"namespace": "soak", "name": job},
        "inputs": [{"namespace": "headwater:/lake", "name": "db.keyed"}],
        "outputs": [{"namespace": "headwater:/lake", "name": f"out.{job}"}],
    }


def client(stage: Stage, me: str, journal: Journal, chance: random.Random) -> None:
    """Posts events and asks questions of a server that is killed now and then."""
    base = f"http://127.0.0.1:{stage.server_port}"
    while not stage.is_over:
        turn = journal.turn
        runs = [str(uuid.UUID(int=chance.getrandbits(122))) for _ in range(chance.randint(1, 5))]
        journal.note("intend", turn=turn, runs=runs)
        body = [event(run, f"job_{turn % 7}") for run in runs]
        status = ask(f"{base}/api/v1/lineage/batch", json.dumps(body).encode())
        if status == 200:
            journal.note("done", turn=turn)
        else:
            journal.note("left", turn=turn, status=status)
        asked = ask(f"{base}{chance.choice(QUESTIONS)}")
        if asked is not None and asked >= 500 and asked != 503:
            journal.note("broken", what=f"the server answered {asked}")
        time.sleep(chance.uniform(0.2, 1.0))


QUESTIONS = (
    "/api/v1/trace?selector=mart.a",
    "/api/v1/picture?selector=mart.a",
    "/api/v1/tables",
    "/api/v1/table?name=db.keyed",
    "/api/v1/rows?name=db.keyed",
    "/api/v1/snapshots?name=db.keyed",
    "/api/v1/search?text=or",
    "/api/v1/runs",
    "/api/v1/states",
    "/",
)


def ask(url: str, body: bytes | None = None) -> int | None:
    """The status of an answer, None if there was none."""
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"} if body else {})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            answer.read()
            return int(answer.status)
    except urllib.error.HTTPError as err:
        return err.code
    except OSError:
        return None


def graph_reader(stage: Stage, me: str, journal: Journal, chance: random.Random) -> None:
    """A state of the graph is seen whole: a run is there with its inputs, or not at all."""
    from headwater.graph import GraphStore
    from headwater.graph.tables import RUN_INPUTS, RUNS

    store = GraphStore(lake_of(stage, "lake"))
    while not stage.is_over:
        try:
            state = store.state()
        except NotFoundError:
            time.sleep(0.5)
            continue
        runs = set(state.read(RUNS, ["run"]).column(0).to_pylist())
        inputs = set(state.read(RUN_INPUTS, ["run"]).column(0).to_pylist())
        if runs != inputs:
            what = f"state {state.number} has {len(runs)} runs, and the inputs of {len(inputs)}"
            journal.note("broken", what=what)
        journal.note("read", table="graph", state=state.number, runs=len(runs))
        time.sleep(chance.uniform(0.3, 1.5))
