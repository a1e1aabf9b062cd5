"""JDBC sources that read a query: its text goes through the lineage of SQL, its edges are joined to the plan's."""

import dataclasses
import re
from collections.abc import Iterable, Iterator

from msgspec import structs

from headwater.analysis.analyze import analyze
from headwater.errors import HeadwaterError
from headwater.lineage.statement import StatementLineage
from headwater.model.edges import ColumnRef, Edge, InfluenceClass, Kind
from headwater.model.names import TableName
from headwater.spark.agent.datasets import Behind, JdbcQuery
from headwater.spark.agent.tables import jdbc_dataset

_ORDER = list(Kind)
UNTOLD = "it cannot be told from which of"


def tables_of_query(query: JdbcQuery) -> Behind | None:
    """The tables behind a JDBC query; None when its text cannot be understood."""
    text = f"{query.prepared}\nSELECT * FROM ({query.text}) q" if _WITH.match(query.prepared) else query.text
    text = f"{query.prepared.strip('() ')};\n{text}" if query.prepared and text is query.text else text
    try:
        result = analyze(text, _DIALECTS.get(query.dialect, query.dialect))
    except HeadwaterError:  # a database that has no dialect here
        result = analyze(text)
    if result.has_errors or not result.statements:
        return None
    *before, last = result.statements
    for each in reversed(before):  # a table that was made for the query only
        last = join_edges(last, each.target, each.edges) if each.target is not None else last
    made = {each.target for each in before}
    names = (table.name for each in result.statements for table in each.sources)
    found = {name: jdbc_dataset(query.url, str(name)) for name in names if name not in made}
    edges = []
    for edge in last.edges:
        table = found[edge.source.table].table if edge.source.table in found else edge.source.table
        source = ColumnRef(table, edge.source.column, edge.source.path)
        edges.append(structs.replace(edge, source=source, source_span=None, target_span=None))
    return Behind({each.table: each for each in found.values()}, tuple(edges))


_WITH = re.compile(r"\s*with\b", re.IGNORECASE)
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
        made = structs.replace(edge, target=ColumnRef(lineage.output, None))
        if made.kind.influence is InfluenceClass.ROW:
            edges.setdefault((made.source, made.target, made.kind), made)
    return dataclasses.replace(lineage, edges=tuple(edges.values()))


def _joined(edge: Edge, query: TableName, columns: dict[str, list[Edge]]) -> Iterator[Edge]:
    if edge.source.table != query:
        yield edge
        return
    column = edge.source.column
    for below in columns.get((column or "").lower()) or _behind_star(column, columns.get("", ())):
        if column is None and below.kind.influence is not InfluenceClass.VALUE:
            continue
        yield structs.replace(
            edge,
            source=below.source,
            kind=_stronger(below.kind, edge.kind),
            masking=edge.masking or below.masking,
            approximate=edge.approximate or below.approximate,
        )


def _behind_star(column: str | None, whole: Iterable[Edge]) -> Iterator[Edge]:
    """The ways into a column that only `*` can have brought: the column of that name of the table behind the star.

    Where there are several such tables, it cannot be told which of them has it.
    """
    stars = [edge for edge in whole if edge.source.column is None and edge.kind.influence is InfluenceClass.VALUE]
    tables = dict.fromkeys(edge.source.table for edge in stars)
    for edge in stars:
        if len(tables) == 1:
            yield structs.replace(edge, source=ColumnRef(edge.source.table, column), approximate=None)
        else:
            listed = ", ".join(f"`{table.name}`" for table in tables)
            yield structs.replace(edge, approximate=f"{UNTOLD} {listed} the query's `*` takes `{column}`")


def _stronger(inner: Kind, outer: Kind) -> Kind:
    """The kind of a way of two steps: what is indirect stays so, else the stronger counts."""
    if outer.influence is not InfluenceClass.VALUE:
        return outer
    if inner.influence is not InfluenceClass.VALUE:
        return Kind.CONDITIONAL if inner.influence is InfluenceClass.ROW else inner
    return max(inner, outer, key=_ORDER.index)
