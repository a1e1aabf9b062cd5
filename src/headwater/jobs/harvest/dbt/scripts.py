"""A dbt project as scripts: one for each model and snapshot, with the table it makes and those it reads."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headwater.analysis.template import Rendered
from headwater.errors import Issue, IssueCode, Severity
from headwater.graph.facts import TableWords
from headwater.jobs.harvest.dbt.columns import declared
from headwater.jobs.harvest.dbt.project import read_project
from headwater.jobs.harvest.dbt.renderer import Renderer
from headwater.jobs.harvest.dbt.resources import DbtNode, read_resources, seed_columns
from headwater.jobs.harvest.dbt.values import Relation
from headwater.jobs.harvest.dbt.words import project_words
from headwater.jobs.harvest.units import Script
from headwater.lineage.schema import ColumnSchema, SchemaTable
from headwater.sql.dialects import canonical_dialect
from headwater.text import Source


@dataclass(frozen=True, slots=True)
class Found:
    """The content of a project: scripts, and the tables that it declares or loads and does not make by SQL."""

    scripts: tuple[Script, ...]
    tables: tuple[SchemaTable, ...]
    warnings: tuple[str, ...]
    words: tuple[TableWords, ...] = ()


def read_dbt(folder: Path, dialect: str | None, variables: Mapping[str, Any], takes: Any = None) -> Found:
    """The models and snapshots of a dbt project, rendered without dbt.

    A model that is switched off counts as well, unless another makes its table. `takes` says which files count.
    RAISES: InputError when the project's settings cannot be read, DialectError when its kind of database is unknown.
    """
    project = read_project(folder, dialect, variables)
    spoken = canonical_dialect(dialect or (None if project.target.type == "default" else project.target.type))
    resources = read_resources(project, project.warnings)
    renderer = Renderer(project, resources, variables, spoken)
    nodes = [node for node in resources.nodes.values() if node.kind != "seed" and (takes is None or takes(node.path))]
    makers: dict[str, DbtNode] = {}
    for node in nodes:
        name = str(renderer.relation(node)).lower()
        if name not in makers or (_is_on(renderer, node) and not _is_on(renderer, makers[name])):
            makers[name] = node
    chosen = [node for node in nodes if makers[str(renderer.relation(node)).lower()] is node]
    default = project.target.database or None, project.target.schema or None
    scripts = []
    names: set[str] = set()
    for node in chosen:
        script = script_of(renderer, node, spoken, str(folder))
        name = script.name if script.name not in names else f"{script.name}:{node.name}"
        names.add(name)
        scripts.append(replace(script, name=name, namespace=default))
    scripts += _readers(renderer, spoken, str(folder))
    return Found(tuple(scripts), tuple(_tables(renderer)), tuple(project.warnings), tuple(project_words(renderer)))


def _is_on(renderer: Renderer, node: DbtNode) -> bool:
    return renderer.config(node).get("enabled") is not False


def script_of(renderer: Renderer, node: DbtNode, dialect: str | None, root: str) -> Script:
    """The script of a model or snapshot."""
    relation = renderer.relation(node)
    source = Source(node.text, str(node.path))
    if node.is_python:
        reads = dict.fromkeys(renderer.named_in(node.text))
        return rough_script(
            source,
            dialect,
            root,
            relation,
            reads,
            _note(source, "it is written in Python: only its tables are known"),
        )
    made = renderer.render(node)
    if made.failure is not None:
        return rough_script(source, dialect, root, relation, made.reads, *made.full.issues, made.failure)
    kind = "VIEW" if renderer.config(node)["materialized"] in ("view", "ephemeral") else "TABLE"
    if node.kind == "snapshot":
        before, after = _snapshot(renderer.config(node))
        rendered = _around(f"CREATE TABLE {relation} AS {before}", made.full, after)
    else:
        rendered = _around(f"CREATE {kind} {relation} AS ", made.full)
    if made.incremental is not None:
        rendered = _joined(rendered, _around(f"INSERT INTO {relation} ", made.incremental))
    rendered = replace(rendered, issues=made.issues)
    return Script(
        source.name or "",
        rendered.text,
        dialect,
        root,
        makes=str(relation),
        rendered=rendered,
        reads=tuple(str(each) for each in made.reads if each.parts != relation.parts),
    )


def rough_script(
    source: Source, dialect: str | None, root: str, relation: Relation, reads: Mapping[Relation, None], *issues: Issue
) -> Script:
    """A script of which only the tables are known."""
    tables = [str(each) for each in reads if each.parts != relation.parts]
    text = f"CREATE VIEW {relation} AS SELECT 1 AS known" + (f" FROM {', '.join(tables)}" if tables else "")
    rendered = Rendered(text, source, (0,), ((0, len(source.text.rstrip()), False),), tuple(issues))
    name = source.name or ""
    return Script(name, text, dialect, root, str(relation), rendered=rendered, reads=tuple(tables), is_rough=True)


def reader_script(source: Source, dialect: str | None, root: str, relation: Relation, query: str) -> Script:
    """A reader outside of the project, as a view: a query that reads at least what it does."""
    text = f"CREATE VIEW {relation} AS {query}"
    note = _note(source, "which columns it reads is not declared: it may be fewer", Severity.INFO)
    rendered = Rendered(text, source, (0,), ((0, 0, False),), (note,))
    return Script(source.name or "", text, dialect, root, str(relation), rendered=rendered)


def all_of(relations: Iterable[Relation]) -> str:
    """A query with every column of some relations."""
    names = {f"r{number}": relation for number, relation in enumerate(relations)}
    tables = ", ".join(f"{relation} AS {name}" for name, relation in names.items())
    return f"SELECT {', '.join(f'{name}.*' for name in names)} FROM {tables}"


def _note(source: Source, why: str, severity: Severity = Severity.WARNING) -> Issue:
    span = source.span(0, len(source.line(1)))
    return Issue(IssueCode.APPROXIMATE_LINEAGE, severity, why, span, source_name=source.name)


def _snapshot(config: Mapping[str, Any]) -> tuple[str, str]:
    """The text around the query of a snapshot that adds the columns which dbt does."""
    names = {
        name: name for name in ("dbt_scd_id", "dbt_updated_at", "dbt_valid_from", "dbt_valid_to", "dbt_is_deleted")
    }
    names |= config.get("snapshot_meta_column_names") or {}
    key = config.get("unique_key") or "1"
    keys = [str(each) for each in (key if isinstance(key, list) else [key])]
    updated = str(config.get("updated_at") or "current_timestamp")
    parts = [f"({' || '.join(keys)} || {updated}) AS {names['dbt_scd_id']}"]
    parts += [f"{updated} AS {names[name]}" for name in ("dbt_updated_at", "dbt_valid_from", "dbt_valid_to")]
    if config.get("hard_deletes") == "new_record":
        parts.append(f"'False' AS {names['dbt_is_deleted']}")
    return f"SELECT snapshotted.*, {', '.join(parts)} FROM (", "\n) AS snapshotted"


def _around(before: str, made: Rendered, after: str = "") -> Rendered:
    """A rendered query in a statement. What is around it has the place of its beginning."""
    text = made.text.rstrip().rstrip(";").rstrip()
    pieces = [(at + len(before), place) for at, place in zip(made.starts, made.places) if at < len(text)]
    here = 0, 0, False
    starts, places = zip((0, here), *pieces, (len(before) + len(text), here))
    return replace(made, text=f"{before}{text}{after}", starts=starts, places=places)


def _joined(first: Rendered, second: Rendered) -> Rendered:
    """Two statements of one template."""
    size = len(first.text) + 3
    starts = (*first.starts, *(start + size for start in second.starts))
    return replace(
        first, text=f"{first.text}\n;\n{second.text}", starts=starts, places=(*first.places, *second.places)
    )


def _readers(renderer: Renderer, dialect: str, root: str) -> Iterator[Script]:
    """Exposures: who reads models outside of the project."""
    for path, exposure in renderer.resources.exposures:
        reads = dict.fromkeys(
            each for text in exposure.get("depends_on") or () for each in renderer.named_in(str(text))
        )
        name = str(exposure["name"])
        source = Source("", f"{path}:{name}")
        target = Relation(None, "exposure", name, dialect)
        if reads:
            yield reader_script(source, dialect, root, target, all_of(reads))


def _tables(renderer: Renderer) -> Iterator[SchemaTable]:
    """The tables that are loaded, not made: sources as they are declared, seeds as their files are."""
    for (group, name), source in renderer.resources.sources.items():
        yield table_of(renderer.source_as_read(group, name), declared(source), complete=False)
    for node in renderer.resources.nodes.values():
        if node.kind == "seed" and (names := seed_columns(node.path)):
            types = renderer.config(node).get("column_types") or {}
            yield table_of(renderer.relation(node), {name: types.get(name) for name in names}, complete=True)


def table_of(relation: Relation, columns: Mapping[str, Any], *, complete: bool) -> SchemaTable:
    """A relation with its columns."""
    known = tuple(ColumnSchema(name=name, data_type=str(type) if type else None) for name, type in columns.items())
    return SchemaTable(
        catalog=relation.database,
        schema=relation.schema,
        name=str(relation.identifier),
        columns=known,
        complete=complete,
    )
