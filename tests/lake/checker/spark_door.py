"""The door of Spark: statements on the catalog, with the verbs of `doors.py`."""

from typing import Any

import pyarrow as pa
from tests.lake.checker.doors import PythonDoor, Rows, key_fields, key_rows
from tests.lake.checker.values import to_arrow

from headwater.lake.metadata.schema_change import (
    AddColumn,
    DropColumn,
    MoveColumn,
    RenameColumn,
    SchemaChange,
    WidenColumn,
)
from headwater.lake.tables import Table
from headwater.model.schema import Field
from headwater.model.types import BIGINT, DOUBLE, INT, SMALLINT, Array, DataType, Map, Struct
from headwater.spark.source.due import start_compactor

DYNAMIC = "spark.sql.sources.partitionOverwriteMode"


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def spark_text(cell: Any, type: DataType) -> str:
    """A cell of a plain type as an expression of Spark."""
    name = {"TIMESTAMP": "TIMESTAMP_NTZ", "TIMESTAMP_LTZ": "TIMESTAMP"}.get(str(type), str(type))
    if cell is None:
        return f"CAST(NULL AS {name})"
    match str(type):
        case "STRING":
            return f"decode(X'{cell.encode().hex()}', 'UTF-8')"
        case "BINARY":
            return f"X'{cell.hex()}'"
        case "DATE":
            return f"date_from_unix_date({cell})"
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return f"CAST(timestamp_micros({cell}) AS {name})"
    return f"CAST('{cell}' AS {name})"


class SparkDoor:
    """A table by Spark's SQL. What Spark has no statement for is done by Python."""

    changes_all_engines = True
    replaces = True  # a MERGE puts a row in the place of the old one, whatever the engine

    def __init__(self, lake: Any) -> None:
        self.lake = lake
        self.python = PythonDoor(lake.warehouse)

    @property
    def table(self) -> Table:
        return self.python.table

    def _run(self, text: str) -> Any:
        """Carry out a statement, and wait for the compactions that it made due: they make snapshots, too."""
        found = self.lake.sql(text)
        start_compactor(self.lake.spark.sparkContext).wait()
        return found

    def given(self, fields: tuple[Field, ...], rows: Rows, name: str = "given") -> None:
        """Make rows a view."""
        frame = self.lake.spark.createDataFrame(to_arrow(fields, rows))
        frame.createOrReplaceTempView(name)

    def insert(self, rows: Rows) -> None:
        self.given(self.table.schema.fields, rows)
        self._run("INSERT INTO default.t SELECT * FROM given")

    def merge(self, rows: Rows, gone: list[tuple[Any, ...]]) -> None:
        table = self.table
        keys = key_fields(table)
        fields = tuple(each for each in table.schema.fields)
        self.given(fields, rows)
        self.given(keys, key_rows(table, gone), "leaving")
        names = ", ".join(quoted(each.name) for each in fields)
        empty = ", ".join(quoted(each.name) if each in keys else f"NULL AS {quoted(each.name)}" for each in fields)
        match = " AND ".join(f"t.{quoted(each.name)} = s.{quoted(each.name)}" for each in keys)
        sets = ", ".join(f"{quoted(each.name)} = s.{quoted(each.name)}" for each in fields)
        values = ", ".join(f"s.{quoted(each.name)}" for each in fields)
        self._run(
            f"MERGE INTO default.t AS t USING (SELECT false AS gone, {names} FROM given"
            f" UNION ALL SELECT true, {empty} FROM leaving) AS s ON {match}"
            f" WHEN MATCHED AND s.gone THEN DELETE WHEN MATCHED THEN UPDATE SET {sets}"
            f" WHEN NOT MATCHED AND NOT s.gone THEN INSERT ({names}) VALUES ({values})"
        )

    def delete(self, keys: list[tuple[Any, ...]]) -> None:
        fields = key_fields(self.table)
        rows = (zip(fields, key) for key in keys)
        texts = (" AND ".join(f"{quoted(f.name)} = {spark_text(cell, f.type)}" for f, cell in row) for row in rows)
        self._run(f"DELETE FROM default.t WHERE {' OR '.join(f'({text})' for text in texts)}")

    def delete_where(self, column: Field, op: str, cell: Any) -> None:
        self._run(f"DELETE FROM default.t WHERE {quoted(column.name)} {op} {spark_text(cell, column.type)}")

    def update_where(self, condition: tuple[Field, str, Any], column: Field, cell: Any) -> None:
        if isinstance(column.type, Array | Map | Struct):
            self.python.update_where(condition, column, cell)
            return
        where = f"{quoted(condition[0].name)} {condition[1]} {spark_text(condition[2], condition[0].type)}"
        self._run(f"UPDATE default.t SET {quoted(column.name)} = {spark_text(cell, column.type)} WHERE {where}")

    def overwrite(self, rows: Rows) -> None:
        self.given(self.table.schema.fields, rows)
        self.lake.spark.conf.set(DYNAMIC, "dynamic")
        try:
            self._run("INSERT OVERWRITE default.t SELECT * FROM given")
        finally:
            self.lake.spark.conf.unset(DYNAMIC)

    def alter(self, change: SchemaChange, cell: Any = None) -> None:
        text = None if cell is not None else self.change_text(change)
        if text is None:
            self.python.alter(change)
        else:
            self._run(f"ALTER TABLE default.t {text}")

    def change_text(self, change: SchemaChange) -> str | None:
        match change:
            case AddColumn(name, type, after=after) if type in (INT, DOUBLE):
                place = {None: "", "": " FIRST"}.get(after, f" AFTER {quoted(after or '')}")
                return f"ADD COLUMN {quoted(name)} {type}{place}"
            case RenameColumn(name, new):
                return f"RENAME COLUMN {quoted(name)} TO {quoted(new)}"
            case WidenColumn(name, type) if type in (SMALLINT, INT, BIGINT):
                return f"ALTER COLUMN {quoted(name)} TYPE {type}"
            case DropColumn(name):
                return f"DROP COLUMN {quoted(name)}"
            case MoveColumn(name, after):
                return f"ALTER COLUMN {quoted(name)} {f'AFTER {quoted(after)}' if after else 'FIRST'}"
        return None

    def read(self, at: int | str | None = None) -> pa.Table:
        version = "" if at is None else f" VERSION AS OF {at!r}"
        return self._run(f"SELECT * FROM default.t{version}").toArrow()
