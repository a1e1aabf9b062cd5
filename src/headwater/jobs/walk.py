"""Questions to graphs that no memory holds: `trace`, `impact`, `path` and `unused` as Spark joins, one for each step.

The answers are those of `LineageGraph`. The edges are read through the lake's data source, as of the state asked for.
The nodes of a step and those that were reached stay in DataFrames; only the answer comes to the driver, and only if
it is small enough to be shown.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property
from shlex import quote
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from headwater.errors import MemoryLimitError, NotFoundError
from headwater.graph.index import Direction, EdgeIndex
from headwater.graph.questions import ALL, SCRATCH, Answer, marked, step_of
from headwater.graph.steps import Node, Step
from headwater.graph.store import GraphState, arrow_schema
from headwater.graph.tables import COLUMNS, DATABASE, DATASETS, EDGES, WHOLE, TableSpec
from headwater.model.edges import InfluenceClass, Kind

MOST_ROWS = 200_000
"""An answer of more nodes or edges is refused: the driver would hold it whole."""
_BROADCAST = 100_000  # nodes: more are joined by a shuffle
_STEPS_APART = 8
_WALKED = ("source", "source_column", "target", "target_column", "kind")
_NODE = ("dataset", "column")
_NODE_TYPES = "dataset string, column string"
_VALUES = [kind.value for kind in Kind if kind.influence is InfluenceClass.VALUE]


@dataclass(frozen=True, slots=True)
class _Nodes:
    """Nodes in a DataFrame (dataset, column, step), and how many there are."""

    frame: DataFrame
    count: int

    def at(self, condition: Column) -> "_Nodes":
        """Some of the nodes; they are counted no more exactly than all of them."""
        return _Nodes(self.frame.where(condition), self.count)


class SparkGraph:
    """The graph at one state, asked on Spark. A context: what it keeps on the executors goes when the block ends."""

    def __init__(self, spark: SparkSession, state: GraphState) -> None:
        self.spark = spark
        self.state = state

    def __enter__(self) -> "SparkGraph":
        return self

    def __exit__(self, *_: object) -> None:
        self._walked.unpersist()

    def trace(self, name: str, *, depth: int | None = None, influences: Iterable[InfluenceClass] = ALL) -> Answer:
        """Everything that a column or the columns of a dataset are made of.

        RAISES: NotFoundError when the name means nothing, MemoryLimitError for an answer that is too large.
        """
        return self._walk(name, Direction.UPSTREAM, depth, influences)

    def impact(self, name: str, *, depth: int | None = None, influences: Iterable[InfluenceClass] = ALL) -> Answer:
        """Everything that is made of a column or a dataset. RAISES: as `trace`."""
        return self._walk(name, Direction.DOWNSTREAM, depth, influences)

    def path(self, source: str, target: str, *, influences: Iterable[InfluenceClass] = ALL) -> Answer:
        """Everything that lies on some way from one column or dataset to another; no steps when there is no way.

        RAISES: as `trace`.
        """
        wanted = _of_kinds(self._walked, influences)
        starts, ends = self._starts(source), self._starts(target)
        down = _reach(wanted, starts, Direction.DOWNSTREAM, None)
        up = _reach(wanted, ends, Direction.UPSTREAM, None)
        edges = _leaving(_of_kinds(self._edges, influences), down, Direction.DOWNSTREAM)
        steps = _steps(_leaving(edges, up, Direction.UPSTREAM))
        on_the_way = sorted({node for step in steps for node in (step.source, step.target)})
        rows = [(node.dataset, node.column) for node in on_the_way]
        named = self.spark.createDataFrame(rows, _NODE_TYPES)
        distance = _distance(down.frame.join(f.broadcast(named), list(_NODE), "left_semi"))
        return marked(self, Answer(_sorted_nodes(starts.frame), distance, steps, Direction.DOWNSTREAM))

    def entering(self, nodes: Iterable[Node]) -> tuple[Step, ...]:
        """The edges into some columns along which values flow."""
        rows = [(node.dataset, node.column) for node in nodes]
        ends = _Nodes(self.spark.createDataFrame(rows, _NODE_TYPES), len(rows))
        return _steps(_leaving(_of_kinds(self._edges, (InfluenceClass.VALUE,)), ends, Direction.UPSTREAM))

    def unused(self, like: str | None = None) -> list[Node]:
        """Columns that are made and that nothing reads, or those like a pattern, as `LineageGraph.unused` says.

        RAISES: MemoryLimitError when there are too many to be shown.
        """
        read, made = (_ends(self._walked, end) for end in ("source", "target"))
        known = self._read(COLUMNS, _NODE).unionAll(made).where(f.col("column") != WHOLE)
        if like is None:
            scratch = self._read(DATASETS, ["dataset", "kind"]).where(f.col("kind").isin(*SCRATCH)).select("dataset")
            wanted = made.select("dataset").distinct().join(scratch, ["dataset"], "left_anti")
            known = known.join(wanted.where(~f.col("dataset").startswith(f"{DATABASE}.")), ["dataset"], "left_semi")
        else:
            whole = f.concat_ws(".", "dataset", "column")
            known = known.where(whole.rlike(_regex(like)) | f.col("dataset").rlike(_regex(like)))
        root = f.regexp_extract("column", r"^[^.\[]*", 0)
        roots = read.select("dataset", root.alias("root")).distinct()
        wholes = read.where(f.col("column") == WHOLE).select("dataset").distinct()
        unread = known.distinct().withColumn("root", root).join(roots, ["dataset", "root"], "left_anti")
        return list(_sorted_nodes(unread.join(wholes, ["dataset"], "left_anti")))

    # --------------------------------------------------------------------------------------------- internals

    @cached_property
    def _edges(self) -> DataFrame:
        return self._read(EDGES, EdgeIndex.columns())

    @cached_property
    def _walked(self) -> DataFrame:
        """The columns of the edges that decide where a walk goes, kept on the executors."""
        return self._read(EDGES, _WALKED).persist()

    def _read(self, spec: TableSpec, columns: Iterable[str]) -> DataFrame:
        names, pin = list(columns), self.state.pins.get(spec.name)
        if pin is None:
            return self.spark.createDataFrame(arrow_schema(spec).empty_table()).select(*names)
        reader = self.spark.read.format("headwater").option("warehouse", self.state.store.warehouse.url)
        reader = reader.option("table", spec.full_name).option("at", str(pin)).option("columns", ",".join(names))
        return reader.load()

    def _walk(
        self, name: str, direction: Direction, depth: int | None, influences: Iterable[InfluenceClass]
    ) -> Answer:
        influences = tuple(influences)
        wanted = _of_kinds(self._walked, influences)
        starts = self._starts(name)
        reached = _reach(wanted, starts, direction, depth)
        left = reached if depth is None else reached.at(f.col("step") < depth)
        steps = _steps(_leaving(_of_kinds(self._edges, influences), left, direction))
        cut = depth is not None and _is_cut(wanted, reached, direction, depth)
        nodes, distance = _sorted_nodes(starts.frame), _distance(reached.frame)
        return marked(self, Answer(nodes, distance, steps, direction, cut))

    def _starts(self, name: str) -> _Nodes:
        """The nodes that a name means, looked for as `LineageGraph` does: exactly, in any case, as a pattern."""
        way = f.lit(None).cast("int")
        for number, condition in reversed(list(enumerate(_ways(name)))):
            way = f.when(condition, number).otherwise(way)
        ends = _ends(self._walked, "source").unionAll(_ends(self._walked, "target"))
        found = ends.withColumn("way", way).where(f.col("way").isNotNull()).distinct().localCheckpoint()
        best = found.agg(f.min("way")).collect()[0][0]
        if best is None:
            raise NotFoundError(
                f"nothing in the graph is called `{name}`", hint=f"`headwater search {quote(name)}` looks for names"
            )
        starts = found.where(f.col("way") == best).select(*_NODE, f.lit(0).alias("step"))
        return _Nodes(starts, starts.count())


def _reach(edges: DataFrame, starts: _Nodes, direction: Direction, depth: int | None) -> _Nodes:
    """Every node that is reached in at most `depth` steps, with the number of steps to it."""
    reached = frontier = starts
    step = 0
    while depth is None or step < depth:
        step += 1
        end = "source" if direction is Direction.UPSTREAM else "target"
        ends = _ends(_leaving(edges, frontier, direction), end).distinct()
        seen = f.broadcast(reached.frame) if reached.count <= _BROADCAST else reached.frame
        new = ends.join(seen, list(_NODE), "left_anti").select(*_NODE, f.lit(step).alias("step")).localCheckpoint()
        frontier = _Nodes(new, new.count())
        if not frontier.count:
            break
        together = reached.frame.unionAll(new)
        if step % _STEPS_APART == 0:  # else the plans of deep walks grow with every step
            together = together.localCheckpoint()
        reached = _Nodes(together, reached.count + frontier.count)
    return reached


def _is_cut(edges: DataFrame, reached: _Nodes, direction: Direction, depth: int) -> bool:
    """Return whether edges lead on from the nodes at the depth that ended a walk."""
    beyond = _leaving(edges, reached.at(f.col("step") == depth), direction)
    return not _leaving(beyond, reached.at(f.col("step") < depth), direction, how="left_anti").isEmpty()


def _leaving(edges: DataFrame, nodes: _Nodes, direction: Direction, *, how: str = "left_semi") -> DataFrame:
    """The edges that a walk takes from some nodes, or with `left_anti` those that it does not take."""
    here = nodes.frame.select(f.col("dataset").alias("at_dataset"), f.col("column").alias("at_column"))
    upstream = direction is Direction.UPSTREAM
    end = "target" if upstream else "source"
    column, at = f.col(f"{end}_column"), f.col("at_column")
    near = (column == at) | _inside(column, at) | _inside(at, column)
    if upstream:
        near = near | (column == WHOLE)
    else:
        near = near | (at == WHOLE) | ((column == WHOLE) & f.col("kind").isin(_VALUES))
    if nodes.count <= _BROADCAST:
        here = f.broadcast(here)
    return edges.join(here, (f.col(end) == f.col("at_dataset")) & near, how)


def _inside(inner: Column, outer: Column) -> Column:
    """Return whether a column is a field inside another."""
    return inner.startswith(f.concat(outer, f.lit("."))) | inner.startswith(f.concat(outer, f.lit("[")))


def _ends(edges: DataFrame, end: str) -> DataFrame:
    return edges.select(f.col(end).alias("dataset"), f.col(f"{end}_column").alias("column"))


def _of_kinds(edges: DataFrame, influences: Iterable[InfluenceClass]) -> DataFrame:
    wanted = set(influences)
    return edges.where(f.col("kind").isin([kind.value for kind in Kind if kind.influence in wanted]))


def _ways(name: str) -> Iterator[Column]:
    """The conditions under which a name means a node; the first that some node meets counts."""
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
        yield whole.rlike(f"(?iu){_regex(name)}")


def _regex(pattern: str) -> str:
    """A file pattern as a regular expression of Java's for the whole of a text."""
    return f"^{translate(pattern)}"


def _collected(frame: DataFrame) -> list[dict[str, Any]]:
    """The rows of an answer. RAISES: MemoryLimitError when there are more than are shown."""
    rows: list[dict[str, Any]] = frame.limit(MOST_ROWS + 1).toArrow().to_pylist()
    if len(rows) > MOST_ROWS:
        raise MemoryLimitError(
            f"the answer has more than {MOST_ROWS:,} rows",
            hint="ask for a column instead of a table, with --depth, --influence or --like, or query lineage.edges",
        )
    return rows


def _sorted_nodes(frame: DataFrame) -> tuple[Node, ...]:
    return tuple(sorted(Node(row["dataset"], row["column"]) for row in _collected(frame.select(*_NODE))))


def _distance(reached: DataFrame) -> dict[Node, int]:
    found = {Node(row["dataset"], row["column"]): row["step"] for row in _collected(reached)}
    return dict(sorted(found.items(), key=lambda item: (item[1], item[0])))


def _steps(edges: DataFrame) -> tuple[Step, ...]:
    """Edges as the steps of an answer, in the order of their keys."""
    rows = sorted(_collected(edges), key=lambda row: tuple(row[name] for name in EDGES.key))
    return tuple(map(step_of, rows))
