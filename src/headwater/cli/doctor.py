"""`headwater doctor`: is everything here that Headwater needs?"""

import os
import platform
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

import click

from headwater.cli.options import Flags, command
from headwater.cli.render import print_json
from headwater.cli.terminal import say
from headwater.errors import HeadwaterError, JavaNotFoundError, NotWritableError
from headwater.extras import is_extra, not_installed


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: fine, missing but optional, or wrong."""

    name: str
    status: Literal["ok", "optional", "problem"]
    detail: str
    hint: str | None = None


def _configuration(flags: Flags) -> Finding:
    origin = flags.origin
    changed = ", ".join(f"{name} ({source})" for name, source in sorted(origin.sources.items()))
    return Finding("configuration", "ok", f"{origin.file or 'no headwater.toml'}; set: {changed or 'nothing'}")


def _warehouse(flags: Flags) -> Finding:
    warehouse = flags.settings.warehouse
    if "://" in warehouse:
        return Finding("warehouse", "ok", f"{warehouse} (object store; not tried)")
    folder = Path(warehouse).absolute()
    place = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as err:
        raise NotWritableError(
            f"the warehouse {folder} cannot be written: {err.strerror}",
            hint="name another with --warehouse or HEADWATER_WAREHOUSE",
        ) from err
    return Finding("warehouse", "ok", f"{folder} ({'exists' if place == folder else 'will be made'}, writable)")


def _java(flags: Flags) -> Finding:
    from headwater.spark.java import find_java

    java = find_java()
    return Finding("Java", "ok", f"{java.version} at {java.home} (found by {java.origin})")


def _start(flags: Flags) -> Finding:
    name = "Spark's start"
    try:
        from headwater.spark.class_archive import archive_path
        from headwater.spark.java import find_java

        place = archive_path(find_java())
    except (ImportError, JavaNotFoundError):
        return Finding(name, "optional", "needs Java and pyspark")
    if place is None:
        return Finding(name, "optional", "Java classes not archived yet", "`headwater warmup spark` does it now")
    return Finding(name, "ok", f"with Java classes from {place.parent}")


def _zetasql(flags: Flags) -> Finding:
    from headwater.zetasql.compiled import compiled_path

    place, release = compiled_path(), version("zetasql")
    if place is None:
        return Finding(
            "ZetaSQL", "optional", f"{release}, not compiled yet", "`headwater warmup zetasql` does it now"
        )
    return Finding("ZetaSQL", "ok", f"{release}, compiled in {place.parent}")


def _package(name: str) -> Callable[[Flags], Finding]:
    def look(flags: Flags) -> Finding:
        try:
            return Finding(name, "ok", version(name))
        except PackageNotFoundError:
            status: Literal["optional", "problem"] = "optional" if is_extra(name) else "problem"
            return Finding(name, status, "not installed", not_installed(name).hint)

    return look


CHECKS: tuple[tuple[str, Callable[[Flags], Finding]], ...] = (
    ("Python", lambda flags: Finding("Python", "ok", f"{platform.python_version()} at {sys.executable}")),
    ("configuration", _configuration),
    ("warehouse", _warehouse),
    ("Java", _java),
    ("pyspark", _package("pyspark")),
    ("Spark's start", _start),
    ("ZetaSQL", _zetasql),
    ("sqlglot", _package("sqlglot")),
    ("pyarrow", _package("pyarrow")),
    ("duckdb", _package("duckdb")),
    ("obstore", _package("obstore")),
)


def _look(name: str, check: Callable[[Flags], Finding], flags: Flags) -> Finding:
    try:
        return check(flags)
    except HeadwaterError as err:
        return Finding(name, "problem", f"[{err.code}] {err.message}", err.hint)


@command("doctor", examples=("headwater doctor", "headwater doctor --json"))
@click.pass_obj
def doctor(flags: Flags) -> int:
    """Look at everything Headwater needs and say what is missing. Exit code 2 when something is."""
    findings = [_look(name, check, flags) for name, check in CHECKS]
    if flags.json:
        print_json({"version": version("headwater"), "findings": findings})
    else:
        width = max(len(finding.name) for finding in findings)
        mark = {"ok": "✓", "optional": "–", "problem": "✗"}
        say(f"headwater {version('headwater')} on {platform.platform()}, {os.cpu_count()} cores")
        for finding in findings:
            say(f"  {mark[finding.status]} {finding.name:<{width}}  {finding.detail}")
            if finding.hint and finding.status != "ok":
                say(f"    {'':<{width}}  hint: {finding.hint}")
    return 2 if any(finding.status == "problem" for finding in findings) else 0
