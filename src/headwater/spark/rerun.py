"""The recipe of a commit run again by Spark: the tables that it read at their snapshots, the table that it wrote in a
warehouse of its own that is removed afterwards."""

import re
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
import sqlglot
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from sqlglot import ErrorLevel, exp
from sqlglot.errors import SqlglotError

from headwater.errors import CannotTellError, HeadwaterError
from headwater.lake.tables import Warehouse
from headwater.lake.tables.names import TableIdentifier
from headwater.provenance.commits import Commit
from headwater.provenance.files import check_files
from headwater.provenance.new_rows import fill_values
from headwater.provenance.rewriting import short
from headwater.provenance.sessions import RecipeSession, written_table
from headwater.provenance.spark_names import table_parts
from headwater.query.names import Pinned, is_cte
from headwater.query.parse import Node
from headwater.spark.cluster import is_here
from headwater.spark.lake import connect

_SCRATCH = "headwater_replay"
_MOMENT = re.compile(
    r"\s*(?:FOR\s+)?(?:(?:SYSTEM_)?VERSION|TIMESTAMP|SYSTEM_TIME)\s+AS\s+OF\s+(?:\d+|(?:TIMESTAMP\s*)?'[^']*')", re.I
)
_SAME = (
    *(exp.Sum, exp.Count, exp.Min, exp.Max, exp.Avg, exp.Coalesce, exp.Nullif, exp.Upper, exp.Lower, exp.Abs),
    *(exp.Extract, exp.Year, exp.Month, exp.Day, exp.Substring, exp.Case, exp.If, exp.Exists, exp.Any, exp.All),
    *(exp.RowNumber, exp.Rank, exp.DenseRank, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.Connector),
    *(exp.Floor, exp.Ceil, exp.Greatest, exp.Least, exp.Interval),
)
"""Functions that DuckDB and Spark compute alike, given the translation of sqlglot."""
_CASTS = {"DOUBLE", "FLOAT", "DECIMAL", "DATE", "TIMESTAMP", "BOOLEAN"}
_OTHER = (
    exp.Lambda,
    exp.Columns,
    exp.Bracket,
    exp.Struct,
    exp.Pivot,
    exp.Unnest,
    exp.Values,
    exp.RegexpLike,
    exp.Glob,
)


def rows_by(spark: SparkSession) -> Callable[[Warehouse, Commit], pa.Table]:
    """The function for `replay` that runs a recipe on a Spark."""
    return lambda warehouse, commit: replay_rows(spark, warehouse, commit)


def rows_now(spark: SparkSession) -> Callable[[Warehouse, Commit, Mapping[str, int]], pa.Table]:
    """The function for `rebuild` that runs a recipe on a Spark, on other states of its inputs."""

    def run(warehouse: Warehouse, commit: Commit, states: Mapping[str, int]) -> pa.Table:
        return replay_rows(spark, warehouse, commit, states)

    return run


def replay_rows(
    spark: SparkSession, warehouse: Warehouse, commit: Commit, states: Mapping[str, int] | None = None
) -> pa.Table:
    """The rows of a table as Spark gives them from its recipe, `states` of its inputs read in place of its own.
    RAISES: CannotTellError naming what is missing, or the part of the statement that Spark does not run alike."""
    if states is None:
        check_files(commit)
    fresh = spark.newSession()
    for name, value in ({"spark.sql.ansi.enabled": "true"} | commit.recipe.settings).items():
        fresh.conf.set(name, value)
    with _scratch(spark, warehouse) as scratch, RecipeSession(warehouse, commit, states, scratch=scratch) as session:
        run = _SparkRun(session)
        text = run.text()
        lake = connect(fresh, warehouse.url, catalog=run.catalog)
        connect(fresh, scratch.url, catalog=_SCRATCH)
        try:
            lake.sql(text).collect()
        except (PySparkException, HeadwaterError) as err:
            why = next((line for line in str(err).splitlines() if line.strip()), type(err).__name__)[:300]
            raise CannotTellError(f"the statement of {commit} does not run on this Spark: {why}") from err
        return scratch.table(commit.table.name).to_arrow()


@contextmanager
def _scratch(spark: SparkSession, lake: Warehouse) -> Iterator[Warehouse]:
    """A warehouse that every executor reaches: a folder of this machine, on a cluster one inside the lake's."""
    if is_here(spark.sparkContext.master or ""):
        with tempfile.TemporaryDirectory(prefix="headwater-replay-") as folder:
            yield Warehouse(folder)
        return
    made = Warehouse(f"{lake.url}/replay-{uuid.uuid4().hex}")
    try:
        yield made
    finally:
        for each in made.files.list(deep=True):
            if not each.is_folder:
                made.files.delete(each.path)


class _SparkRun:
    """One statement made ready for Spark: its tables are the states that it read."""

    def __init__(self, session: RecipeSession) -> None:
        self.session, self.commit = session, session.commit
        self.names = session.names_of(session.statement)
        self.catalog = "hw"

    def text(self) -> str:
        """The statement for Spark, the table that it changes in place as it was before.
        RAISES: CannotTellError for a part that may mean another thing there."""
        if self.commit.recipe.engine != "spark":
            self.session.put_base()  # also for CREATE TABLE AS, which becomes an INSERT
            return self._translated()
        tree: Node = sqlglot.parse_one(self.commit.text, read="spark")
        if not isinstance(tree, exp.Create):
            self.session.put_base()
        return self._renamed(tree)

    def _renamed(self, tree: Node) -> str:
        """A statement of Spark with other names of tables, and otherwise as it was."""
        text, target = self.commit.text, written_table(tree)
        tables = list(filter(_is_named, tree.find_all(exp.Table)))
        self.catalog = next((node.catalog for node in reversed(tables) if node.catalog), self.catalog)
        states = {
            id(node): self._target() if node is target else self._state(self.names.pin(node)) for node in tables
        }
        writes_only = isinstance(tree, exp.Insert | exp.Create)  # then no column is named with the target
        read = [node for node in tables if not (writes_only and node is target)]
        aliases = {id(node): _quoted(node.name) for node in read if states[id(node)].needs_alias(node)}
        edits = []
        for node in tables:
            start, end = _place(node.parts)
            moment = _MOMENT.match(text, end)
            alias = f" AS {aliases[id(node)]}" if id(node) in aliases else ""
            edits.append((start, moment.end() if moment else end, f"{states[id(node)].at_place_of(node)}{alias}"))
        database = self.commit.recipe.database or "default"
        for column in tree.find_all(exp.Column):
            parts, node = table_parts(column, read, database)
            if node is not None:
                edits.append((*_place(parts), aliases.get(id(node)) or states[id(node)].name))
        for start, end, name in sorted(edits, reverse=True):
            text = text[:start] + name + text[end:]
        return text

    def _translated(self) -> str:
        """A statement of DuckDB in Spark's dialect."""
        tree: Node = self.session.statement.tree
        check_alike(tree)
        target, names = written_table(tree), dict[str, str]()
        for node in list(filter(_is_named, tree.find_all(exp.Table))):
            mark = f"headwater_table_{len(names)}"
            state = self._target() if node is target else self._state(self._pinned(node))
            names[mark] = state.at_place_of(node)
            if node is not target and not node.alias:
                node.set("alias", exp.TableAlias(this=exp.to_identifier(node.name, quoted=True)))
            node.set("db", None)
            node.set("this", exp.to_identifier(mark))
        if isinstance(tree, exp.Create):
            tree = exp.Insert(this=target, expression=tree.expression)
        if self.commit.recipe.parameters:
            fill_values(tree, self.commit.recipe.parameters)
        try:
            text = str(tree.sql(dialect="spark", unsupported_level=ErrorLevel.RAISE))
        except SqlglotError as err:
            told = str(err).splitlines()[0]
            raise CannotTellError(f"the statement of {self.commit} has no translation for Spark: {told}") from err
        return re.sub(r"`?(headwater_table_\d+)`?", lambda found: names[found[1]], text)

    def _target(self) -> "_State":
        return _State(_SCRATCH, self.commit.table.name)

    def _pinned(self, node: Node) -> Pinned:
        """The state of a table that DuckDB read. RAISES: CannotTellError for files and tables of the system."""
        ref = self.names.ref_of(node)
        if ref is None or ref.system:
            raise CannotTellError(f"{self.commit} read `{node.name}`, which Spark may read in another way")
        return ref.pinned

    def _state(self, pinned: Pinned) -> "_State":
        """The state of a table that was read; one that has no name yet is copied."""
        scratch = self.session.warehouse
        if scratch.has_table(pinned.name) and pinned.name == self.commit.table.name:
            return self._target()
        id = pinned.state.snapshot_id
        kept = pinned.table.snapshot(id) if id > 0 else None
        if kept is not None and kept.schema_id == pinned.schema.id:
            return _State(self.catalog, pinned.name, id)
        if not scratch.has_table(pinned.name):  # empty, or columns were added before it was read
            scratch.create_database(pinned.name.database, if_not_exists=True)
            made = scratch.create_table(pinned.name, pinned.schema)
            if kept is not None:
                made.write(pinned.table.to_arrow(at=id))
        return _State(_SCRATCH, pinned.name)


@dataclass(frozen=True, slots=True)
class _State:
    """A state of a table, as Spark names it."""

    catalog: str
    table: TableIdentifier
    at: int | None = None

    def __str__(self) -> str:
        return self.name if self.at is None else f"{self.name} VERSION AS OF {self.at}"

    @property
    def name(self) -> str:
        return ".".join(map(_quoted, (self.catalog, self.table.database, self.table.table)))

    def at_place_of(self, node: Node) -> str:
        """The text for this state in place of a name. Spark takes no moment of a table that is merged as a whole."""
        return f"(SELECT * FROM {self})" if _is_merged(node) else str(self)

    def needs_alias(self, node: Node) -> bool:
        """Return whether columns named with the table as it is written would not be found by its name of now."""
        return not node.alias and (_is_merged(node) or node.name.casefold() != self.table.table.casefold())


def _is_merged(node: Node) -> bool:
    return isinstance(node.parent, exp.Merge) and node.arg_key == "using"


def check_alike(tree: Node) -> None:
    """RAISES: CannotTellError for a part of a statement that DuckDB and Spark do not compute alike."""
    for node in tree.walk():
        told = None
        if isinstance(node, exp.Cast):
            told = None if node.to.this.name in _CASTS else f"CAST AS {node.to.sql('duckdb')}"
        elif isinstance(node, _OTHER) or (isinstance(node, exp.Func) and not isinstance(node, _SAME)):
            told = f"`{short(node)}`"
        if told is not None:
            raise CannotTellError(f"it was made by DuckDB, and Spark may compute {told} in another way")


def _is_named(node: Node) -> bool:
    """Return whether a node is the name of a table, not of files and not of a common table expression."""
    return isinstance(node.this, exp.Identifier) and not is_cte(node) and not node.name.startswith("/")


def _place(parts: Sequence[Node]) -> tuple[int, int]:
    """Return where the parts of a name begin and end in the text."""
    return parts[0].meta["start"], parts[-1].meta["end"] + 1


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
