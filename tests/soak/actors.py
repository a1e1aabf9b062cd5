"""Those who write: each in a process of its own that may be killed at any moment, with a journal that is not.

An actor notes what it is about to do, does it, and notes the answer. After a kill it reads its journal, and either
tries the same commit again, under the same name, or leaves it: then it must be there wholly or not at all.
"""

import random
import resource
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from headwater import Warehouse
from headwater.errors import CommitConflictError, HeadwaterError, SchemaError, StorageError
from headwater.lake.tables import Table
from tests.soak.stage import GROUP, HOGGED, OWN, SHARED, Journal, Stage

Play = Callable[[Stage, str, Journal, random.Random], None]
CORE = ("k", "w", "n")


def keyed_schema() -> dict[str, str]:
    return {"k": "BIGINT NOT NULL", "w": "STRING", "n": "BIGINT"}


def make_tables(stage: Stage) -> None:
    """Make what is not there yet."""
    lake = Warehouse(stage.lake)
    lake.create_database("db", if_not_exists=True)
    few = {"bucket": "2", "num-sorted-run.compaction-trigger": "4"}
    for name, options in (("keyed", few), ("sparked", few), ("rows", {"bucket": "1"}), ("counter", {"bucket": "1"})):
        lake.create_table(f"db.{name}", keyed_schema(), primary_key="k", options=options, if_not_exists=True)
    plain = {"p": "INT", "w": "STRING", "n": "BIGINT", "i": "BIGINT"}
    parquet = {"file.format": "parquet"}
    lake.create_table("db.log", plain, partition_by="p", options=parquet, if_not_exists=True)
    lake.create_table("db.feed", plain, if_not_exists=True)
    lake.create_table("db.drain", plain, if_not_exists=True)
    lake.create_table("db.totals", {"turn": "STRING", "n": "BIGINT", "total": "BIGINT"}, if_not_exists=True)
    if lake.table("db.counter").snapshot() is None:
        lake.table("db.counter").write([(0, "counter", 0)], commit_user="maker", commit_id="0")
    for other in (Warehouse(stage.small), Warehouse(stage.s3_url, stage.s3_options(stage.moto))):
        other.create_database("db", if_not_exists=True)
        other.create_table("db.keyed", keyed_schema(), primary_key="k", options=few, if_not_exists=True)


def lake_of(stage: Stage, where: str) -> Warehouse:
    if where == "s3":
        return Warehouse(stage.s3_url, stage.s3_options(stage.proxy))
    return Warehouse(stage.small if where == "small" else stage.lake)


# ------------------------------------------------------------------------------------------------ one commit


def carry_out(journal: Journal, me: str, intent: Mapping[str, Any], act: Callable[[str], Any], stage: Stage) -> None:
    """Try a commit until it has landed or was refused; storage that fails is asked again."""
    pause = 0.05
    while not stage.is_over:
        try:
            snapshot = act(str(intent["turn"]))
        except SchemaError as err:  # the schema has changed since we looked: nothing was written
            journal.note("refused", turn=intent["turn"], why=err.message)
            return
        except (CommitConflictError, StorageError) as err:
            journal.note("failed", turn=intent["turn"], code=err.code, why=err.message[:300])
            time.sleep(pause)
            pause = min(2.0, 2 * pause)
            continue
        journal.note("done", turn=intent["turn"], snapshot=snapshot.snapshot_id)
        return


def again_or_not(journal: Journal, chance: random.Random, table: Table) -> dict[str, Any] | None:
    """The commit to try again after a kill; None if there is none, or it is left to its fate.

    One that may have landed in a snapshot that has expired since then cannot be told from one that has not.
    """
    pending = journal.pending
    if pending is None:
        return None
    if chance.random() < 0.3 or table.store.committer.log.earliest_id() > pending["latest"] + 1:
        journal.note("left", turn=pending["turn"])
        return None
    return pending


def latest_of(table: Table) -> int:
    return max(0, table.store.committer.log.latest_id())


# --------------------------------------------------------------------------------------------------- writers


def upserts(where: str, name: str, number: int, *, extras: bool = False) -> Play:
    """Upserts and deletes: one group of keys that is always written as a whole, and keys that all fight for."""

    def play(stage: Stage, me: str, journal: Journal, chance: random.Random) -> None:
        table = lake_of(stage, where).table(name)

        def act(id: str) -> Any:
            assert intent is not None
            rows, deletes = intent["rows"], intent["deletes"]
            with small_files(chance, where == "small" and not stage.small_is_mounted):
                return table.write(rows, deletes=deletes or None, commit_user=me, commit_id=id)

        while not stage.is_over:
            try:
                found = again_or_not(journal, chance, table)
                fresh = upsert_intent(table, me, number, journal.turn, chance, extras) if found is None else None
            except StorageError as err:
                if where == "lake":
                    raise
                journal.note("failed", why=err.message[:200])
                continue
            if fresh is not None:
                journal.note("intend", table=f"{where}/{name}", user=me, **fresh)
            intent = found or fresh
            assert intent is not None
            carry_out(journal, me, intent, act, stage)
            time.sleep(chance.uniform(0.05, 0.6))

    return play


def upsert_intent(
    table: Table, me: str, number: int, turn: int, chance: random.Random, extras: bool
) -> dict[str, Any]:
    """What a turn is to write: rows by name, and the ids of the fields behind the names."""
    fields = {field.name: field for field in table.schema.fields}
    more = [name for name in fields if name not in CORE and chance.random() < 0.8] if extras else []
    own = range(OWN * (number + 1), OWN * (number + 1) + GROUP)
    shared = chance.sample(range(SHARED), chance.randint(0, 6))
    cut = chance.randint(0, len(shared))
    rows = [{"k": key, "w": me, "n": turn} | {name: value_of(fields[name], turn) for name in more} for key in own]
    rows += [{"k": key, "w": me, "n": turn} for key in shared[:cut]]
    return {
        "turn": turn,
        "latest": latest_of(table),
        "rows": rows,
        "deletes": shared[cut:],
        "ids": {name: field.id for name, field in fields.items()},
    }


def value_of(field: Any, turn: int) -> Any:
    return f"{field.name}:{turn}" if str(field.type) == "STRING" else turn % 30_000


def appends(where: str, name: str) -> Play:
    """Rows that are appended, each with a number that nobody else has."""

    def play(stage: Stage, me: str, journal: Journal, chance: random.Random) -> None:
        table = lake_of(stage, where).table(name)

        def act(id: str) -> Any:
            turn = intent["turn"]
            rows = [{"p": turn % 3, "w": me, "n": turn, "i": at} for at in range(intent["count"])]
            return table.write(rows, commit_user=me, commit_id=id)

        while not stage.is_over:
            intent = again_or_not(journal, chance, table)
            if intent is None:
                intent = {"turn": journal.turn, "latest": latest_of(table), "count": chance.randint(1, 40)}
                journal.note("intend", table=f"{where}/{name}", user=me, **intent)
            carry_out(journal, me, intent, act, stage)
            time.sleep(chance.uniform(0.1, 0.8))

    return play


def row_writer(stage: Stage, me: str, journal: Journal, chance: random.Random) -> None:
    """Puts of single rows: acknowledged is durable, long before there is a snapshot."""
    table = lake_of(stage, "lake").table("db.rows")
    while not stage.is_over:
        try:
            writer = table.writer()
        except StorageError:  # the one before us is not gone yet
            time.sleep(0.1)
            continue
        with writer:
            for _ in range(chance.randint(1, 12)):
                turn = journal.turn
                puts = [(chance.randint(0, 40), chance.random() < 0.2) for _ in range(chance.randint(1, 8))]
                journal.note("intend", table="lake/db.rows", turn=turn, puts=puts)
                for key, gone in puts:
                    if gone:
                        writer.delete(key)
                    else:
                        writer.put({"k": key, "w": me, "n": turn})
                journal.note("done", turn=turn)
                if chance.random() < 0.3:
                    writer.flush()
                time.sleep(chance.uniform(0.0, 0.1))
                if stage.is_over:
                    break


def evolver(stage: Stage, me: str, journal: Journal, chance: random.Random) -> None:
    """Adds, renames, widens and drops columns. A name stands for one field for ever."""
    from headwater.lake.metadata.schema_change import AddColumn, DropColumn, RenameColumn, SchemaChange, WidenColumn
    from headwater.model.types import BIGINT, INT, STRING

    table = lake_of(stage, "lake").table("db.keyed")
    while not stage.is_over:
        turn = journal.turn
        extras = [field for field in table.schema.fields if field.name not in CORE]
        narrow = [field for field in extras if str(field.type) == "INT"]
        kinds = ["add"] if len(extras) < 2 else ["add", "rename", "drop"] if len(extras) < 6 else ["rename", "drop"]
        kind = chance.choice(kinds + ["widen"] * bool(narrow))
        change: SchemaChange
        if kind == "add":
            type, default = (
                (INT, chance.choice([None, turn])) if turn % 2 else (STRING, chance.choice([None, "none"]))
            )
            change = AddColumn(f"e{turn}", type, default=default)
        elif kind == "rename":
            change = RenameColumn(chance.choice(extras).name, f"e{turn}")
        elif kind == "widen":
            change = WidenColumn(chance.choice(narrow).name, BIGINT)
        else:
            change = DropColumn(chance.choice(extras).name)
        journal.note("intend", table="lake/db.keyed", turn=turn, change=repr(change))
        table.alter(change)
        journal.note("done", turn=turn)
        time.sleep(chance.uniform(1.0, 4.0))


def statements(number: int) -> Play:
    """SQL whose commits carry their lineage, and updates of which none may be lost."""

    def play(stage: Stage, me: str, journal: Journal, chance: random.Random) -> None:
        import headwater

        with headwater.connect(stage.lake) as session:
            while not stage.is_over:
                turn = journal.turn
                counts = chance.random() < 0.6
                journal.note("intend", table="lake/db.counter" if counts else "lake/db.totals", turn=turn)
                query = f"SELECT '{me}:{turn}' AS turn, count(*) AS n, sum(n) AS total FROM db.keyed"
                try:
                    if counts:
                        session.sql("UPDATE db.counter SET n = n + 1 WHERE k = 0")
                    else:
                        session.sql(f"INSERT INTO db.totals {query}")
                except CommitConflictError as err:
                    journal.note("refused", turn=turn, why=err.message)
                    continue
                journal.note("done", turn=turn)
                time.sleep(chance.uniform(0.2, 1.0))

    return play


@contextmanager
def small_files(chance: random.Random, limited: bool) -> Iterator[None]:
    """Where no small disk is to be had: a limit on the size of files, now and then so low that nothing fits."""
    if not limited:
        yield
        return
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (chance.choice([300, 1000, 1 << 30, 1 << 30]), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def hog(stage: Stage, me: str, journal: Journal, chance: random.Random) -> None:
    """Fills the small disk, waits, and makes room again."""
    place = stage.small / HOGGED
    while not stage.is_over:
        try:
            with place.open("wb", buffering=0) as file:
                while not stage.is_over:
                    file.write(bytes(64 << 10))
        except OSError:
            pass
        time.sleep(chance.uniform(0.2, 1.5))
        place.unlink(missing_ok=True)
        time.sleep(chance.uniform(1.0, 4.0))
    place.unlink(missing_ok=True)


def tolerated(err: HeadwaterError) -> bool:
    """Whether an error says no more than that others were faster, or that storage fails, as is to be expected."""
    return isinstance(err, CommitConflictError | StorageError)
