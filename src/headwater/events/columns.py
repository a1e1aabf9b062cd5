"""Column edges as the `columnLineage` facet, and back.

OpenLineage knows no MERGE condition; it is written as the FILTER it acts as. It has one text for how a column takes
part; where that was written and why it is in doubt stand behind it as a comment:

    sum(amount) -- at jobs/daily.py:22 -- in doubt: the columns of a UDF are not seen

Everything else of an edge but its spans comes back as it went.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from headwater.events.event import OutputDataset
from headwater.events.facets import ColumnLineageFacet, FieldLineage, InputField, Transformation, find_facet
from headwater.events.naming import DatasetName
from headwater.model.edges import ELEMENT, ColumnRef, Edge, Kind
from headwater.model.names import TableName

_AT, _DOUBT = " -- at ", " -- in doubt: "
_STEP = re.compile(r"\[\]|[^.\[\]]+")


def column_lineage(edges: Iterable[Edge], name: Callable[[TableName], DatasetName]) -> ColumnLineageFacet | None:
    """The facet of one output. Edges into the whole table go under `dataset`; edges from whole tables say nothing
    of columns and are left out. None when nothing remains."""
    fields: dict[str, dict[tuple[DatasetName, str], list[Transformation]]] = {}
    whole: dict[tuple[DatasetName, str], list[Transformation]] = {}
    for edge in edges:
        if edge.source.column is None:
            continue
        into = whole if edge.target.column is None else fields.setdefault(edge.target.name, {})
        ways = into.setdefault((name(edge.source.table), edge.source.name), [])
        place = _AT + edge.place if edge.place else ""
        doubt = _DOUBT + edge.approximate if edge.approximate else ""
        way = Transformation(
            type="DIRECT" if edge.kind.is_direct else "INDIRECT",
            subtype=Kind.FILTER.value if edge.kind is Kind.MERGE else edge.kind.value,
            description=((edge.expression or "") + place + doubt) or None,
            masking=edge.masking,
        )
        if way not in ways:
            ways.append(way)
    if not fields and not whole:
        return None
    return ColumnLineageFacet(
        fields={column: FieldLineage(input_fields=_inputs(entries)) for column, entries in fields.items()},
        dataset=tuple(_inputs(whole)),
    )


def _described(text: str | None) -> tuple[str | None, str | None, str | None]:
    """Expression, place and doubt of a description."""
    before, _, doubt = (text or "").partition(_DOUBT)
    expression, _, place = before.rpartition(_AT) if _AT in before else (before, "", "")
    return expression or None, place or None, doubt or None


def _inputs(entries: dict[tuple[DatasetName, str], list[Transformation]]) -> list[InputField]:
    return [
        InputField(namespace=dataset.namespace, name=dataset.name, field=field, transformations=tuple(ways))
        for (dataset, field), ways in entries.items()
    ]


def edges_into(output: OutputDataset, table: Callable[[DatasetName], TableName]) -> Iterator[Edge]:
    """The edges that an event reports into one of its outputs.
    RAISES: EventError when the facet is not well formed."""
    lineage = find_facet(ColumnLineageFacet, output.facets)
    if lineage is None:
        return
    target = table(DatasetName(output.namespace, output.name))
    for field, made in lineage.fields.items():
        for source in made.input_fields:
            yield from _edges(source, column_ref(target, field), table, made)
    for source in lineage.dataset:
        yield from _edges(source, ColumnRef(target, None), table, None)


def _edges(
    source: InputField, target: ColumnRef, table: Callable[[DatasetName], TableName], made: FieldLineage | None
) -> Iterator[Edge]:
    origin = column_ref(table(DatasetName(source.namespace, source.name)), source.field)
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


def column_ref(table: TableName, field: str) -> ColumnRef:
    """The column that a field's text names.

    >>> column_ref(TableName.of("t"), "items[].sku")
    ColumnRef(table=TableName(parts=('t',)), column='items', path=('[]', 'sku'))
    """
    steps = _STEP.findall(field)
    if len(steps) < 2 or "".join(step if step == ELEMENT else f".{step}" for step in steps) != f".{field}":
        return ColumnRef(table, field)
    return ColumnRef(table, steps[0], tuple(steps[1:]))
