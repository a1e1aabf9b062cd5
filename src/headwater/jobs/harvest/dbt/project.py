"""A dbt project as it lies there: its settings, its packages, its files, and the target it runs against."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headwater.analysis.texts import read_text
from headwater.errors import InputError
from headwater.safe_yaml import read_yaml

PROJECT_FILE = "dbt_project.yml"
PROFILES = "profiles.yml"
_BLOCK = re.compile(r"\{%-?\s*(macro|test|snapshot|materialization|docs)\s+(\w+)")
_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
_PARENTS = {
    "redshift": ("postgres",),
    "databricks": ("spark",),
    "sqlserver": ("fabric",),
    "synapse": ("sqlserver", "fabric"),
    "athena": ("trino",),
    "starburst": ("trino",),
}
_ADAPTERS = {"tsql": "sqlserver", "": "default", "spark2": "spark", "presto": "trino"}


@dataclass(frozen=True)
class Package:
    """A project or an installed package: its folder and its `dbt_project.yml`."""

    name: str
    root: Path
    settings: Mapping[str, Any] = field(default_factory=dict)

    def folders(self, kind: str, default: str) -> list[Path]:
        """The folders of a kind of file: `model-paths`, `seed-paths` and so on."""
        names = self.settings.get(f"{kind}-paths") or self.settings.get(_OLD.get(kind, "")) or [default]
        return [self.root / str(name) for name in ([names] if isinstance(names, str) else names)]

    def files(self, kind: str, default: str, *suffixes: str) -> Iterator[tuple[Path, Path]]:
        """The files of a kind, in order, each with the folder that the settings name."""
        for folder in self.folders(kind, default):
            for file in sorted(folder.rglob("*")):
                if file.suffix.lower() in suffixes and file.is_file():
                    yield folder, file


_OLD = {"model": "source-paths", "seed": "data-paths"}


@dataclass(frozen=True, slots=True)
class DbtTarget:
    """The database a project runs against, as far as its profile tells."""

    type: str
    name: str = "dev"
    schema: str = ""
    database: str = ""
    profile: str = "default"

    @property
    def prefixes(self) -> tuple[str, ...]:
        """The prefixes of macros for this kind of database, the nearest first."""
        return (self.type, *_PARENTS.get(self.type, ()), "default")

    def as_dict(self) -> dict[str, Any]:
        """The value that templates know as `target`."""
        named = {"dbname": self.database, "dataset": self.schema, "project": self.database, "catalog": self.database}
        own = {"type": self.type, "name": self.name, "target_name": self.name, "profile_name": self.profile}
        return {**named, **own, "schema": self.schema, "database": self.database, "threads": 1, "warehouse": ""}


@dataclass(frozen=True, slots=True)
class Macro:
    """The text of one macro. It is compiled when it is first called."""

    package: str
    name: str
    text: str
    path: str


@dataclass
class DbtProject:
    """A project, the packages installed with it, and their macros by package and name."""

    root: Package
    packages: dict[str, Package]
    target: DbtTarget
    macros: dict[str, dict[str, Macro]]
    warnings: list[str] = field(default_factory=list)

    def search_order(self, namespace: str) -> list[str]:
        """The packages in which `adapter.dispatch` looks for a macro of a namespace."""
        for each in self.root.settings.get("dispatch") or ():
            if each.get("macro_namespace") == namespace:
                return [str(name) for name in each.get("search_order") or ()]
        return list(dict.fromkeys([self.root.name, namespace]))


def read_project(folder: Path, dialect: str | None, variables: Mapping[str, Any]) -> DbtProject:
    """The project in a folder, with the packages in `dbt_packages/` and macros of our own for those not installed.

    RAISES: InputError when its settings cannot be read.
    """
    root = _package(folder)
    warnings: list[str] = []
    packages = {root.name: root}
    installed = folder / str(root.settings.get("packages-install-path") or "dbt_packages")
    for place in [*sorted(installed.glob("*/")), *_local_packages(folder)]:
        if (place / PROJECT_FILE).is_file():
            try:
                found = _package(place)
            except InputError as err:
                warnings.append(f"{err}; the package was left out")
                continue
            packages.setdefault(found.name, found)
    target = _target(root, dialect, variables)
    if target.type == "default":
        warnings.append(
            f"the dialect of the dbt project `{root.name}` is not known, since no {PROFILES} has its profile "
            f"`{target.profile}`: name it, for example snowflake=PATH"
        )
    macros = {name: dict(_macros(package, warnings)) for name, package in packages.items()}
    return DbtProject(root, packages, target, own_macros(warnings) | macros, warnings)


def own_macros(warnings: list[str]) -> dict[str, dict[str, Macro]]:
    """Our own macros: those of dbt, and for packages that are often used and may not be installed."""
    folder = Path(__file__).parent / "macros"
    packages = [Package(name, folder / name, {"macro-paths": ["."]}) for name in ("dbt", "dbt_utils", "dbt_date")]
    return {package.name: dict(_macros(package, warnings)) for package in packages}


def _local_packages(folder: Path) -> Iterator[Path]:
    """The packages that lie beside the project and were never installed."""
    for name in ("packages.yml", "dependencies.yml"):
        for each in (read_mapping(folder / name).get("packages") or ()) if (folder / name).is_file() else ():
            if isinstance(each, dict) and each.get("local"):
                yield (folder / str(each["local"])).resolve()


def _package(folder: Path) -> Package:
    settings = read_mapping(folder / PROJECT_FILE)
    return Package(str(settings.get("name") or folder.name), folder, settings)


def read_mapping(path: Path) -> dict[str, Any]:
    """A YAML file that holds a mapping. RAISES: InputError when it does not."""
    text = read_text(path)
    try:
        found = read_yaml(text)
    except InputError as err:
        raise InputError(f"{path} cannot be read: {err}") from err
    if not isinstance(found, dict | None):
        raise InputError(f"{path} cannot be read: it holds no mapping")
    return found or {}


def _macros(package: Package, warnings: list[str]) -> Iterator[tuple[str, Macro]]:
    for _, file in package.files("macro", "macros", ".sql", ".jinja"):
        try:
            text = read_text(file)
        except InputError as err:
            warnings.append(f"{err}; it was left out")
            continue
        for kind, name, body in blocks(text):
            if kind == "macro":
                yield name, Macro(package.name, name, body, str(file))


def blocks(text: str) -> Iterator[tuple[str, str, str]]:
    """The macros, tests, snapshots and so on of a file: kind, name and text. What comments hold does not count."""
    plain = _COMMENT.sub(lambda found: " " * len(found[0]), text)
    at = 0
    while begin := _BLOCK.search(plain, at):
        end = re.compile(r"\{%-?\s*end" + begin[1] + r"\s*-?%\}").search(plain, begin.end())
        at = end.end() if end is not None else len(plain)
        yield begin[1], begin[2], text[begin.start() : at]


def profiles_at_home() -> Path:
    """The file in which dbt keeps the profiles of a user."""
    return Path(os.environ.get("DBT_PROFILES_DIR") or Path.home() / ".dbt") / PROFILES


def _target(root: Package, dialect: str | None, variables: Mapping[str, Any]) -> DbtTarget:
    """The target of the project's profile: from the project, a folder in it, or where dbt keeps profiles."""
    wanted = str(root.settings.get("profile") or "default")
    kind = _ADAPTERS.get(dialect or "", dialect or "default")
    for place in (root.root / PROFILES, *sorted(root.root.glob(f"*/{PROFILES}")), profiles_at_home()):
        if not place.is_file():
            continue
        profile = read_mapping(place).get(wanted)
        outputs = (profile or {}).get("outputs") or {}
        name = _plain((profile or {}).get("target"), variables) or next(iter(outputs), "")
        if found := outputs.get(name):
            schema, database = (
                next((_plain(found[key], variables) for key in keys if found.get(key)), "")
                for keys in (("schema", "dataset"), ("database", "catalog", "dbname", "project"))
            )
            own = str(found.get("type") or kind)
            if own == "duckdb":  # the database is a file, and its name the file's
                database = ""
            return DbtTarget(own if dialect is None else kind, name, schema, database, wanted)
    return DbtTarget(kind, profile=wanted)


_ENV_VAR = re.compile(r"""\{\{\s*env_var\(\s*['"](\w+)['"]\s*(?:,\s*['"]([^'"]*)['"])?\s*\)[^}]*\}\}""")


def _plain(value: Any, variables: Mapping[str, Any]) -> str:
    """A setting of a profile, in which variables of the environment may stand."""
    return _ENV_VAR.sub(lambda found: str(environment(found[1], variables, found[2] or "")), str(value or ""))


def environment(name: str, variables: Mapping[str, Any], default: Any = None) -> Any:
    """A variable of the environment, if dbt's name for it says that it is meant for projects and is no secret."""
    if name in variables:
        return variables[name]
    if name.startswith("DBT_") and not name.startswith("DBT_ENV_SECRET"):
        return os.environ.get(name, default)
    return default
