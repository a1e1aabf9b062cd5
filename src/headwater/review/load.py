"""Both sides of a change, analysed as a harvest does it, in this process and without a warehouse."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path, PurePosixPath

from headwater.analysis.engines import Engine
from headwater.analysis.template import TemplateOptions
from headwater.jobs.harvest.dbt.project import PROJECT_FILE, profiles_at_home
from headwater.jobs.harvest.plan import HarvestOptions
from headwater.lineage.slices import digest
from headwater.review.git import Repository, Revision
from headwater.review.projects import PACKAGES, ProjectOptions, read_projects
from headwater.review.side import Side, analyse_side, kept_side, nearest_side, side_key

_VERSION = version("headwater")


@dataclass(frozen=True)
class ReviewOptions:
    """The settings of an analysis of both sides."""

    selection: ProjectOptions = field(default_factory=ProjectOptions)
    schema: str | None = None  # a file or folder; one in the repository is read as each side has it
    engine: Engine = "auto"
    waiting: Callable[[float], None] = lambda seconds: None  # told while another process analyses the same


@dataclass(frozen=True)
class Loader:
    """Analyses the sides of a repository, or finds them where they are kept."""

    repository: Repository
    analysis: ReviewOptions

    def side(self, of: Revision, before: Side | None = None) -> Side:
        """One side. `before` is another whose units may be the same."""
        files = self.repository.files(of)
        schema = self._schema_inside()
        paths = sorted(path for path in files if self.analysis.selection.takes(path) or _is_below(path, schema))
        key = side_key(*self._setting(), *(f"{path} {files[path]}" for path in paths))
        folder = digest(str(self.repository.root).encode())

        def make() -> Side:
            return self._analyse(of, paths, before or nearest_side(folder))

        return kept_side(folder, key, make, self.analysis.waiting)

    def _analyse(self, of: Revision, paths: list[str], before: Side | None) -> Side:
        folder = self.repository.scratch / of.tree
        folder.mkdir(exist_ok=True)
        self.repository.extract(of, paths, folder)
        self._link_packages(folder, paths)
        schema, inside = self.analysis.schema, self._schema_inside()
        if inside is not None:
            schema = str(folder / inside) if (folder / inside).exists() else None
        estate = read_projects(folder, paths, self.analysis.selection)
        template = TemplateOptions(self.analysis.selection.rules.variables)
        options = HarvestOptions(schema, self.analysis.engine, template=template, warn=lambda text: None)
        return analyse_side(estate, options, before)

    def _link_packages(self, folder: Path, paths: list[str]) -> None:
        """Let both sides use the packages that are installed in the work tree: git does not keep them."""
        for path in paths:
            if PurePosixPath(path).name == PROJECT_FILE:
                for name in PACKAGES:
                    installed = self.repository.root / PurePosixPath(path).parent / name
                    there = folder / PurePosixPath(path).parent / name
                    if installed.is_dir() and not there.exists():
                        there.symlink_to(installed, target_is_directory=True)

    def _schema_inside(self) -> str | None:
        """The schema as a path below the repository, if it lies there."""
        given = self.analysis.schema
        if given is None or "://" in given:
            return None
        path = Path(given).resolve()
        root = self.repository.root.resolve()
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else None

    def _setting(self) -> Iterator[object]:
        """Everything but the files that the analysis depends on."""
        chosen = self.analysis.selection
        yield from (_VERSION, self.analysis.engine, chosen.paths, chosen.dialect, chosen.rules.exclude)
        yield from (sorted(map(str, chosen.rules.variables.items())), chosen.rules.targets.written)
        yield sorted(each for each in os.environ.items() if each[0].startswith("DBT_") and "SECRET" not in each[0])
        for file in (profiles_at_home(), *self._schema_outside()):
            yield from (_stamp(each) for each in ([file] if file.is_file() else sorted(file.rglob("*"))))
        for place in sorted(self.repository.root.rglob(PROJECT_FILE)) if _has_packages(self.repository.root) else ():
            yield from (_stamp(each) for name in PACKAGES for each in sorted((place.parent / name).glob("*/*.yml")))

    def _schema_outside(self) -> list[Path]:
        given = self.analysis.schema
        return [Path(given)] if given is not None and "://" not in given and self._schema_inside() is None else []


def _has_packages(root: Path) -> bool:
    return any((root / name).is_dir() or any(root.glob(f"*/{name}")) for name in PACKAGES)


def _stamp(file: Path) -> str:
    found = file.stat()
    return f"{file} {found.st_size} {found.st_mtime_ns}"


def _is_below(path: str, place: str | None) -> bool:
    return place is not None and PurePosixPath(path).is_relative_to(place)
