"""Events and origins into the graph on Spark, with the rows that one process gives.

Tasks gather what pieces of a file say. What is said of one key then comes to one task, which merges it with what the
graph has and writes the rows to files. The driver commits all files in one change of the graph: one that dies before
its end leaves files that belong to nothing, and commits that the next change takes back.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

from pyspark import StorageLevel
from pyspark.serializers import CPickleSerializer
from pyspark.sql import SparkSession

from headwater.errors import EventError, InputError
from headwater.events import Event, read_events
from headwater.graph.facts import Facts
from headwater.graph.observed import expanded, fold, gather, reconcile
from headwater.graph.origins import gather_origins
from headwater.graph.store import GraphChange, GraphStore, WrittenFiles, facts_to_arrow
from headwater.graph.tables import EDGES, FACT_TABLES
from headwater.graph.versions import tables_told
from headwater.jobs.parts import run_parts
from headwater.jobs.upkeep import compact
from headwater.jobs.written import place_of, plan_files, write_files
from headwater.lake.tables import Warehouse
from headwater.spark.source.commits import WritePlan
from headwater.text import Source

_PIECE = 32 << 20  # bytes of a file that one task reads
_MERGED = 64 << 20  # bytes of events whose rows one task merges
_SHOWN = 20  # refused events that a task describes
P = TypeVar("P")
_pickle: Any = CPickleSerializer()


@dataclass(frozen=True, slots=True)
class FilePiece:
    """The lines of a file that begin between two positions, and the number of the first."""

    file: str
    start: int
    end: int
    first: int = 1

    def lines(self) -> Iterator[bytes]:
        """RAISES: InputError when the file cannot be read."""
        try:
            with open(self.file, "rb") as file:
                at = self.start
                if at:
                    file.seek(at - 1)
                    at += len(file.readline()) - 1
                while at < self.end and (line := file.readline()):
                    at += len(line)
                    yield line
        except OSError as err:
            raise InputError(f"{self.file} cannot be read: {err.strerror}") from err


@dataclass(slots=True)
class Told:
    """The facts gathered from one part: how many events or origins, and those that are refused."""

    count: int = 0
    read: int = 0  # those that are refused for what is in them are read, too
    refused: int = 0
    shown: list[tuple[str | None, str, str | None]] = field(default_factory=list)  # place, message, hint
    rows: dict[str, int] = field(default_factory=dict)  # by table

    def errors(self) -> Iterator[EventError]:
        """The refused events, the first with the reasons."""
        for place, message, hint in self.shown:
            yield EventError(message, hint=hint, source=None if place is None else Source("", place))
        yield from (EventError("more events are refused") for _ in range(self.refused - len(self.shown)))


def ingest_on_spark(spark: SparkSession, store: GraphStore, file: Path) -> tuple[int, list[EventError]]:
    """Bring the events of a file in; returns how many were read and what was wrong with those that are refused.

    RAISES: InputError when the file cannot be read.
    """
    try:
        size = file.stat().st_size
    except OSError as err:
        raise InputError(f"{file} cannot be read: {err.strerror}") from err
    told = _bring_in(spark, store, _cut(spark, file, size), _read_piece, "ingest", str(file), size)
    return sum(each.read for each in told), [error for each in told for error in each.errors()]


def origins_on_spark(spark: SparkSession, store: GraphStore) -> int:
    """Bring in what the snapshots of the warehouse were made from; returns how many say so."""
    names, url = tables_told(store.warehouse), place_of(store, EDGES).warehouse
    width = spark.sparkContext.defaultParallelism * 4
    parts = [(url, part) for at in range(width) if (part := names[at::width])]
    return sum(each.count for each in _bring_in(spark, store, parts, _read_tables, "origins", url, len(names)))


def _cut(spark: SparkSession, file: Path, size: int) -> list[FilePiece]:
    """Pieces of a file. Lines are counted first, in tasks: a refused event is known by the number of its line."""
    each = max(1, min(_PIECE, -(-size // (2 * spark.sparkContext.defaultParallelism))))
    pieces = [FilePiece(str(file.absolute()), at, min(at + each, size)) for at in range(0, size, each)]
    numbered, first = [], 1
    for piece, lines in zip(pieces, run_parts(spark.sparkContext, pieces, _count_lines)):
        numbered.append(FilePiece(piece.file, piece.start, piece.end, first))
        first += lines
    return numbered


def _count_lines(piece: FilePiece) -> int:
    return sum(1 for _ in piece.lines())


def _read_piece(name: str, piece: FilePiece) -> tuple[Facts, Told]:
    errors: list[EventError] = []

    def events() -> Iterator[Event]:
        for each in read_events(piece.lines(), name, first=piece.first, expand=expanded):
            if isinstance(each, EventError):
                errors.append(each)
            else:
                yield each

    facts, count, bad = gather(events())
    refused = [*errors, *bad]
    shown = [(error.place, error.message, error.hint) for error in refused[:_SHOWN]]
    return facts, Told(count, count + len(bad), len(refused), shown)


def _read_tables(name: str, part: tuple[str, Sequence[str]]) -> tuple[Facts, Told]:
    url, tables = part
    facts, warehouse = Facts(), Warehouse(url)
    return facts, Told(sum(gather_origins(facts, warehouse.table(table)) for table in tables))


def _bring_in(
    spark: SparkSession,
    store: GraphStore,
    parts: Sequence[P],
    read: Callable[[str, P], tuple[Facts, Told]],
    kind: str,
    source: str,
    size: int,
) -> list[Told]:
    """Gather what parts say, and bring it into the graph in one change."""
    if not parts:
        return []
    context = spark.sparkContext
    width = max(2 * context.defaultParallelism, size // _MERGED)
    numbered = context.parallelize(list(enumerate(parts)), len(parts))
    gathered = numbered.map(partial(_gather, read, source, width)).persist(StorageLevel.DISK_ONLY)
    told = gathered.map(lambda each: each[0]).collect()
    change = GraphChange(record={"kind": kind, "sources": [source], "statements": sum(each.count for each in told)})

    def ready() -> bool:
        plans = {}
        for spec in FACT_TABLES:
            if expected := sum(each.rows.get(spec.name, 0) for each in told):
                plans[spec.name] = plan_files(store, spec, expected)
        shuffled = gathered.flatMap(lambda each: each[1]).partitionBy(width, lambda key: int(key))
        files = WrittenFiles.together(shuffled.mapPartitions(partial(_merge, plans)).collect())
        change.written = files.placed
        change.record["edges"] = files.rows.get(EDGES.name, 0)
        return bool(files.placed)

    try:
        if any(each.rows for each in told):
            store.apply(change, ready)
    finally:
        gathered.unpersist()
    compact(context, [place_of(store, spec) for spec in FACT_TABLES if spec.name in change.written], full=False)
    return told


def _gather(
    read: Callable[[str, P], tuple[Facts, Told]], source: str, width: int, numbered: tuple[int, P]
) -> tuple[Told, list[tuple[int, tuple[int, bytes]]]]:
    """Return what one part says, cut by keys for the tasks that merge."""
    number, part = numbered
    facts, told = read(source, part)
    cut: list[dict[str, dict[Any, Any]]] = [{} for _ in range(width)]
    for name, rows in facts.rows.items():
        if rows:
            told.rows[name] = len(rows)
        for key, row in rows.items():
            cut[crc32(key[0].encode()) % width].setdefault(name, {})[key] = row
    return told, [(to, (number, _pickle.dumps(rows))) for to, rows in enumerate(cut) if rows]


def _merge(
    plans: Mapping[str, WritePlan], arrived: Iterable[tuple[int, tuple[int, bytes]]]
) -> Iterator[WrittenFiles]:
    """Merge what parts say of some keys, in their order, with what the graph has, and write what is new to files."""
    facts = Facts()
    for _, data in sorted(blob for _, blob in arrived):
        fold(facts, Facts(Facts().rows | _pickle.loads(data)))
    if len(facts):
        reconcile(GraphStore(next(iter(plans.values())).at.place.warehouse), facts)
        rows = {spec.name: facts_to_arrow(facts, spec) for spec in FACT_TABLES}
        yield write_files(plans, {name: table for name, table in rows.items() if len(table)})
