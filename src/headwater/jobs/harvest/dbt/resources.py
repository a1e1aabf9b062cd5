"""The declarations of a dbt project: models, seeds, snapshots, sources and exposures, with their configuration."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headwater.analysis.texts import read_sql, read_text
from headwater.errors import InputError
from headwater.jobs.harvest.dbt.project import DbtProject, Package, blocks, read_mapping

_VERSION = re.compile(r"(.+)[_.]v(\d+)$")


@dataclass
class DbtNode:
    """Something that makes a table: a model, a seed or a snapshot."""

    name: str
    kind: str
    package: str
    path: Path
    text: str
    steps: tuple[str, ...] = ()  # of the path below the folder of its kind, with its name: settings go by these
    config: dict[str, Any] = field(default_factory=dict)
    properties: Mapping[str, Any] = field(default_factory=dict)
    version: str | None = None

    @property
    def unique_id(self) -> str:
        version = f".v{self.version}" if self.version else ""
        return f"{self.kind}.{self.package}.{self.name}{version}"

    @property
    def is_python(self) -> bool:
        return self.path.suffix == ".py"

    def columns(self) -> dict[str, str | None]:
        """The columns that are declared for it, with their types where these are."""
        found = {
            str(each["name"]): each.get("data_type")
            for each in self.properties.get("columns") or ()
            if "name" in each
        }
        return {name: str(type) if type else None for name, type in found.items()}


@dataclass(frozen=True)
class DbtSource:
    """A table that a project reads and does not make."""

    name: str
    source: str
    database: str | None
    schema: str
    identifier: str
    properties: Mapping[str, Any]


@dataclass
class Resources:
    """Everything that a project and its packages declare."""

    nodes: dict[str, DbtNode] = field(default_factory=dict)
    by_name: dict[str, list[DbtNode]] = field(default_factory=dict)
    sources: dict[tuple[str, str], DbtSource] = field(default_factory=dict)
    exposures: list[tuple[Path, Mapping[str, Any]]] = field(default_factory=list)
    latest: dict[str, str] = field(default_factory=dict)  # of models with versions
    groups: dict[str, Mapping[str, Any]] = field(default_factory=dict)  # of models, each with its owner
    docs: dict[str, str] = field(default_factory=dict)  # texts that descriptions refer to

    def add(self, node: DbtNode) -> None:
        """Add a node; a name that two packages have means the node of the first."""
        self.nodes.setdefault(node.unique_id, node)
        if self.nodes[node.unique_id] is node:
            self.by_name.setdefault(node.name, []).append(node)

    def find(self, name: str, package: str | None = None, version: object = None) -> DbtNode | None:
        """The node that `ref` means."""
        found = [node for node in self.by_name.get(name, ()) if package in (None, node.package)]
        wanted = str(version) if version is not None else self.latest.get(name)
        if wanted is not None:
            found = [node for node in found if node.version == wanted] or found
        return found[0] if found else None


def read_resources(project: DbtProject, warnings: list[str]) -> Resources:
    """Find everything that a project and its packages declare."""
    resources = Resources()
    for package in project.packages.values():
        declared = list(_declarations(package, warnings))
        named = _properties(declared, resources)
        for node in _files(package, warnings):
            _declare(node, named, resources)
            node.config = _configured(project, package, node)
            resources.add(node)
        for path, content in declared:
            _read_declarations(path, content, package, resources)
        resources.docs |= _docs(package)
    return resources


def _docs(package: Package) -> dict[str, str]:
    """The texts of `docs` blocks in the Markdown files of a package, by name."""
    found: dict[str, str] = {}
    for kind, default in (("model", "models"), ("seed", "seeds"), ("snapshot", "snapshots"), ("docs", "docs")):
        for _, file in package.files(kind, default, ".md"):
            with suppress(InputError):  # a text of which nothing is made
                for block, name, text in blocks(read_text(file)):
                    if block == "docs":
                        found[name] = text[text.index("%}") + 2 : text.rindex("{%")].strip()
    return found


def _declarations(package: Package, warnings: list[str]) -> Iterator[tuple[Path, dict[str, Any]]]:
    for kind, default in (("model", "models"), ("seed", "seeds"), ("snapshot", "snapshots")):
        for _, file in package.files(kind, default, ".yml", ".yaml"):
            try:
                yield file, read_mapping(file)
            except InputError as err:
                warnings.append(f"{err}; it was left out")


def _entries(content: Mapping[str, Any], key: str) -> Iterator[dict[str, Any]]:
    found = content.get(key)
    yield from (
        (each for each in found if isinstance(each, dict) and each.get("name")) if isinstance(found, list) else ()
    )


def _properties(declared: Iterable[tuple[Path, dict[str, Any]]], resources: Resources) -> dict[str, dict[str, Any]]:
    """The descriptions of models, seeds and snapshots in YAML files, by name."""
    named: dict[str, dict[str, Any]] = {}
    for _, content in declared:
        for key in ("models", "seeds", "snapshots"):
            for each in _entries(content, key):
                named[str(each["name"])] = each
                versions = [
                    str(one["v"]) for one in each.get("versions") or () if isinstance(one, dict) and "v" in one
                ]
                if versions:
                    latest = each.get("latest_version")
                    numbers = sorted(versions, key=lambda text: (len(text), text))
                    resources.latest[str(each["name"])] = str(latest if latest is not None else numbers[-1])
    return named


def _files(package: Package, warnings: list[str]) -> Iterator[DbtNode]:
    for folder, file in package.files("model", "models", ".sql", ".py"):
        yield from _node(package, "model", folder, file, warnings)
    for folder, file in package.files("seed", "seeds", ".csv"):
        yield DbtNode(file.stem, "seed", package.name, file, "", _steps(folder, file))
    for folder, file in package.files("snapshot", "snapshots", ".sql"):
        for node in _node(package, "snapshot", folder, file, warnings):
            for kind, name, text in blocks(node.text):
                if kind == "snapshot":
                    body = text[text.index("%}") + 2 : text.rindex("{%")]
                    before = node.text[: node.text.index(text) + text.index(body)]
                    lines = "\n" * before.count("\n")  # so that its places are those of the file
                    yield DbtNode(name, kind, package.name, file, lines + body, _steps(folder, file))


def _node(package: Package, kind: str, folder: Path, file: Path, warnings: list[str]) -> Iterator[DbtNode]:
    try:
        text = read_sql(file, warnings.append)
    except InputError as err:
        warnings.append(f"{err}; it was left out")
        return
    if file.suffix == ".py" and "def model(" not in text:
        return
    yield DbtNode(file.stem, kind, package.name, file, text, _steps(folder, file))


def _steps(folder: Path, file: Path) -> tuple[str, ...]:
    return (*file.relative_to(folder).parts[:-1], file.stem)


def _declare(node: DbtNode, named: Mapping[str, dict[str, Any]], resources: Resources) -> None:
    """Give a node what YAML files say of it; one file of a versioned model is one version of it."""
    node.properties = named.get(node.name, {})
    match = _VERSION.fullmatch(node.name)
    for name, properties in named.items() if not node.properties else ():
        for each in properties.get("versions") or ():
            file = str(each.get("defined_in") or f"{name}_v{each.get('v')}")
            if node.name == file or (match and match[1] == name and match[2] == str(each.get("v"))):
                node.config = {"alias": f"{name}_v{each['v']}", **(each.get("config") or {})}
                node.name, node.version = name, str(each["v"])
                node.properties = {**properties, **{key: value for key, value in each.items() if key != "v"}}
                return


def _configured(project: DbtProject, package: Package, node: DbtNode) -> dict[str, Any]:
    """The configuration of a node but for what its own text says: by folder in the settings, then in YAML."""
    config: dict[str, Any] = {}
    for settings in dict.fromkeys((package.name, project.root.name)):
        found = project.packages[settings].settings.get(f"{node.kind}s") or {}
        steps = (package.name, *node.steps)
        _merge(config, found, steps)
    own = node.properties.get("config") or {}
    flat = {key: node.properties[key] for key in ("schema", "alias") if isinstance(node.properties.get(key), str)}
    return {**config, **flat, **own, **node.config}


def _merge(config: dict[str, Any], level: Any, steps: tuple[str, ...]) -> None:
    """Merge the settings at each step of a path: `+schema: x`, and `schema: x` where that is no folder."""
    while isinstance(level, dict):
        for key, value in level.items():
            if str(key).startswith("+"):
                config[str(key)[1:].replace("-", "_")] = value
            elif not isinstance(value, dict) and key not in steps:
                config[str(key).replace("-", "_")] = value
        if not steps:
            return
        level, steps = level.get(steps[0]), steps[1:]


def _read_declarations(path: Path, content: Mapping[str, Any], package: Package, resources: Resources) -> None:
    for source in _entries(content, "sources"):
        for table in _entries(source, "tables"):
            name, group = str(table["name"]), str(source["name"])
            place = {**source, **(source.get("config") or {})}
            resources.sources[(group, name)] = DbtSource(
                name,
                group,
                place.get("database") or place.get("catalog"),
                str(place.get("schema") or group),
                str(table.get("identifier") or name),
                table,
            )
    resources.groups |= {str(each["name"]): each for each in _entries(content, "groups")}
    resources.exposures += [(path, each) for each in _entries(content, "exposures")]
    for each in _entries(content, "snapshots"):
        if each.get("relation"):  # a snapshot that is declared, not written
            text = f"select * from {{{{ {each['relation']} }}}}"
            node = DbtNode(str(each["name"]), "snapshot", package.name, path, text, (str(each["name"]),))
            node.properties, node.config = each, dict(each.get("config") or {})
            resources.add(node)


def seed_columns(path: Path) -> list[str]:
    """The columns of a seed: the first line of its file."""
    try:
        with path.open(newline="", encoding="utf-8-sig", errors="replace") as lines:
            return [name.strip() for name in next(csv.reader(lines), []) if name.strip()]
    except (OSError, csv.Error):
        return []
