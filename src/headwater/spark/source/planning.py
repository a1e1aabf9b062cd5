"""From the options of a write to its plan; made once, on the driver, before any task runs."""

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import replace

import msgspec
from pyspark.sql.types import StructType

from headwater.errors import NotFoundError, UsageError
from headwater.lake.metadata.commit import PlacedFile
from headwater.lake.metadata.manifest import Partition
from headwater.lake.metadata.snapshot import Operation
from headwater.lake.tables import Table
from headwater.lake.tables.changelog import KIND
from headwater.lake.tables.names import parse_name
from headwater.lake.tables.partitions import stored_value
from headwater.lake.tables.shape import UNDECIDED
from headwater.lake.tables.store import TableStore
from headwater.lake.tables.writes import decide_buckets
from headwater.spark.source.commits import DYNAMIC, Replaced, WritePlan
from headwater.spark.source.filters import decode_filters
from headwater.spark.source.options import Options, TablePlace, stored_at
from headwater.spark.source.types import lake_schema

USER = "spark"
ALL = "all"
EDITS = "edits"
_OVERWRITES = (ALL, DYNAMIC)


def plan_write(options: Options, schema: StructType, *, overwrite: bool = False) -> WritePlan:
    """Return what a write of rows of `schema` is to become.

    RAISES: NotFoundError when there is no table and none is to be made, UsageError, SchemaError.
    """
    planned = options.text("plan")  # by the catalog, which makes the commit too
    if planned is not None:
        return msgspec.json.decode(planned, type=WritePlan)
    place = options.place()
    table = _open_or_create(place, options, schema)
    shape = table.store.shape()
    if shape.buckets == UNDECIDED:
        shape = decide_buckets(table.store, options.number("expected-rows", 0))
    id = options.text("commit-id")
    replaced = _replaced(table, options, overwrite)
    base = options.number("base", 0) if options.text("base") is not None else None
    return WritePlan(
        at=stored_at(place, table),
        schema_id=shape.schema.id,
        user=options.text("commit-user") or USER,
        id=id or uuid.uuid4().hex,
        operation=_operation(options, replaced),
        replaced=replaced,
        removed=tuple(_read_files(table, options, base)) if options.flag("group") else (),
        base=base,
        origin=options.origin(),
        replayed=id is not None,
    )


def plan_stream_write(options: Options, schema: StructType, *, overwrite: bool = False) -> WritePlan:
    """Return what each batch of a stream is to become; its commits are named by the stream and numbered by the
    batch."""
    plan = plan_write(options, schema, overwrite=overwrite)
    return replace(plan, user=options.text("commit-user") or _stream_user(options))


def _stream_user(options: Options) -> str:
    """A name that a stream keeps when it is started again: what it is known by is its checkpoint."""
    checkpoint = options.text("checkpointlocation")
    known = hashlib.sha256(checkpoint.encode()).hexdigest()[:16] if checkpoint else uuid.uuid4().hex
    return f"stream-{known}"


def wants_edits(options: Options) -> bool:
    """Return whether deletes come before rows. RAISES: UsageError for other values of `kinds`."""
    kinds = options.text("kinds") or "changelog"
    if kinds not in (EDITS, "changelog"):
        raise UsageError(f"option `kinds` cannot be `{kinds}`", hint="changelog or edits")
    return kinds == EDITS


def _open_or_create(place: TablePlace, options: Options, schema: StructType) -> Table:
    warehouse, name = place.open_warehouse(), place.table
    folder = options.text("folder")
    if folder is not None:  # a table that has no name yet
        return Table(TableStore(parse_name(name), warehouse.files, folder))
    try:
        return warehouse.table(name)
    except NotFoundError as err:
        keys = options.names("primary-key")
        if not keys and not options.flag("create"):
            hint = 'set the option `create` to "true" to make it' + (f"; {err.hint}" if err.hint else "")
            raise NotFoundError(err.message, hint=hint) from err
    warehouse.create_database(name.split(".")[0], if_not_exists=True)
    columns = StructType([field for field in schema.fields if field.name != KIND])
    return warehouse.create_table(
        name,
        lake_schema(columns),
        primary_key=options.names("primary-key"),
        partition_by=options.names("partition-by"),
        if_not_exists=True,
    )


def _operation(options: Options, replaced: Replaced) -> Operation:
    text = options.text("operation")
    if text is None:
        return Operation.INSERT if replaced is None else Operation.OVERWRITE
    try:
        return Operation(text.upper())
    except ValueError as err:
        raise UsageError(f"`{text}` is not an operation of a commit") from err


def _replaced(table: Table, options: Options, overwrite: bool) -> Replaced:
    """Return what the write takes the place of: `overwrite = all | dynamic | [{"region": "eu"}, …]`, or nothing."""
    text = options.text("overwrite")
    if text is None:
        return ALL if overwrite else None
    if text in _OVERWRITES:
        if text == DYNAMIC and not table.schema.partition_keys:
            return ALL  # as Spark has it: all rows of a table without partitions are in one
        return text
    try:
        listed = msgspec.json.decode(text, type=list[dict[str, str | int | bool | None]])
    except msgspec.DecodeError as err:
        raise UsageError(
            f"option `overwrite` cannot be `{text}`", hint="all, dynamic, or a list of partitions"
        ) from err
    return frozenset(_matching_partitions(table, listed))


def _matching_partitions(table: Table, listed: Sequence[dict[str, str | int | bool | None]]) -> list[Partition]:
    """The partitions that agree with one of some partial descriptions: those there are, and a whole one by itself."""
    fields = table.store.shape().partition_fields
    names = [field.name for field in fields]
    for each in listed:
        unknown = [name for name in each if name not in names]
        if unknown:
            raise UsageError(f"`{unknown[0]}` is not a partition column of {table.name}")
    found = [
        partition
        for partition, _ in table.store.latest().places
        if any(all(partition[names.index(name)] == value for name, value in each.items()) for each in listed)
    ]
    found += [tuple(stored_value(each[name]) for name in names) for each in listed if len(each) == len(names)]
    return found


def _read_files(table: Table, options: Options, base: int | None) -> list[PlacedFile]:
    """The files that a statement has read whole and writes again: those that its filters left at its snapshot."""
    if not base:
        return []
    where = decode_filters(options.text("filters"), table.store.shape().schema)
    plan = table.plan_scan((), where=where, at=base)
    return [PlacedFile(file, split.bucket, split.partition) for split in plan.splits for file in split.files]
