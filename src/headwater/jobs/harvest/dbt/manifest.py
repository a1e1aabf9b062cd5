"""The manifest that dbt writes: models as it has compiled them, or rendered here where it has not."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from headwater.errors import InputError
from headwater.jobs.harvest.dbt.project import DbtProject, DbtTarget, Macro, Package, own_macros
from headwater.jobs.harvest.dbt.renderer import Renderer
from headwater.jobs.harvest.dbt.resources import DbtNode, DbtSource, Resources
from headwater.jobs.harvest.dbt.scripts import Found, all_of, reader_script, script_of, table_of
from headwater.jobs.harvest.dbt.values import Relation, written
from headwater.jobs.harvest.dbt.words import project_words
from headwater.jobs.harvest.units import Script
from headwater.lineage.schema import SchemaTable
from headwater.sql.dialects import canonical_dialect
from headwater.text import Source

_READERS = ("exposures", "metrics")
_MADE = ("model", "snapshot", "seed")


def read_manifest(path: Path, dialect: str | None, variables: Mapping[str, Any]) -> Found:
    """The models and snapshots of a manifest, with the columns of `catalog.json` where that lies beside it.

    RAISES: InputError when the file is no manifest.
    """
    manifest = _json(path)
    if not isinstance(manifest.get("nodes"), dict):
        raise InputError(f"{path} is no dbt manifest: it has no nodes")
    metadata = manifest.get("metadata") or {}
    kind = dialect or metadata.get("adapter_type")
    spoken = canonical_dialect(kind)
    project = DbtProject(
        Package(str(metadata.get("project_name") or "project"), path.parent),
        {},
        DbtTarget(str(metadata.get("adapter_type") or kind or "default")),
        own_macros([]) | _macros(manifest),
    )
    renderer = Renderer(project, _resources(manifest, spoken), variables, spoken)
    everything = {**manifest["nodes"], **(manifest.get("sources") or {})}
    relations = {id: relation for id, each in everything.items() if (relation := _relation(each, spoken)).identifier}
    for id, node in renderer.resources.nodes.items():
        renderer.know(node, manifest["nodes"][id].get("config") or {}, replace(relations[id], origin=node))
    scripts = [*_models(manifest, renderer, relations, kind, path), *_readers(manifest, relations, kind, path)]
    return Found(tuple(scripts), tuple(_tables(path, manifest, relations)), (), tuple(project_words(renderer)))


def _json(path: Path) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(path.read_bytes())
    except OSError as err:
        raise InputError(f"cannot read {path}: {err.strerror}") from err
    except msgspec.DecodeError as err:
        raise InputError(f"{path} is no dbt manifest: {err}") from err
    return found if isinstance(found, dict) else {}


def _macros(manifest: Mapping[str, Any]) -> dict[str, dict[str, Macro]]:
    """The macros of the project and its packages; dbt's own would ask the database."""
    found: dict[str, dict[str, Macro]] = {}
    adapters = {"dbt", f"dbt_{(manifest.get('metadata') or {}).get('adapter_type')}", "dbt_postgres", "dbt_spark"}
    for each in (manifest.get("macros") or {}).values():
        package, name = str(each.get("package_name")), str(each.get("name"))
        if package not in adapters:
            text, path = str(each.get("macro_sql") or ""), str(each.get("original_file_path"))
            found.setdefault(package, {})[name] = Macro(package, name, text, path)
    return found


def _resources(manifest: Mapping[str, Any], dialect: str) -> Resources:
    resources = Resources()
    for id, each in sorted(manifest["nodes"].items()):
        if each.get("resource_type") not in _MADE:
            continue
        text = str(each.get("raw_code") or each.get("raw_sql") or "")
        path = Path(str(each.get("original_file_path") or id))
        version = each.get("version")
        node = DbtNode(str(each.get("name")), each["resource_type"], str(each.get("package_name")), path, text)
        node.properties = {**each, "columns": list((each.get("columns") or {}).values())}
        node.version = None if version is None else str(version)
        resources.nodes[id] = node
        resources.by_name.setdefault(node.name, []).append(node)
        if each.get("latest_version") is not None:
            resources.latest[node.name] = str(each["latest_version"])
    for each in (manifest.get("sources") or {}).values():
        group, name = str(each.get("source_name")), str(each.get("name"))
        place = each.get("database"), str(each.get("schema") or group), str(each.get("identifier") or name)
        said = {**each, "columns": list((each.get("columns") or {}).values())}
        resources.sources[(group, name)] = DbtSource(name, group, *place, said)
    resources.exposures += [(Path(id), each) for id, each in (manifest.get("exposures") or {}).items()]
    resources.groups |= {str(each.get("name")): each for each in (manifest.get("groups") or {}).values()}
    return resources


def _relation(each: Mapping[str, Any], dialect: str) -> Relation:
    name = each.get("alias") or each.get("identifier") or each.get("name")
    return Relation(each.get("database"), each.get("schema"), name, dialect)


def _models(
    manifest: Mapping[str, Any],
    renderer: Renderer,
    relations: Mapping[str, Relation],
    dialect: str | None,
    path: Path,
) -> Iterator[Script]:
    for id, node in renderer.resources.nodes.items():
        each = manifest["nodes"][id]
        text = each.get("compiled_code") or each.get("compiled_sql")
        reads = _reads(each, manifest, relations)
        if node.kind == "seed":
            continue
        if not text or node.is_python or each.get("language", "sql") != "sql":
            script = script_of(renderer, node, dialect, str(path))
            yield replace(script, reads=tuple(dict.fromkeys((*(script.reads or ()), *map(str, reads)))))
        else:
            makes = each.get("relation_name") or str(relations[id])
            read = tuple(map(str, reads)) or None
            yield Script(str(node.path), text, dialect, str(path), makes=makes, is_model=True, reads=read)


def _reads(each: Mapping[str, Any], manifest: Mapping[str, Any], relations: Mapping[str, Relation]) -> list[Relation]:
    """The tables that something depends on; a metric does so through semantic models and other metrics."""
    found: dict[Relation, None] = {}
    waiting, seen = list((each.get("depends_on") or {}).get("nodes") or ()), set()
    while waiting:
        id = waiting.pop(0)
        if id in relations:
            found[relations[id]] = None
        elif id not in seen:
            seen.add(id)
            between = (manifest.get("semantic_models") or {}).get(id) or (manifest.get("metrics") or {}).get(id) or {}
            waiting += (between.get("depends_on") or {}).get("nodes") or ()
    return list(found)


def _readers(
    manifest: Mapping[str, Any], relations: Mapping[str, Relation], dialect: str | None, path: Path
) -> Iterator[Script]:
    """Exposures and metrics: who reads models, though not which columns of them."""
    for kind in _READERS:
        for id, each in sorted((manifest.get(kind) or {}).items()):
            reads = _reads(each, manifest, relations)
            target = Relation(None, kind[:-1], str(each.get("name")), canonical_dialect(dialect))
            source = Source("", f"{each.get('original_file_path') or path}:{id}")
            if reads:
                query = _measured(each, manifest, relations) or all_of(reads)
                yield reader_script(source, dialect, str(path), target, query)


def _measured(each: Mapping[str, Any], manifest: Mapping[str, Any], relations: Mapping[str, Relation]) -> str:
    """A query with the expressions of the measures that a metric is made of; empty if they are not known."""
    wanted = {one.get("name") for one in (each.get("type_params") or {}).get("input_measures") or ()}
    queries = []
    for model in (manifest.get("semantic_models") or {}).values():
        measures = [one for one in model.get("measures") or () if one.get("name") in wanted]
        found = _reads(model, manifest, relations)
        if measures and found:
            values = ", ".join(str(one.get("expr") or one["name"]) for one in measures)
            queries.append(f"SELECT coalesce({values}) AS {written(str(each['name']), '')} FROM {found[0]}")
    return " UNION ALL ".join(queries)


def _tables(path: Path, manifest: Mapping[str, Any], relations: Mapping[str, Relation]) -> Iterable[SchemaTable]:
    """The tables that are not made by SQL here, with the columns of the catalog, or those that are declared."""
    beside = path.with_name(path.name.replace("manifest", "catalog"))
    catalog = _json(beside) if beside.is_file() else {}
    for group in ("nodes", "sources"):
        for id, each in (manifest.get(group) or {}).items():
            entry = (catalog.get(group) or {}).get(id)
            if id not in relations or (group == "nodes" and each.get("resource_type") != "seed"):
                continue
            columns = (entry or each).get("columns") or {}
            known = {
                str(one.get("name") or name): one.get("type") or one.get("data_type") for name, one in columns.items()
            }
            if known or group == "sources":
                yield table_of(relations[id], known, complete=entry is not None)
