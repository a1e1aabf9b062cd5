"""`headwater lake publish | import`: tables to and from Apache Paimon."""

import dataclasses

import click

from headwater.cli.lake_tables import open_table, open_warehouse
from headwater.cli.options import Flags, command
from headwater.cli.render import print_json
from headwater.cli.terminal import say
from headwater.text import counted


@command(
    "publish",
    examples=(
        "headwater lake publish sales.orders /data/paimon",
        "headwater lake publish sales.orders s3://bucket/paimon --whole",
    ),
)
@click.argument("table")
@click.argument("location", metavar="PAIMON_WAREHOUSE")
@click.option("--name", metavar="DATABASE.TABLE", help="What it is called there. Default: the same.")
@click.option("--buckets", type=click.IntRange(1), help="How many buckets it gets the first time.")
@click.option("--whole", is_flag=True, help="Write everything anew, not only what changed.")
@click.pass_obj
def publish(flags: Flags, table: str, location: str, name: str | None, buckets: int | None, whole: bool) -> None:
    """Publish a table as an Apache Paimon table, which Flink, Spark and Trino read; again, to bring it up to date."""
    from headwater.lake.paimon import publish as publish_table

    done = publish_table(open_table(flags, table), location, name=name, buckets=buckets, whole=whole)
    if flags.json:
        print_json(dataclasses.asdict(done))
    elif done.files or done.whole:
        what = "rows" if done.whole else "changed rows"
        say(f"{done.rows:,} {what} in snapshot {done.snapshot_id} of {location.rstrip('/')}/{done.path}")
    else:
        say(f"{location.rstrip('/')}/{done.path} is up to date (snapshot {done.snapshot_id})")


@command(
    "import",
    examples=(
        "headwater lake import /data/paimon/sales.db/orders sales.orders",
        "headwater lake import s3://bucket/paimon/sales.db/orders sales.orders --overwrite",
    ),
)
@click.argument("folder", metavar="PAIMON_TABLE")
@click.argument("table")
@click.option("--snapshot", type=int, help="The Paimon snapshot to import. Default: the latest.")
@click.option("--tag", help="The Paimon tag to import.")
@click.option("--overwrite", is_flag=True, help="Replace what the table holds.")
@click.pass_obj
def import_(flags: Flags, folder: str, table: str, snapshot: int | None, tag: str | None, overwrite: bool) -> None:
    """Make a lake table from an Apache Paimon table, named by its folder, in one commit."""
    from headwater.lake.paimon import import_paimon

    made = import_paimon(open_warehouse(flags), folder, table, snapshot=snapshot, tag=tag, overwrite=overwrite)
    if flags.json:
        print_json({"snapshot": made.snapshot_id, "rows": made.summary.added_records})
    else:
        say(f"{counted(made.summary.added_records, 'row')} in snapshot {made.snapshot_id} of {table}")


COMMANDS = (publish, import_)
