"""A session that carries out the statement of a commit again: its inputs are the states that the commit read, and
what it writes goes to a table of its own in memory."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from headwater.errors import CannotTellError, HeadwaterError
from headwater.files import MemoryFiles
from headwater.lake.metadata.snapshot import InputVersion
from headwater.lake.tables import Table, Warehouse
from headwater.lake.tables.names import TableIdentifier
from headwater.lake.tables.warehouse import KnownTables
from headwater.provenance.commits import Commit, Versions, pinned_input
from headwater.provenance.spark_names import table_parts
from headwater.query.dataset import LakeTable
from headwater.query.names import Names, Pinned
from headwater.query.parse import Node, SqlStatement, TimeTravel, parse_statements
from headwater.query.sandbox import ReadLimits
from headwater.query.session import Session
from headwater.text import Source


@dataclass
class PinnedNames(Names):
    """The tables of a statement as a commit read them; the table that it wrote is the one in memory."""

    commit: Commit = field(kw_only=True)
    lake: Warehouse = field(kw_only=True)
    versions: Versions = field(kw_only=True)

    def table_name(self, node: Node) -> TableIdentifier:
        """The name of a table that the commit read or wrote, whatever its case; Spark's names have a catalog. The
        table that it wrote goes by the name that it has now."""
        database = node.args.get("db")
        wanted = TableIdentifier(database.name if database else self.database, node.name)
        for each in self.commit.origin.inputs:
            if str(_identifier(each.dataset)).casefold() == str(wanted).casefold():
                return self.commit.table.name if self._is_own(each) else _identifier(each.dataset)
        own, target = self.commit.table.name, written_table(self.statement.tree)
        written = (target.db or self.database, target.name) if target is not None else (own.database, own.table)
        return own if str(TableIdentifier(*written)).casefold() == str(wanted).casefold() else wanted

    def _is_own(self, read: InputVersion) -> bool:
        """Return whether a table that was read is the one that was written."""
        own = self.commit.table
        return _identifier(read.dataset) == own.name or read.table_uuid == (own.store.table_uuid or "")

    def _pinned(self, name: TableIdentifier, version: TimeTravel | None) -> Pinned:
        if version is None and name == self.commit.table.name and self.warehouse.has_table(name):
            table = self.warehouse.table(name)
            return Pinned(table, table.store.latest())
        return pinned_input(self.lake, self._read(name, version), self.commit.snapshot.timestamp, self.versions)

    def _read(self, name: TableIdentifier, version: TimeTravel | None) -> InputVersion:
        """The state of a table that the commit read. RAISES: CannotTellError when it is not known."""
        moment = "" if version is None else " ".join(self.statement.source.text[version.start : version.end].split())
        own = self.commit.table.name
        found = [
            each
            for each in self.commit.origin.inputs
            if (each.moment or "") == moment and name == (own if self._is_own(each) else _identifier(each.dataset))
        ]
        if len({each.snapshot_id for each in found}) > 1:
            raise CannotTellError(f"{self.commit} read several states of {name}, and which stood where is not known")
        if found:
            return found[0]
        if name == own and not moment:  # of an INSERT, only the columns matter
            needed = not isinstance(self.statement.tree, exp.Insert | exp.Create)
            return InputVersion(dataset=str(name), snapshot_id=self.commit.base or 0 if needed else 0)
        raise CannotTellError(f"which state of {name} {self.commit} read is not known")

    def are_outdated(self) -> bool:
        return False


def _identifier(dataset: str) -> TableIdentifier:
    database, _, table = dataset.partition("$")[0].rpartition(".")
    return TableIdentifier(database, table)


class RecipeSession(Session):
    """A session on the states that one commit read; `versions` are read in place of some."""

    def __init__(
        self,
        lake: Warehouse,
        commit: Commit,
        versions: Versions | None = None,
        *,
        scratch: Warehouse | None = None,
        bounds: ReadLimits | None = None,
    ) -> None:
        scratch = scratch or Warehouse(MemoryFiles())
        super().__init__(scratch, database=commit.recipe.database or "default", bounds=bounds)
        self.lake, self.commit, self.versions = lake, commit, versions or {}
        self.statement = read_statement(commit)
        scratch.create_database(commit.table.name.database, if_not_exists=True)

    def names_of(self, statement: SqlStatement) -> Names:
        """The tables of a statement: those that the commit read."""
        return PinnedNames(
            *(self.warehouse, self.database, statement, KnownTables(self.warehouse)),
            commit=self.commit,
            lake=self.lake,
            versions=self.versions,
        )

    def again(self) -> Table:
        """Carry out the statement on the state that the commit changed, and return the table as it then is.
        RAISES: CannotTellError when a state that was read is gone, or the statement does not run any more."""
        commit, name = self.commit, self.commit.table.name
        if not isinstance(self.statement.tree, exp.Create):
            self.put_base()
        try:
            self._carried_out(self.statement, commit.recipe.parameters)
        except CannotTellError:
            raise
        except HeadwaterError as err:
            raise CannotTellError(f"the statement of {commit} does not run any more: {err.message}") from err
        return self.warehouse.table(name)

    def put_base(self) -> Table:
        """The table in memory with the rows that it had before the commit."""
        commit = self.commit
        store = commit.table.store
        schema = store.shape(commit.snapshot.schema_id).schema
        table = self.warehouse.create_table(commit.table.name, schema)
        base = commit.base
        reads_itself = any(each.dataset == str(commit.table.name) for each in commit.origin.inputs)
        unneeded = not reads_itself and _replaces_all(self.statement.tree, bool(schema.partition_keys))
        if base is not None and not unneeded:
            read = InputVersion(dataset=str(commit.table.name), snapshot_id=base)
            pinned = pinned_input(self.lake, read, commit.snapshot.timestamp)
            names = [name for name in schema.names if name in pinned.schema.names]
            table.write(LakeTable(pinned, (), self._cache, self._engine.readers).scanned(names).read_all())
        return table


def written_table(tree: Node) -> Node:
    """The node of the table that a statement writes, None for one that writes none."""
    found = tree.this
    found = found.this if isinstance(found, exp.Schema) else found
    return found if isinstance(found, exp.Table) else None


def _replaces_all(tree: Node, partitioned: bool) -> bool:
    """Return whether a statement leaves nothing of the table as it was."""
    overwrites = isinstance(tree, exp.Insert) and bool(tree.args.get("overwrite"))
    return isinstance(tree, exp.TruncateTable) or (overwrites and not partitioned)


def read_statement(commit: Commit) -> SqlStatement:
    """The statement of a commit, in DuckDB's dialect.
    RAISES: CannotTellError when it is not one statement that can be read."""
    text = commit.text
    try:
        if commit.recipe.engine == "spark":
            text = from_spark(text, commit.recipe.database or "default")
        found = list(parse_statements(Source(text)))
    except (HeadwaterError, SqlglotError) as err:
        why = err.message if isinstance(err, HeadwaterError) else str(err).splitlines()[0]
        raise CannotTellError(f"the statement of {commit} cannot be read: {why}") from err
    if len(found) != 1:
        raise CannotTellError(f"{commit} was not made by one statement")
    return found[0]


_READERS = {"csv": "read_csv({}, header = true, all_varchar = true)", "parquet": "read_parquet({})"}


def _literal(node: Node) -> str:
    """The path of files as a text of SQL; of a folder, all files in it."""
    path = f"{node.name}/*.{node.db}" if Path(node.name).is_dir() else node.name
    return "'" + path.replace("'", "''") + "'"


def from_spark(text: str, database: str = "default") -> str:
    """A statement of Spark in DuckDB's dialect, its tables named without their catalog."""
    tree: Any = sqlglot.parse_one(text, read="spark")
    tables = list(tree.find_all(exp.Table))
    for column in tree.find_all(exp.Column):
        if len(table_parts(column, tables, database)[0]) == 3:  # else the field of a field of a column
            column.set("catalog", None)
    for node in tables:
        node.set("catalog", None)
        if node.db in _READERS and node.name.startswith("/"):
            node.set("this", sqlglot.parse_one(_READERS[node.db].format(_literal(node)), dialect="duckdb"))
            node.set("db", None)
    if isinstance(tree, exp.Create) and tree.expression is not None:  # the types of the table are those of Spark
        tree = exp.Insert(this=written_table(tree), expression=tree.expression)
    return str(tree.sql(dialect="duckdb"))
