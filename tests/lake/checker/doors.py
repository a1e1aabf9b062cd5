"""The doors of a table, with the same verbs: Python's methods and SQL; `spark_door.py` has Spark's.

Rows are cells by column name; keys are cells in the order of the key. Every verb makes at most one snapshot that is
not a compaction.
"""

from typing import Any

import pyarrow as pa
from tests.lake.checker.values import python_value, sql_text, to_arrow

from headwater import Warehouse
from headwater.lake.metadata.schema_change import (
    AddColumn,
    DropColumn,
    MoveColumn,
    RenameColumn,
    SchemaChange,
    WidenColumn,
)
from headwater.lake.tables import Compare, Table
from headwater.model.schema import Field
from headwater.query.session import Session
from headwater.query.types import sql_type

Rows = list[dict[str, Any]]


def key_fields(table: Table) -> tuple[Field, ...]:
    return tuple(table.schema.field(name) for name in table.schema.primary_keys)


def key_rows(table: Table, keys: list[tuple[Any, ...]]) -> Rows:
    return [dict(zip(table.schema.primary_keys, key)) for key in keys]


class PythonDoor:
    """A table by the methods of `Table`."""

    changes_all_engines = True
    replaces = False  # rows of `merge` are merged with those that are there, by the engine of the table

    def __init__(self, warehouse: Warehouse) -> None:
        self.warehouse = warehouse

    @property
    def table(self) -> Table:
        return self.warehouse.table("t")

    def insert(self, rows: Rows) -> None:
        self.table.write(to_arrow(self.table.schema.fields, rows))

    def merge(self, rows: Rows, gone: list[tuple[Any, ...]]) -> None:
        table = self.table
        deletes = to_arrow(key_fields(table), key_rows(table, gone))
        table.write(to_arrow(table.schema.fields, rows), deletes=deletes)

    def delete(self, keys: list[tuple[Any, ...]]) -> None:
        table = self.table
        self.table.delete(to_arrow(key_fields(table), key_rows(table, keys)))

    def delete_where(self, column: Field, op: str, cell: Any) -> None:
        self.table.delete(where=Compare(column.name, op, python_value(cell, column.type)))

    def update_where(self, condition: tuple[Field, str, Any], column: Field, cell: Any) -> None:
        """Set a column where a condition holds. REQUIRES: no key, or `deduplicate`."""
        table = self.table
        new = to_arrow((column,), [{column.name: cell}]).column(0)
        where = Compare(condition[0].name, condition[1], python_value(condition[2], condition[0].type))

        def edit(rows: pa.Table) -> pa.Table:
            values = pa.concat_arrays([new.combine_chunks()] * rows.num_rows) if rows.num_rows else new.slice(1)
            return rows.set_column(table.schema.names.index(column.name), column.name, values)

        if table.schema.primary_keys:
            table.write(edit(table.to_arrow(where=where)))
        else:
            table.rewrite(where, edit)

    def overwrite(self, rows: Rows) -> None:
        data = to_arrow(self.table.schema.fields, rows)
        self.table.overwrite(data, "dynamic" if self.table.schema.partition_keys else None)

    def alter(self, change: SchemaChange, cell: Any = None) -> None:
        self.table.alter(change)

    def read(self, at: int | str | None = None) -> pa.Table:
        return self.table.to_arrow(at=at)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class SqlDoor:
    """A table by SQL."""

    changes_all_engines = False  # UPDATE, DELETE and MERGE are refused where rows are made of several
    replaces = True

    def __init__(self, warehouse: Warehouse) -> None:
        self.session = Session(warehouse)

    @property
    def table(self) -> Table:
        return self.session.table("t")

    def values(self, fields: tuple[Field, ...], rows: Rows) -> str:
        texts = (", ".join(sql_text(row[each.name], each.type) for each in fields) for row in rows)
        return "VALUES " + ", ".join(f"({text})" for text in texts)

    def names(self, fields: tuple[Field, ...]) -> str:
        return ", ".join(quoted(each.name) for each in fields)

    def insert(self, rows: Rows) -> None:
        fields = self.table.schema.fields
        if rows:
            self.session.sql(f"INSERT INTO t ({self.names(fields)}) {self.values(fields, rows)}")

    def merge(self, rows: Rows, gone: list[tuple[Any, ...]]) -> None:
        """MERGE with rows whose keys are different. REQUIRES: `deduplicate`."""
        table = self.table
        fields, keys = table.schema.fields, key_fields(table)
        empty = {each.name: None for each in fields}
        texts = [f"SELECT false AS gone, * FROM ({self.values(fields, rows)})"] if rows else []
        deleted = [empty | row for row in key_rows(table, gone)]
        texts += [f"SELECT true, * FROM ({self.values(fields, deleted)})"] if gone else []
        if not texts:
            return
        match = " AND ".join(f"t.{quoted(each.name)} = s.{quoted(each.name)}" for each in keys)
        sets = ", ".join(f"{quoted(each.name)} = s.{quoted(each.name)}" for each in fields)
        values = ", ".join(f"s.{quoted(each.name)}" for each in fields)
        self.session.sql(
            f"MERGE INTO t USING ({' UNION ALL '.join(texts)}) AS s(gone, {self.names(fields)}) ON {match}"
            f" WHEN MATCHED AND s.gone THEN DELETE WHEN MATCHED THEN UPDATE SET {sets}"
            f" WHEN NOT MATCHED AND NOT s.gone THEN INSERT ({self.names(fields)}) VALUES ({values})"
        )

    def delete(self, keys: list[tuple[Any, ...]]) -> None:
        fields = key_fields(self.table)
        names = ", ".join(f"t.{quoted(each.name)}" for each in fields)
        texts = (", ".join(sql_text(cell, each.type) for cell, each in zip(key, fields)) for key in keys)
        self.session.sql(f"DELETE FROM t WHERE ({names}) IN ({', '.join(f'({text})' for text in texts)})")

    def delete_where(self, column: Field, op: str, cell: Any) -> None:
        self.session.sql(f"DELETE FROM t WHERE {quoted(column.name)} {op} {sql_text(cell, column.type)}")

    def update_where(self, condition: tuple[Field, str, Any], column: Field, cell: Any) -> None:
        where = f"{quoted(condition[0].name)} {condition[1]} {sql_text(condition[2], condition[0].type)}"
        self.session.sql(f"UPDATE t SET {quoted(column.name)} = {sql_text(cell, column.type)} WHERE {where}")

    def overwrite(self, rows: Rows) -> None:
        fields = self.table.schema.fields
        self.session.sql(f"INSERT OVERWRITE t {self.values(fields, rows)}")

    def alter(self, change: SchemaChange, cell: Any = None) -> None:
        self.session.sql(f"ALTER TABLE t {self.change_text(change, cell)}")

    def change_text(self, change: SchemaChange, cell: Any) -> str:
        match change:
            case AddColumn(name, type, after=after):
                default = f" DEFAULT {sql_text(cell, type)}" if cell is not None else ""
                place = {None: "", "": " FIRST"}.get(after, f" AFTER {quoted(after or '')}")
                return f"ADD COLUMN {quoted(name)} {sql_type(type)}{default}{place}"
            case RenameColumn(name, new):
                return f"RENAME COLUMN {quoted(name)} TO {quoted(new)}"
            case WidenColumn(name, type):
                return f"ALTER COLUMN {quoted(name)} TYPE {sql_type(type)}"
            case DropColumn(name):
                return f"DROP COLUMN {quoted(name)}"
            case MoveColumn(name, after):
                return f"ALTER COLUMN {quoted(name)} {f'AFTER {quoted(after)}' if after else 'FIRST'}"
        raise AssertionError(change)

    def read(self, at: int | str | None = None) -> pa.Table:
        version = "" if at is None else f" VERSION AS OF {at!r}"
        return self.session.sql(f"SELECT * FROM t{version}").to_arrow()
