"""The SQL of a folder that came out of git: dbt and SQLMesh projects wherever they lie, and every other file of SQL.

Names in what is returned are paths below the folder: the same file has the same name on both sides of a change.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from headwater.analysis.texts import SQL_SUFFIXES
from headwater.errors import InputError
from headwater.jobs.harvest.dbt.project import PROJECT_FILE
from headwater.jobs.harvest.sources import Estate, Rules, read_estate
from headwater.jobs.harvest.sqlmesh import is_sqlmesh
from headwater.jobs.harvest.units import Script
from headwater.text import Source

PACKAGES = ("dbt_packages", "dbt_modules")
"""Folders of installed packages: they belong to a project, and are none."""
_WITH_SQL = (".yml", ".yaml", ".csv", ".py", ".md", ".jinja", ".toml")


@dataclass(frozen=True, slots=True)
class ProjectOptions:
    """The files that count: below some paths, each with its dialect if it was named."""

    paths: tuple[tuple[str | None, str], ...] = ()  # none: all
    dialect: str | None = None
    rules: Rules = field(default_factory=Rules)

    def takes(self, path: str) -> bool:
        """Return whether the analysis may need a file."""
        inside = PurePosixPath(path)
        return inside.suffix.lower() in (*SQL_SUFFIXES, *_WITH_SQL) and self.dialect_of(path) is not _OUTSIDE

    def dialect_of(self, path: str) -> object:
        """The dialect of a file, as it was named; an object of no other kind when the file does not count."""
        if not self.paths:
            return self.dialect
        inside = PurePosixPath(path)
        found = [own for own, place in self.paths if place in (".", "") or inside.is_relative_to(place)]
        return (found[0] or self.dialect) if found else _OUTSIDE


_OUTSIDE = object()


def read_projects(folder: Path, paths: Sequence[str], selection: ProjectOptions) -> Estate:
    """The estate of the files of a folder. A project that cannot be read is a warning, and the others are read."""
    roots = list(_project_roots(folder, paths))
    parts: list[Estate] = []
    trouble: list[str] = []
    plain = [path for path in paths if _is_plain(path, roots) and selection.rules.takes(folder / path, folder)]
    for root in roots:
        try:
            parts.append(read_estate([str(folder / root)], _dialect(selection, root), selection.rules))
        except InputError as err:
            trouble.append(f"the project in {root or '.'} was left out: {err}")
    for path in plain:
        try:
            parts.append(read_estate([str(folder / path)], _dialect(selection, path), selection.rules))
        except InputError as err:
            trouble.append(f"{err}; it was left out")
    return _joined(parts, folder, trouble)


def _dialect(selection: ProjectOptions, path: str) -> str | None:
    found = selection.dialect_of(path or ".")
    return found if isinstance(found, str) else selection.dialect


def _project_roots(folder: Path, paths: Iterable[str]) -> Iterator[str]:
    """The folders of projects, as paths below the folder; `` is the folder itself."""
    for path in paths:
        inside = PurePosixPath(path)
        parent = "" if str(inside.parent) == "." else str(inside.parent)
        if any(part in PACKAGES for part in inside.parts):
            continue
        if inside.name == PROJECT_FILE or (inside.stem == "config" and is_sqlmesh(folder / parent)):
            yield parent


def _is_plain(path: str, roots: Iterable[str]) -> bool:
    inside = PurePosixPath(path)
    return inside.suffix.lower() in SQL_SUFFIXES and not any(
        not root or inside.is_relative_to(root) for root in roots
    )


def _joined(parts: Iterable[Estate], folder: Path, trouble: list[str]) -> Estate:
    """One estate of several, with paths below the folder. A file that two projects have belongs to the first."""
    scripts: dict[str, Script] = {}
    whole = Estate((), ())
    for part in parts:
        for script in part.scripts:
            own = _below(script, folder)
            scripts.setdefault(own.name, own)
        whole = Estate(
            (),
            (),
            warnings=(*whole.warnings, *part.warnings),
            tables=(*whole.tables, *part.tables),
            dialects=(*whole.dialects, *part.dialects),
            words=(*whole.words, *part.words),
        )
    warnings = tuple(text.replace(f"{folder}/", "") for text in (*whole.warnings, *trouble))
    return replace(whole, scripts=tuple(scripts.values()), warnings=warnings)


def _below(script: Script, folder: Path) -> Script:
    """A script by its path below a folder, wherever that lies."""

    def short(name: str) -> str:
        return name.removeprefix(f"{folder}/")

    made = script.rendered
    if made is not None:
        template = Source(made.template.text, short(made.template.name or ""))
        issues = tuple(replace(each, source_name=short(each.source_name or "")) for each in made.issues)
        made = replace(made, template=template, issues=issues)
    return replace(script, name=short(script.name), root=short(script.root), rendered=made)
