"""JDBC sources that read a query: its text goes through the lineage of SQL, its edges are joined to the plan's."""

import dataclasses
from collections.abc import Iterator

from headwater.analysis.door import analyze
from headwater.errors import HeadwaterError
from headwater.lineage.statement import RESULT, StatementLineage
from headwater.model.edges import ColumnRef, Edge, InfluenceClass, Kind
from headwater.model.names import TableName
from headwater.spark.agent.datasets import JdbcQuery, PlanDataset
from headwater.spark.agent.tables import jdbc_dataset

_ORDER = list(Kind)


def tables_of_query(query: JdbcQuery) -> tuple[dict[TableName, PlanDataset], tuple[Edge, ...]]:
    """The tables that a JDBC query reads, and the edges from them to its columns.

    Both are empty when the text cannot be understood: then the query itself is the dataset.
    """
    try:
        result = analyze(query.text, _DIALECTS.get(query.dialect, query.dialect))
    except HeadwaterError:  # a database that has no dialect here
        result = analyze(query.text)
    if result.has_errors:
        return {}, ()
    found = {name: jdbc_dataset(query.url, str(name)) for name in result.tables if name != RESULT}
    edges = []
    for edge in result.edges:
        table = found[edge.source.table].table if edge.source.table in found else edge.source.table
        source = ColumnRef(table, edge.source.column, edge.source.path)
        edges.append(dataclasses.replace(edge, source=source, source_span=None, target_span=None))
    return {each.table: each for each in found.values()}, tuple(edges)


_DIALECTS = {"derby": None, "h2": None, "hsqldb": None, "mssql": "tsql"}


def join_edges(lineage: StatementLineage, query: TableName, inner: tuple[Edge, ...]) -> StatementLineage:
    """The same lineage with each edge from the query replaced by edges from the columns behind it."""
    columns: dict[str, list[Edge]] = {}
    for edge in inner:
        columns.setdefault((edge.target.column or "").lower(), []).append(edge)
    edges: dict[tuple[ColumnRef, ColumnRef, Kind], Edge] = {}
    for edge in lineage.edges:
        for made in _joined(edge, query, columns):
            edges.setdefault((made.source, made.target, made.kind), made)
    for edge in columns.get("", ()):  # what decides about the rows of the query decides about rows here
        made = dataclasses.replace(edge, target=ColumnRef(lineage.output, None))
        edges.setdefault((made.source, made.target, made.kind), made)
    return dataclasses.replace(lineage, edges=tuple(edges.values()))


def _joined(edge: Edge, query: TableName, columns: dict[str, list[Edge]]) -> Iterator[Edge]:
    if edge.source.table != query or edge.source.column is None:
        yield edge
        return
    for below in columns.get(edge.source.column.lower(), ()):
        yield dataclasses.replace(
            edge,
            source=below.source,
            kind=_stronger(below.kind, edge.kind),
            masking=edge.masking or below.masking,
            approximate=edge.approximate or below.approximate,
        )


def _stronger(inner: Kind, outer: Kind) -> Kind:
    """The kind of a way of two steps: what is indirect stays so, else the stronger counts."""
    if outer.influence is not InfluenceClass.VALUE:
        return outer
    if inner.influence is not InfluenceClass.VALUE:
        return Kind.CONDITIONAL if inner.influence is InfluenceClass.ROW else inner
    return max(inner, outer, key=_ORDER.index)
