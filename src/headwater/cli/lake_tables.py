"""`headwater lake create | load | read | schema | files | snapshots | tables`: tables and what is in them."""

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.on_spark import pairs, place_of, pop_spark, session, spark_options
from headwater.cli.options import Flags, command
from headwater.cli.progress import progress_over
from headwater.cli.render import print_json, print_table
from headwater.cli.terminal import say
from headwater.errors import UsageError
from headwater.text import counted

if TYPE_CHECKING:
    from headwater.lake.metadata.snapshot import Snapshot
    from headwater.lake.tables import Table, Warehouse

as_of = click.option(
    "--as-of", "at", metavar="MOMENT", help="A snapshot id, tag, `@-1`, date, time, or `2 hours ago`."
)


def open_warehouse(flags: Flags) -> "Warehouse":
    """The warehouse of the settings."""
    from headwater.lake.tables import Warehouse

    return Warehouse(flags.settings.warehouse)


def open_table(flags: Flags, name: str) -> "Table":
    """A table of the warehouse. RAISES: NotFoundError with the nearest name."""
    return open_warehouse(flags).table(name)


def time_text(millis: int) -> str:
    return f"{datetime.datetime.fromtimestamp(millis / 1000, datetime.UTC):%F %T}"


def size_text(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.1f} KB"


@command(
    "create",
    examples=(
        "headwater lake create sales.orders id:BIGINT 'amount:DECIMAL(10,2)' --key id",
        "headwater lake create sales.events day:DATE what:STRING --partition-by day",
    ),
)
@click.argument("table")
@click.argument("columns", nargs=-1, required=True, metavar="NAME:TYPE...")
@click.option("--key", multiple=True, metavar="COLUMN", help="A column of the primary key; several make one key.")
@click.option("--partition-by", multiple=True, metavar="COLUMN", help="A column to partition by.")
@click.option("-o", "--option", "options", multiple=True, metavar="NAME=VALUE", help="An option, e.g. bucket=4.")
@click.option("--comment", help="What the table is for.")
@click.option("--if-not-exists", is_flag=True, help="It is no error if the table is there.")
@click.pass_obj
def create(flags: Flags, /, table: str, columns: tuple[str, ...], **how: Any) -> None:
    """Make a table: with a key rows are upserted, without one appended. The database is made with it."""
    from headwater.lake.tables.names import parse_name

    warehouse = open_warehouse(flags)
    warehouse.create_database(parse_name(table).database, if_not_exists=True)
    made = warehouse.create_table(
        table,
        _pairs(columns, ":", "NAME:TYPE"),
        primary_key=how["key"],
        partition_by=how["partition_by"],
        options=_pairs(how["options"], "=", "NAME=VALUE"),
        comment=how["comment"],
        if_not_exists=how["if_not_exists"],
    )
    _say_schema(flags, made)


@command(
    "load",
    examples=(
        "headwater lake load sales.orders new/*.parquet",
        "headwater lake load sales.orders orders.csv --create --key id --overwrite",
        "headwater lake load sales.orders s3a://new/orders.orc --id 2026-11-15 --master yarn",
        "headwater lake load sales.orders --format jdbc -o url=jdbc:… -o dbtable=orders --master 'local[4]'",
    ),
)
@click.argument("table")
@click.argument("files", nargs=-1)
@click.option("--create", "make", is_flag=True, help="Make the table from the first file, if it is not there.")
@click.option("--key", multiple=True, metavar="COLUMN", help="With --create: a column of the primary key.")
@click.option("--overwrite", is_flag=True, help="Replace what the table holds.")
@click.option("--id", metavar="NAME", help="Names the load: run again, it does not bring its rows twice.")
@click.option("--format", help="On Spark: parquet, csv, json, orc, avro, text or jdbc. Default: by the ending.")
@click.option("-o", "--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of Spark's format.")
@spark_options
@click.pass_obj
def load(flags: Flags, /, table: str, files: tuple[str, ...], **how: Any) -> None:
    """Load Parquet, CSV, JSON lines or Arrow files into a table, all in one commit.

    On a Spark, its tasks read and write, and everything that Spark reads can be loaded.
    """
    master, conf = pop_spark(how)
    if master is None:
        if not files or how["format"] or how["options"]:
            raise UsageError("without a --master, files are read by their endings", hint="--master 'local[*]'")
        snapshot = _load_here(flags, table, files, how)
    else:
        from headwater.jobs.exchange import Outside, import_rows

        source = Outside(files, how["format"], pairs("--option", how["options"]))
        named = {"create": how["make"], "primary_key": how["key"], "id": how["id"], "overwrite": how["overwrite"]}
        with session(master, conf) as spark:
            snapshot = import_rows(spark, place_of(flags, table), source, **named)
    summary = snapshot.summary
    if flags.json:
        print_json({"snapshot": snapshot.snapshot_id, "rows": summary.added_records, "files": summary.added_files})
    else:
        say(f"{counted(summary.added_records, 'row')} in snapshot {snapshot.snapshot_id}")


def _load_here(flags: Flags, table: str, files: tuple[str, ...], how: dict[str, Any]) -> "Snapshot":
    from headwater.lake.tables.exchange import file_schema, read_file
    from headwater.lake.tables.names import parse_name

    warehouse = open_warehouse(flags)
    if how["make"] and not warehouse.has_table(table):
        warehouse.create_database(parse_name(table).database, if_not_exists=True)
        warehouse.create_table(table, file_schema(files[0]), primary_key=how["key"])
    target = warehouse.table(table)
    with progress_over(files, "loading", flags) as step:

        def batches() -> Any:
            for file in files:
                step(Path(file).name)
                yield from read_file(file, target.arrow_schema)

        write = target.overwrite if how["overwrite"] else target.write
        return write(batches(), commit_user="load", commit_id=how["id"])


@command(
    "read",
    examples=(
        "headwater lake read sales.orders --where 'amount > 100' --limit 5",
        "headwater lake read sales.orders --as-of '2 hours ago' -c id -c amount --output old.parquet",
    ),
)
@click.argument("table")
@click.option("-c", "--column", "columns", multiple=True, metavar="COLUMN", help="A column to show; all by default.")
@click.option("--where", multiple=True, metavar="CONDITION", help="`amount > 5`, `name = Ada`, `note is null` …")
@click.option("--limit", type=int, help="At most so many rows. Default: 100, or all with --output and --json.")
@click.option("--output", type=click.Path(path_type=Path), help="Write the rows to a .parquet, .csv, .jsonl file.")
@click.option("--explain", is_flag=True, help="Show what would be read and what is left out.")
@as_of
@click.pass_obj
def read(flags: Flags, /, table: str, at: str | None, limit: int | None, **how: Any) -> None:
    """Show rows of a table, as it is or as it was."""
    from headwater.cli.where import parse_where
    from headwater.lake.engine.row import python_rows
    from headwater.lake.tables.exchange import write_file
    from headwater.lake.tables.read import result_schema

    source = open_table(flags, table)
    columns, where = list(how["columns"]) or None, parse_where(how["where"])
    if how["explain"]:
        _say_plan(flags, source.plan_scan(columns, where=where, at=at))
        return
    limit = limit if limit is not None or how["output"] or flags.json else 100
    batches = source.scan(columns, where=where, limit=limit, at=at)
    if how["output"]:
        plan = source.plan_scan(columns, where=where, at=at)
        schema = result_schema(source.store.shape(plan.schema_id), plan.columns)
        rows = write_file(how["output"], batches, schema)
        say(f"{counted(rows, 'row')} in {how['output']}")
        return
    found = [row for batch in batches for row in python_rows(batch)]
    if flags.json:
        print_json(found)
    else:
        names = list(found[0]) if found else columns or list(source.schema.names)
        print_table(names, [["" if row[name] is None else row[name] for name in names] for row in found])


@command("tables", examples=("headwater lake tables", "headwater lake tables sales", "headwater lake tables --json"))
@click.argument("database", required=False)
@click.option("--all", "own", is_flag=True, help="Also those that lineage and refreshes are kept in.")
@click.pass_obj
def tables(flags: Flags, database: str | None, own: bool) -> None:
    """List the tables of the warehouse, or of a database."""
    warehouse = open_warehouse(flags)
    databases = warehouse.list_databases(own=own) if database is None else [database]
    names = [f"{each}.{name}" for each in databases for name in warehouse.list_tables(each)]
    found = [(name, warehouse.table(name).snapshot()) for name in names]
    if flags.json:
        print_json([{"table": name, "snapshot": each and each.snapshot_id} for name, each in found])
        return
    if not names:
        say(f"there are no tables in {database or warehouse.url}", err=True)
        return
    print_table(
        ("table", "snapshot", "files", "size", "changed"),
        [
            (
                name,
                each.snapshot_id,
                each.summary.total_files,
                size_text(each.summary.total_size),
                time_text(each.timestamp),
            )
            if each
            else (name, None, 0, "", "")
            for name, each in found
        ],
    )


@command("schema", examples=("headwater lake schema sales.orders", "headwater lake schema sales.orders --as-of @-3"))
@click.argument("table")
@as_of
@click.pass_obj
def schema(flags: Flags, table: str, at: str | None) -> None:
    """Show the columns of a table, now or as they were."""
    _say_schema(flags, open_table(flags, table), at)


@command("snapshots", examples=("headwater lake snapshots sales.orders",))
@click.argument("table")
@click.pass_obj
def snapshots(flags: Flags, table: str) -> None:
    """Show the snapshots of a table that are kept, and its tags."""
    source = open_table(flags, table)
    tags = source.tags()
    if flags.json:
        print_json({"snapshots": source.snapshots(), "tags": {name: each.snapshot_id for name, each in tags.items()}})
        return
    rows = []
    for each in source.snapshots():
        names = ", ".join(name for name, tagged in tags.items() if tagged.snapshot_id == each.snapshot_id)
        added = f"{each.summary.added_records:,}"
        rows.append((each.snapshot_id, time_text(each.timestamp), each.operation.value, added, each.schema_id, names))
    print_table(("snapshot", "time (UTC)", "operation", "rows written", "schema", "tags"), rows)


@command("files", examples=("headwater lake files sales.orders", "headwater lake files sales.orders --as-of v1"))
@click.argument("table")
@as_of
@click.pass_obj
def files(flags: Flags, table: str, at: str | None) -> None:
    """Show the data files of a table: level, rows, size, partition and bucket."""
    source = open_table(flags, table)
    entries = source.store.live(source.snapshot(at))
    if flags.json:
        print_json([_file_facts(entry) for entry in entries])
        return
    print_table(
        ("level", "rows", "deletes", "size", "schema", "file"),
        [
            (f.level, f"{f.rows:,}", f"{f.deletes:,}", size_text(f.size), f.schema_id, f.name)
            for f in (entry.file for entry in entries)
        ],
    )


def say_levels(flags: Flags, table: "Table") -> None:
    """Print how a table stands, by level."""
    stats = table.stats()
    if flags.json:
        print_json(stats)
        return
    rows = [(s.level, s.files, f"{s.rows:,}", f"{s.deletes:,}", size_text(s.bytes)) for s in stats.levels]
    print_table(("level", "files", "rows", "deletes", "size"), rows)
    parts, buckets = counted(stats.partitions, "partition"), counted(stats.buckets, "bucket")
    say(f"{parts}, {buckets}, at most {counted(stats.most_runs, 'sorted run')} in one")


def _file_facts(entry: Any) -> dict[str, Any]:
    file = entry.file
    return {
        "name": file.name,
        "partition": list(entry.partition),
        "bucket": entry.bucket,
        "level": file.level,
        "rows": file.rows,
        "deletes": file.deletes,
        "size": file.size,
        "schema": file.schema_id,
    }


def _say_plan(flags: Flags, plan: Any) -> None:
    facts = {
        "snapshot": plan.snapshot_id,
        "splits": len(plan.splits),
        "files": plan.files,
        "of_files": plan.total_files,
        "bytes": plan.bytes,
        "of_bytes": plan.total_bytes,
        "pruned_by_partition": plan.pruned_by_partition,
        "pruned_by_bucket": plan.pruned_by_bucket,
        "pruned_by_key": plan.pruned_by_key,
        "pruned_by_stats": plan.pruned_by_stats,
        "where": [str(each) for each in plan.where],
    }
    if flags.json:
        print_json(facts)
        return
    for name, value in facts.items():
        say(f"{name:<20}{value:,}" if isinstance(value, int) else f"{name:<20}{' AND '.join(value)}")


def _say_schema(flags: Flags, table: "Table", at: str | None = None) -> None:
    snapshot = table.snapshot(at) if at is not None else None
    schema = table.store.schemas.get_schema(snapshot.schema_id) if snapshot else table.schema
    columns = [
        {
            "id": field.id,
            "name": field.name,
            "type": str(field.type),
            "nullable": field.nullable,
            "default": field.default,
            "description": field.description,
        }
        for field in schema.fields
    ]
    keys = {"primary_key": schema.primary_keys, "partition_by": schema.partition_keys, "options": schema.options}
    if flags.json:
        print_json({"table": str(table.name), "schema": schema.id, "columns": columns, **keys})
        return
    print_table(
        ("column", "type", "null", "key", "description"),
        [
            (
                field.name,
                field.type,
                "" if field.nullable else "NOT NULL",
                "key" if field.name in schema.primary_keys else "",
                field.description or "",
            )
            for field in schema.fields
        ],
    )


def _pairs(texts: tuple[str, ...], separator: str, form: str) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, found, value = text.partition(separator)
        if not found or not name.strip():
            raise UsageError(f"`{text}` is not of the form {form}")
        pairs[name.strip()] = value.strip()
    return pairs


COMMANDS = (create, load, read, tables, schema, snapshots, files)
