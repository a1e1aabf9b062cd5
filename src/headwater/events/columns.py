"""Column edges as the `columnLineage` facet, and back.

The facet names columns as the schema facet does. What leads into a column, or out of one (`items[].sku`), stands in a
facet of ours beside it: in a name, a path could not be told from a column that is called so.

OpenLineage knows no MERGE condition; it is written as the FILTER it acts as. It has one text for how a column takes
part; where that was written and why it is in doubt stand behind it as a comment:

    sum(amount) -- at jobs/daily.py:22 -- in doubt: the columns of a UDF are not seen

Everything else of an edge but its spans comes back as it went.
"""

from collections.abc import Callable, Iterable, Iterator

from headwater.events.event import OutputDataset
from headwater.events.facet import Facet, find_facet
from headwater.events.facets import (
    ColumnLineageFacet,
    ColumnPath,
    ColumnPathsFacet,
    FieldLineage,
    InputField,
    Transformation,
)
from headwater.events.naming import DatasetName
from headwater.model.edges import ColumnRef, Edge, Kind
from headwater.model.names import TableName

_AT, _DOUBT = " -- at ", " -- in doubt: "


def column_lineage(edges: Iterable[Edge], name: Callable[[TableName], DatasetName]) -> tuple[Facet, ...]:
    """The facets of one output: `columnLineage`, and the paths inside columns if there are any. Edges into the whole
    table go under `dataset`; edges from whole tables say nothing of columns and are left out."""
    pairs: dict[tuple[str | None, DatasetName, str], list[Edge]] = {}
    for edge in edges:
        if edge.source.column is not None:
            pairs.setdefault((edge.target.column, name(edge.source.table), edge.source.column), []).append(edge)
    if not pairs:
        return ()
    fields: dict[str, list[InputField]] = {}
    whole: list[InputField] = []
    paths: list[ColumnPath] = []
    for (column, dataset, source), between in pairs.items():
        into = whole if column is None else fields.setdefault(column, [])
        into.append(_input(dataset, source, between))
        places = dict.fromkeys((edge.target.path, edge.source.path) for edge in between)
        for path, inner in places if any(map(any, places)) else ():
            ways = [edge for edge in between if (edge.target.path, edge.source.path) == (path, inner)]
            paths.append(ColumnPath(field=column, path=path, input=_input(dataset, source, ways), input_path=inner))
    lineage = ColumnLineageFacet(
        fields={column: FieldLineage(input_fields=inputs) for column, inputs in fields.items()},
        dataset=tuple(whole),
    )
    return (lineage, ColumnPathsFacet(paths=tuple(paths))) if paths else (lineage,)


def _input(dataset: DatasetName, field: str, edges: list[Edge]) -> InputField:
    ways = tuple(dict.fromkeys(map(_way, edges)))
    return InputField(namespace=dataset.namespace, name=dataset.name, field=field, transformations=ways)


def _way(edge: Edge) -> Transformation:
    place = _AT + edge.place if edge.place else ""
    doubt = _DOUBT + edge.approximate if edge.approximate else ""
    return Transformation(
        type="DIRECT" if edge.kind.is_direct else "INDIRECT",
        subtype=Kind.FILTER.value if edge.kind is Kind.MERGE else edge.kind.value,
        description=((edge.expression or "") + place + doubt) or None,
        masking=edge.masking,
    )


def _described(text: str | None) -> tuple[str | None, str | None, str | None]:
    """Expression, place and doubt of a description."""
    before, _, doubt = (text or "").partition(_DOUBT)
    expression, _, place = before.rpartition(_AT) if _AT in before else (before, "", "")
    return expression or None, place or None, doubt or None


def edges_into(output: OutputDataset, table: Callable[[DatasetName], TableName]) -> Iterator[Edge]:
    """The edges that an event reports into one of its outputs.
    RAISES: EventError when the facet is not well formed."""
    lineage = find_facet(ColumnLineageFacet, output.facets)
    if lineage is None:
        return
    target = table(DatasetName(output.namespace, output.name))
    paths = find_facet(ColumnPathsFacet, output.facets)
    nested = set()
    for each in paths.paths if paths is not None else ():
        nested.add((each.field, each.input.namespace, each.input.name, each.input.field))
        into = ColumnRef(target, each.field, each.path)
        yield from _edges(each.input, into, table, None, path=each.input_path)
    given: list[tuple[str | None, FieldLineage | None, InputField]] = [
        (field, made, source) for field, made in lineage.fields.items() for source in made.input_fields
    ]
    for field, made, source in [*given, *((None, None, source) for source in lineage.dataset)]:
        if (field, source.namespace, source.name, source.field) not in nested:
            yield from _edges(source, ColumnRef(target, field), table, made)


def _edges(
    source: InputField,
    target: ColumnRef,
    table: Callable[[DatasetName], TableName],
    made: FieldLineage | None,
    path: tuple[str, ...] = (),
) -> Iterator[Edge]:
    origin = ColumnRef(table(DatasetName(source.namespace, source.name)), source.field, path)
    if not source.transformations:  # events of before version 1-1: one transformation for the whole field, or none
        masked = made is not None and made.transformation_type == "MASKED"
        identity = made is not None and made.transformation_type == "IDENTITY"
        kind = Kind.IDENTITY if identity else Kind.TRANSFORMATION if target.column is not None else Kind.FILTER
        yield Edge(origin, target, kind, made.transformation_description if made else None, masking=masked)
    for way in source.transformations:
        text, place, doubt = _described(way.description)
        yield Edge(origin, target, _kind(way, target), text, masking=way.masking, approximate=doubt, place=place)


def _kind(way: Transformation, target: ColumnRef) -> Kind:
    try:
        return Kind(way.subtype)
    except ValueError:  # a subtype of the producer's own: the type decides
        if way.type == "DIRECT":
            return Kind.TRANSFORMATION
        return Kind.CONDITIONAL if target.column is not None else Kind.FILTER
