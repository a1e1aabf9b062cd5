"""`headwater lake`: tables, and below them a tree: looking into it, checking, mending, trying its durability."""

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headwater.cli import lake_paimon, lake_tables, lake_time
from headwater.cli.options import Flags, command, global_options, split_options
from headwater.cli.render import print_json, print_table
from headwater.errors import InputError

if TYPE_CHECKING:
    from headwater.lake import LSMTree


class LakeGroup(click.Group):
    """The group, with the global options last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        split_options(self, ctx, formatter)
        self.format_commands(ctx, formatter)


@click.group("lake", cls=LakeGroup, params=global_options())
def lake() -> None:
    """Work with lake tables: make, load, read, travel in time, and look into their storage."""


def _open(folder: str) -> "LSMTree":
    from headwater.files import open_files
    from headwater.lake import LSMTree
    from headwater.lake.repair import schema_in

    files = open_files(folder)
    return LSMTree(files, schema_in(files), read_only=True)


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.1f} KB"


@command("levels", examples=("headwater lake levels sales.orders", "headwater lake levels PATH --json"))
@click.argument("folder")
@click.pass_obj
def levels(flags: Flags, folder: str) -> None:
    """Show the levels of a table by its name, or of a tree by its folder, and what reading it costs."""
    if not Path(folder).exists() and "/" not in folder:
        lake_tables.say_levels(flags, folder)
        return
    with _open(folder) as tree:
        stats = tree.stats
        if flags.json:
            print_json(stats)
            return
        headers = ("level", "runs", "files", "rows", "deletes", "size")
        rows = [(s.level, s.runs, s.files, f"{s.rows:,}", f"{s.deletes:,}", _size(s.bytes)) for s in stats.levels]
        print_table(headers, rows)
        click.echo(
            f"in memory: {stats.memory_rows:,} rows\n"
            f"amplification: write {stats.write_amplification:.2f}, read {stats.read_amplification} runs, "
            f"space {stats.space_amplification:.2f}"
        )


@command(
    "sst-dump", examples=("headwater lake sst-dump data/0-00001-a1b2c3d4.sst", "headwater lake sst-dump FILE --rows")
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--rows", is_flag=True, help="Print the rows too, one JSON object to a line.")
@click.pass_obj
def sst_dump(flags: Flags, file: Path, rows: bool) -> None:
    """Show what an SSTable holds: header, meta, blocks, Bloom filter, and with --rows its rows."""
    from headwater.files import LocalFiles
    from headwater.lake.dump import describe_table, dump_rows

    if not file.is_file():
        raise InputError(f"there is no file {file}")
    files = LocalFiles(file.parent)
    if rows:
        for row in dump_rows(files, file.name, file.stat().st_size):
            sys.stdout.write(row + "\n")
        return
    facts = describe_table(files, file.name, file.stat().st_size)
    if flags.json:
        print_json(facts)
        return
    blocks = facts.pop("blocks")
    for name, value in facts.items():
        click.echo(f"{name:<14}{value}")
    print_table(tuple(blocks[0]) if blocks else (), [tuple(block.values()) for block in blocks])


@command("verify", examples=("headwater lake verify warehouse/db/orders",))
@click.argument("folder")
@click.pass_obj
def verify(flags: Flags, folder: str) -> int:
    """Read every block of every live file and check it. Exit code 1 when something is damaged."""
    from headwater.lake.verify import verify_tree

    with _open(folder) as tree:
        report = verify_tree(tree)
    _print_report(flags, dataclasses.asdict(report))
    return 0 if report.sound else 1


@command("fsck", examples=("headwater lake fsck PATH", "headwater lake fsck PATH --repair"))
@click.argument("folder")
@click.option("--repair", "mend", is_flag=True, help="Mend what is damaged and remove what belongs to nothing.")
@click.pass_obj
def fsck(flags: Flags, folder: str, mend: bool) -> int:
    """Check a tree, its logs and its leftovers. Exit code 1 when something is damaged and was not mended."""
    from headwater.lake.fsck import check_folder

    findings = check_folder(folder, mend=mend)
    _print_report(flags, findings)
    return 1 if findings["problems"] and not mend else 0


@command("repair", examples=("headwater lake repair warehouse/db/orders",))
@click.argument("folder")
@click.pass_obj
def repair(flags: Flags, folder: str) -> None:
    """Make a damaged tree readable again: whole records and blocks are kept, the rest is set aside."""
    from headwater.lake.fsck import check_folder

    findings = check_folder(folder, mend=True)
    _print_report(flags, {"repaired": findings["repaired"]})


@command("torture", examples=("headwater lake torture /mnt/disk/scratch --rounds 200",))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--rounds", default=20, show_default=True, help="How many times to write, kill and compare.")
@click.option("--seed", default=0, show_default=True, help="Where the chance begins.")
@click.pass_obj
def torture(flags: Flags, folder: Path, rounds: int, seed: int) -> int:
    """Prove durability on this disk: kill a writing process with -9 and look for what it was promised.

    Exit code 1 when an acknowledged write is gone.
    """
    from headwater.lake.torture import torture as run

    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty", hint="name a new folder: the test fills it")
    report = run(folder, rounds=rounds, seed=seed, progress=_progress(rounds) if flags.show_progress else None)
    _print_report(flags, dataclasses.asdict(report))
    return 1 if report.problems else 0


def _progress(rounds: int) -> Any:
    def show(done: int) -> None:
        sys.stderr.write(f"\rround {done} of {rounds}" + ("\n" if done == rounds else ""))
        sys.stderr.flush()

    return show


def _print_report(flags: Flags, report: dict[str, Any]) -> None:
    if flags.json:
        print_json(report)
        return
    for name, value in report.items():
        if isinstance(value, list):
            click.echo(f"{name}: {len(value)}")
            for item in value:
                click.echo(f"  {item}")
        else:
            click.echo(f"{name}: {value:,}" if isinstance(value, int) else f"{name}: {value}")


_STORAGE = (levels, sst_dump, verify, fsck, repair, torture)
for each in (*_STORAGE, *lake_tables.COMMANDS, *lake_time.COMMANDS, *lake_paimon.COMMANDS):
    lake.add_command(each)
