"""Walks over graphs that no memory holds: trace and impact as Spark joins, one for each step.

The answers are those of `LineageGraph`. The edges are read through the lake's data source, as of the state asked for;
only the nodes of a step and the edges that are taken come together.
"""

from collections.abc import Iterable, Iterator
from fnmatch import translate
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from headwater.errors import NotFoundError
from headwater.graph.index import Direction, EdgeIndex
from headwater.graph.questions import ALL, Answer, Node, Step
from headwater.graph.store import GraphState
from headwater.graph.tables import EDGES, WHOLE
from headwater.model.edges import InfluenceClass, Kind

_CARRIED = ("statement", "expression", "masking", "approximate", "file", "line", "start", "end", "observed")


def walk_on_spark(
    spark: SparkSession,
    state: GraphState,
    name: str,
    direction: Direction,
    *,
    depth: int | None = None,
    influences: Iterable[InfluenceClass] = ALL,
) -> Answer:
    """Everything upstream or downstream of a column, a dataset or a pattern.

    RAISES: NotFoundError when the name means nothing.
    """
    edges = _edges(spark, state).persist()
    try:
        return _walk(edges, name, direction, depth=depth, influences=tuple(influences))
    finally:
        edges.unpersist()


def _edges(spark: SparkSession, state: GraphState) -> DataFrame:
    reader = spark.read.format("headwater").option("warehouse", state.store.warehouse.url)
    pin = state.pins.get(EDGES.name)
    if pin is None:
        raise NotFoundError("there are no edges in this state of the graph")
    reader = reader.option("table", EDGES.full_name).option("at", str(pin))
    return reader.load().select(*EdgeIndex.columns())


def _walk(
    edges: DataFrame, name: str, direction: Direction, *, depth: int | None, influences: tuple[InfluenceClass, ...]
) -> Answer:
    kinds = [kind.value for kind in Kind if kind.influence in influences]
    starts = _starts(edges, name)
    wanted = edges.where(f.col("kind").isin(kinds))
    distance = dict.fromkeys(starts, 0)
    taken: dict[Step, None] = {}
    frontier, step, cut = starts, 0, False
    while frontier:
        leaving = dict.fromkeys(_leaving(wanted, frontier, direction))
        new = [each for each in leaving if each not in taken]
        if depth is not None and step >= depth:
            cut = bool(new)
            break
        taken |= dict.fromkeys(new)
        step += 1
        ends = sorted({each.source if direction is Direction.UPSTREAM else each.target for each in new})
        frontier = [node for node in ends if node not in distance]
        distance |= dict.fromkeys(frontier, step)
    ordered = dict(sorted(distance.items(), key=lambda item: (item[1], item[0])))
    return Answer(tuple(starts), ordered, tuple(sorted(taken, key=_in_order)), direction, cut)


def _starts(edges: DataFrame, name: str) -> list[Node]:
    """The nodes that a name means, looked for as `LineageGraph` does: exactly, in any case, as a pattern."""
    ends = [edges.select(f.col(one).alias("dataset"), f.col(other).alias("column")) for one, other in _ENDS]
    nodes = reduce(DataFrame.unionAll, ends).distinct()
    for condition in _ways(name):
        found = sorted(Node(row[0], row[1]) for row in nodes.where(condition).collect())
        if found:
            return found
    raise NotFoundError(f"nothing in the graph is called `{name}`", hint="`headwater search TEXT` looks for names")


def _ways(name: str) -> Iterator[Column]:
    dataset, column = f.col("dataset"), f.col("column")
    yield dataset == name
    before, _, after = name.rpartition(".")
    while before:
        yield (dataset == before) & (column == after)
        before, _, rest = before.rpartition(".")
        after = f"{rest}.{after}"
    whole = f.concat(dataset, f.lit("."), column)
    yield (f.lower(dataset) == name.lower()) | (f.lower(whole) == name.lower())
    if any(char in name for char in "*?["):
        yield whole.rlike(f"(?i)^{translate(name)}")


_ENDS = (("source", "source_column"), ("target", "target_column"))


def _leaving(edges: DataFrame, nodes: list[Node], direction: Direction) -> list[Step]:
    """The edges that a walk takes from some nodes."""
    spark = edges.sparkSession
    rows = [(node.dataset, node.column) for node in nodes]
    here = spark.createDataFrame(rows, "at_dataset string, at_column string")
    upstream = direction is Direction.UPSTREAM
    dataset, column = (
        f.col("target" if upstream else "source"),
        f.col("target_column" if upstream else "source_column"),
    )
    at = f.col("at_column")
    near = (column == at) | _inside(column, at) | _inside(at, column)
    if upstream:
        near = near | (column == WHOLE)
    else:
        values = [kind.value for kind in Kind if kind.influence is InfluenceClass.VALUE]
        near = near | (at == WHOLE) | ((column == WHOLE) & f.col("kind").isin(values))
    joined = edges.join(f.broadcast(here), (dataset == f.col("at_dataset")) & near, "left_semi")
    return [
        Step(
            source=Node(row["source"], row["source_column"]),
            target=Node(row["target"], row["target_column"]),
            kind=Kind(row["kind"]),
            **{each: row[each] for each in _CARRIED},
        )
        for row in joined.collect()
    ]


def _inside(inner: Column, outer: Column) -> Column:
    """Whether a column is a field inside another."""
    return inner.startswith(f.concat(outer, f.lit("."))) | inner.startswith(f.concat(outer, f.lit("[")))


def _in_order(step: Step) -> tuple[str, ...]:
    ends = step.target.dataset, step.target.column, step.source.dataset, step.source.column
    return step.statement, *ends, step.kind.value
