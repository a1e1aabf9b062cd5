"""`headwater lake`: tables, and below them a tree: looking into it, checking, mending, trying its durability."""

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headwater.cli import lake_paimon, lake_tables, lake_time
from headwater.cli.options import Flags, SubGroup, command, global_options
from headwater.cli.render import print_json, print_table
from headwater.cli.terminal import say
from headwater.errors import InputError
from headwater.text import counted

if TYPE_CHECKING:
    from headwater.files import Files
    from headwater.lake.tables.store import TableStore


@click.group("lake", cls=SubGroup, params=global_options())
def lake() -> None:
    """Work with lake tables: make, load, read, travel in time, and look into their storage."""


def _target(flags: Flags, name: str) -> "TableStore | Files":
    """A table by its name, or the table or tree in a folder, as it is on disk."""
    from headwater.lake.tools.fsck import open_folder

    if Path(name).exists() or "/" in name:
        return open_folder(name)
    return lake_tables.open_table(flags, name).store


@command("levels", examples=("headwater lake levels sales.orders", "headwater lake levels sales.orders --json"))
@click.argument("target", metavar="TABLE|FOLDER")
@click.pass_obj
def levels(flags: Flags, target: str) -> None:
    """Show the levels of a table or a tree, and what reading it costs."""
    from headwater.lake import LSMTree
    from headwater.lake.tables import Table
    from headwater.lake.tables.store import TableStore
    from headwater.lake.tools.repair import schema_in

    found = _target(flags, target)
    if isinstance(found, TableStore):
        lake_tables.say_levels(flags, Table(found))
        return
    with LSMTree(found, schema_in(found), read_only=True) as tree:
        stats = tree.stats
        if flags.json:
            print_json(stats)
            return
        headers = ("level", "runs", "files", "rows", "deletes", "size")
        rows = [
            (s.level, s.runs, s.files, f"{s.rows:,}", f"{s.deletes:,}", lake_tables.size_text(s.bytes))
            for s in stats.levels
        ]
        print_table(headers, rows)
        say(
            f"in memory: {counted(stats.memory_rows, 'row')}\n"
            f"amplification: write {stats.write_amplification:.2f}, read {stats.read_amplification} runs, "
            f"space {stats.space_amplification:.2f}"
        )


@command(
    "sst-dump",
    examples=("headwater lake sst-dump sales.orders", "headwater lake sst-dump sales.orders --rows --json"),
)
@click.argument("target", metavar="TABLE|FOLDER|FILE")
@click.option("--rows", is_flag=True, help="Print the rows too, one JSON object to a line.")
@click.pass_obj
def sst_dump(flags: Flags, target: str, rows: bool) -> None:
    """Show what SSTables hold: header, meta, blocks, Bloom filter, and with --rows their rows.

    Of a table or a tree, those of the newest snapshot or version; a FILE by itself.
    """
    from headwater.files import LocalFiles
    from headwater.lake.tools.dump import describe_table, dump_rows, live_tables

    file = Path(target)
    if target.endswith(".sst") and not file.is_file():
        raise InputError(f"there is no file {file}")
    files, found = (
        (LocalFiles(file.parent), [(file.name, file.stat().st_size)])
        if file.is_file()
        else live_tables(_target(flags, target))
    )
    if rows:
        for path, size in found:
            for row in dump_rows(files, path, size):
                sys.stdout.write(row + "\n")
        return
    facts = [describe_table(files, path, size) for path, size in found]
    if flags.json:
        print_json(facts[0] if file.is_file() else facts)
        return
    for each in facts:
        _say_sstable(each)


def _say_sstable(facts: dict[str, Any]) -> None:
    blocks = facts.pop("blocks")
    for name, value in facts.items():
        say(f"{name:<14}{value}")
    print_table(tuple(blocks[0]) if blocks else (), [tuple(block.values()) for block in blocks])


@command("verify", examples=("headwater lake verify sales.orders", "headwater lake verify sales.orders --json"))
@click.argument("target", metavar="TABLE|FOLDER")
@click.pass_obj
def verify(flags: Flags, target: str) -> int:
    """Read and check all of a table or a tree, every snapshot of it. Exit code 1 when something is damaged."""
    from headwater.lake.tools import fsck

    report = fsck.verify(_target(flags, target))
    _print_report(flags, dataclasses.asdict(report))
    return 0 if report.sound else 1


@command("fsck", examples=("headwater lake fsck sales.orders", "headwater lake fsck sales.orders --repair"))
@click.argument("target", metavar="TABLE|FOLDER")
@click.option("--repair", "mend", is_flag=True, help="Mend what is damaged, then check.")
@click.pass_obj
def fsck(flags: Flags, target: str, mend: bool) -> int:
    """Check a table or a tree, and with --repair mend it first. Exit code 1 when something is damaged still."""
    from headwater.lake.tools import fsck

    done = fsck.mend(_target(flags, target)) if mend else []
    report = fsck.verify(_target(flags, target))
    findings = {"problems": report.problems, "torn_logs": report.torn_logs, "orphans": report.orphans}
    _print_report(flags, findings | {"repaired": done})
    return 0 if report.sound else 1


@command("repair", examples=("headwater lake repair sales.orders",))
@click.argument("target", metavar="TABLE|FOLDER")
@click.pass_obj
def repair(flags: Flags, target: str) -> None:
    """Make a damaged table or tree readable again: whole records and blocks are kept, the rest is set aside."""
    from headwater.lake.tools import fsck

    _print_report(flags, {"repaired": fsck.mend(_target(flags, target))})


@command(
    "torture",
    examples=("headwater lake torture scratch.torture --rounds 200", "headwater lake torture /mnt/disk/scratch"),
)
@click.argument("target", metavar="TABLE|FOLDER")
@click.option("--rounds", default=20, show_default=True, help="How many times to write, kill and compare.")
@click.option("--seed", default=0, show_default=True, help="Where the chance begins.")
@click.pass_obj
def torture(flags: Flags, target: str, rounds: int, seed: int) -> int:
    """Prove durability on this disk: kill a writing process with -9 and look for what it was promised.

    Writes to a new table of the warehouse, or to a tree in a new folder. Exit code 1 when an acknowledged write is
    gone.
    """
    from headwater.lake.tools.torture import Victim
    from headwater.lake.tools.torture import torture as run

    if "/" in target or "." not in target:
        if Path(target).exists() and any(Path(target).iterdir()):
            raise InputError(f"{target} is not empty", hint="name a new folder: the test fills it")
        victim = Victim(target)
    else:
        if lake_tables.open_warehouse(flags).has_table(target):
            raise InputError(f"there is a table {target} already", hint="name a new table: the test fills it")
        victim = Victim(flags.settings.warehouse, target)
    report = run(victim, rounds=rounds, seed=seed, progress=_progress(rounds) if flags.show_progress else None)
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
            say(f"{name}: {len(value)}")
            for item in value:
                say(f"  {item}")
        else:
            say(f"{name}: {value:,}" if isinstance(value, int) else f"{name}: {value}")


_STORAGE = (levels, sst_dump, verify, fsck, repair, torture)
for each in (*_STORAGE, *lake_tables.COMMANDS, *lake_time.COMMANDS, *lake_paimon.COMMANDS):
    lake.add_command(each)
