"""`headwater pull`: schema, definitions and query history of a database, into files and into the graph."""

import contextlib
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.harvest import harvest_estate, summary_fields
from headwater.cli.inputs import say_warning
from headwater.cli.options import Flags, command
from headwater.cli.progress import progress_over
from headwater.cli.render import print_json
from headwater.cli.terminal import say
from headwater.text import counted

if TYPE_CHECKING:
    from headwater.pull.address import Address
    from headwater.pull.catalog import DatabaseCatalog, Selection
    from headwater.pull.folder import PullChanges

_STEPS = ("columns", "keys", "definitions", "history")
_MOST_SHOWN = 20


@command(
    "pull",
    examples=(
        "headwater pull postgresql://me@db.example/shop",
        "headwater pull mysql://me@db.example/shop --only shop --no-history",
        "headwater pull shop.duckdb --into pulled/shop --dry-run",
    ),
)
@click.argument("url", metavar="URL|FILE")
@click.option("--into", metavar="FOLDER", type=click.Path(path_type=Path), help="Default: pulled/NAME.")
@click.option("--only", metavar="PATTERN", multiple=True, help="Schemas or tables to read: sales, sales.*")
@click.option("--exclude", metavar="PATTERN", multiple=True, help="Schemas or tables to leave out.")
@click.option("--no-history", is_flag=True, help="Leave the query history where it is.")
@click.option("--no-harvest", is_flag=True, help="Write the files only; the graph stays as it is.")
@click.option("--dry-run", is_flag=True, help="Show what has changed, and write nothing.")
@click.pass_obj
def pull(flags: Flags, /, url: str, into: Path | None, **options: Any) -> None:
    """Bring the schema, the definitions and the query history of a database into the graph.

    The database is PostgreSQL, MySQL, MariaDB, DuckDB, SQLite or a Spark catalog. Everything is read, nothing is
    changed there. What it says is written to a folder of files, which are then harvested. The next pull writes and
    analyses only what has changed, and tells what is gone.
    """
    from headwater.pull.address import parse_address
    from headwater.pull.catalog import Selection
    from headwater.pull.folder import PullFolder

    address = parse_address(url)
    folder = PullFolder(into or Path("pulled") / address.name, address.text)
    wanted = Selection(options["only"], options["exclude"], not options["no_history"])
    catalog = _read(flags, address, wanted)
    changes = folder.update(catalog, dry_run=options["dry_run"])
    for note in catalog.notes:
        say_warning(note)
    kinds = [each.kind for each in catalog.definitions]
    said = {
        "address": address.text,
        "folder": str(folder.path),
        "tables": len(catalog.tables),
        "definitions": {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)},
        **dataclasses.asdict(changes),
        "gone": tuple(changes.gone),
        "notes": catalog.notes,
    }
    if not flags.json and not flags.quiet:
        with contextlib.suppress(BrokenPipeError):  # `| head` is no reason not to harvest
            _say(said, options["dry_run"])
    if not options["dry_run"] and not options["no_harvest"]:
        said["harvest"] = _harvest(flags, folder.path, catalog, changes)
    if not options["dry_run"]:
        folder.settle()
    if flags.json:
        print_json(said)


def _read(flags: Flags, address: "Address", wanted: "Selection") -> "DatabaseCatalog":
    if address.kind == "spark":
        from headwater.pull.spark import read_spark as read
    else:
        from headwater.pull.databases import read_database as read

    with progress_over(_STEPS, "pulling", flags) as step:
        return read(address, wanted, step)


def _say(said: dict[str, Any], dry_run: bool) -> None:
    found = [counted(said["tables"], "table")]
    found += [counted(count, kind) for kind, count in said["definitions"].items()]
    if said["queries"]:
        found.append(f"{counted(said['queries'], 'query')} of the history")
    say(f"{said['address']}: {', '.join(found)}")
    counts = [f"{len(said[word]):,} {word}" for word in ("new", "changed", "gone")]
    counts.append(f"{said['new_queries']:,} new queries")
    say(f"{said['folder']}{', were it written' if dry_run else ''}: {', '.join(counts)}")
    rows = [(word, label) for word in ("changed", "gone", "new") for label in said[word]]
    for word, label in rows[:_MOST_SHOWN]:
        say(f"  {word:<7}  {label}")
    if len(rows) > _MOST_SHOWN:
        say(f"  … and {len(rows) - _MOST_SHOWN:,} more (--json shows all)")


def _harvest(flags: Flags, folder: Path, catalog: "DatabaseCatalog", changes: "PullChanges") -> dict[str, Any]:
    from headwater.jobs.harvest.plan import HarvestOptions
    from headwater.jobs.harvest.sources import Rules, read_estate
    from headwater.jobs.harvest.targets import Patterns
    from headwater.pull.folder import HISTORY, SCHEMA, SQL, TARGET

    paths = [folder / SQL, *([folder / HISTORY] if (folder / HISTORY).exists() else [])]
    rules = Rules(Patterns([TARGET] if catalog.is_local else []))
    estate = read_estate([f"{catalog.dialect}={path}" for path in paths], rules=rules)
    for warning in estate.warnings if catalog.definitions else ():  # else it misses files of SQL
        say_warning(warning)
    wish = HarvestOptions(schema=str(folder / SCHEMA), gone=tuple(changes.gone.values()))
    return summary_fields(harvest_estate(flags, estate, wish), estate)
