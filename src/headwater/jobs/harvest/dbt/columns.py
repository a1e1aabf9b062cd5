"""The columns of relations, for templates that ask: seeds and sources as they are declared, models as analysed."""

from typing import TYPE_CHECKING, Any

from headwater.jobs.harvest.dbt.resources import DbtNode, DbtSource, seed_columns
from headwater.jobs.harvest.dbt.values import DbtColumn, Relation
from headwater.lineage.resolver import SchemaResolver
from headwater.lineage.schema import ColumnSchema, SchemaMetadata, SchemaTable
from headwater.lineage.script import analyze_script
from headwater.sql.frontend import SqlFrontEnd
from headwater.text import Source

if TYPE_CHECKING:
    from headwater.jobs.harvest.dbt.renderer import Renderer


def columns_of(renderer: "Renderer", relation: Any) -> list[DbtColumn]:
    """The columns of a relation. When they are not known there are none, and the template is in doubt."""
    known = _known(renderer, relation.origin) if isinstance(relation, Relation) else {}
    if not known:
        name = str(getattr(relation, "identifier", relation))
        message = f"the template asks for the columns of `{name}`, which are not known"
        renderer.environment.doubt(message, name, "declare them in the project's YAML, or harvest the manifest")
    unknown = renderer.environment.scope["api"].Column.translate_type("string")
    return [DbtColumn(name, type or unknown, renderer.dialect) for name, type in known.items()]


def _known(renderer: "Renderer", origin: DbtNode | DbtSource | None) -> dict[str, str | None]:
    match origin:
        case DbtNode(kind="seed"):
            types = renderer.config(origin).get("column_types") or {}
            return {name: types.get(name) for name in seed_columns(origin.path)}
        case DbtNode():
            if origin.unique_id not in renderer.columns:
                renderer.columns[origin.unique_id] = origin.columns()  # for a circle
                analysed = {} if origin.is_python else _analysed(renderer, origin)
                renderer.columns[origin.unique_id] = analysed or origin.columns()
            return renderer.columns[origin.unique_id]
        case DbtSource():
            return declared(origin)
    return {}


def declared(source: DbtSource) -> dict[str, str | None]:
    """The columns that are declared for a source, with their types where these are."""
    found = {
        str(each["name"]): each.get("data_type")
        for each in source.properties.get("columns") or ()
        if each.get("name")
    }
    return {name: str(type) if type else None for name, type in found.items()}


def _analysed(renderer: "Renderer", node: DbtNode) -> dict[str, str | None]:
    made = renderer.render(node)
    if made.failure is not None:
        return {}
    tables = []
    for relation in made.reads:
        columns = [
            ColumnSchema(name=name, data_type=type) for name, type in _known(renderer, relation.origin).items()
        ]
        if columns:
            database, schema, name = relation.database, relation.schema, str(relation.identifier)
            tables.append(SchemaTable(catalog=database, schema=schema, name=name, columns=tuple(columns)))
    resolver = SchemaResolver(SchemaMetadata(tables=tuple(tables)), dialect=renderer.dialect)
    text = Source(f"CREATE VIEW {RESULT} AS {made.full.text}")
    for _ in analyze_script(text, SqlFrontEnd(renderer.dialect), resolver):
        pass
    found = [table for table in resolver.resolved().tables if table.name.lower() == RESULT]
    return {column.name: column.data_type for column in found[0].columns} if found else {}


RESULT = "headwater_model"
