"""Schemas from the forms in which people have them: JSON, dumps of `information_schema`, plain dictionaries.
DDL files need a parser and are read by `headwater.sql`."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from headwater.errors import InputError, SchemaError
from headwater.lineage.bigquery import columns_of_bigquery, is_bigquery_fields, is_bigquery_table, schema_of_bigquery
from headwater.lineage.schema import FORM, ColumnSchema, SchemaFunction, SchemaMetadata, SchemaTable, convert_schema
from headwater.model.names import parse_table_name

_DUMP_COLUMNS = ("table_name", "column_name")


def schema_of_mapping(tables: Mapping[str, Any]) -> SchemaMetadata:
    """A schema from a dictionary of tables, or from the request form: `{"tables": [{"name": …}], "allowImplied": …}`.

    In a dictionary of tables, a table is a list of column names or a dictionary of their types; names may be dotted,
    or nested by schema. A name with brackets is a function that gives rows: `orders_of(customer)` with the columns of
    its rows.

    >>> schema = schema_of_mapping({"shop.orders": ["id"], "crm": {"people": {"name": "STRING"}}})
    >>> [(table.schema, table.name, table.columns[0].name) for table in schema.tables]
    [('shop', 'orders', 'id'), ('crm', 'people', 'name')]

    RAISES: SchemaError when a table is neither, or when the dictionary could be meant in both forms.
    """
    if is_wire_schema(tables):
        return convert_schema(tables)
    found = list(_tables_of_mapping(tables, ()))
    return SchemaMetadata(
        tables=tuple(each for each in found if isinstance(each, SchemaTable)),
        functions=tuple(each for each in found if isinstance(each, SchemaFunction)),
    )


def _tables_of_mapping(tables: Mapping[str, Any], outer: tuple[str, ...]) -> Iterable[SchemaTable | SchemaFunction]:
    for name, value in tables.items():
        if not isinstance(name, str):
            raise SchemaError(f"a table's name must be text, not {name!r}")
        if (
            isinstance(value, Mapping)
            and value
            and all(isinstance(inner, Mapping | list | tuple) for inner in value.values())
        ):
            yield from _tables_of_mapping(value, (*outer, *_parts(name)))
        elif name.rstrip().endswith(")") and "(" in name:
            yield _function(name, outer, value)
        else:
            yield _table((*outer, *_parts(name)), _columns(name, value))


def _function(text: str, outer: tuple[str, ...], value: Any) -> SchemaFunction:
    """`orders_of(customer INT)`, with the columns of its rows."""
    name, _, inside = text.rstrip().removesuffix(")").partition("(")
    pairs = [each.split(None, 1) for each in inside.split(",") if each.strip()]
    table = _table((*outer, *_parts(name.strip())), _columns(text, value))
    return SchemaFunction(
        name=table.name,
        schema=table.schema,
        catalog=table.catalog,
        arguments=tuple(ColumnSchema(name=pair[0], data_type=pair[1] if pair[1:] else None) for pair in pairs),
        columns=table.columns,
    )


def _columns(table: str, value: Any) -> tuple[ColumnSchema, ...]:
    if is_bigquery_fields(value):
        return columns_of_bigquery(value)
    if isinstance(value, Mapping):
        pairs = [(column, str(type) if type is not None else None) for column, type in value.items()]
    elif isinstance(value, Sequence) and not isinstance(value, str):
        pairs = [(column, None) for column in value]
    else:
        raise SchemaError(
            f"table `{table}` must be a list of columns or a dictionary of their types, not {value!r}",
            hint='{"shop.orders": ["id", "amount"]} or {"shop.orders": {"id": "INT"}}',
        )
    if not all(isinstance(column, str) for column, _ in pairs):
        raise SchemaError(f"the columns of table `{table}` must be names")
    return tuple(ColumnSchema(name=column, data_type=type) for column, type in pairs)


def schema_of_rows(rows: Iterable[Mapping[str, Any]]) -> SchemaMetadata:
    """A schema from the rows of `information_schema.columns`; the case of their keys does not matter.
    RAISES: SchemaError when a row has no table or column name."""
    tables: dict[tuple[str, ...], list[tuple[float, ColumnSchema]]] = {}
    for number, row in enumerate(rows, start=1):
        cells = {str(key).lower(): value for key, value in row.items()}
        if any(not cells.get(column) for column in _DUMP_COLUMNS):
            raise SchemaError(
                f"row {number} has no {' or '.join(column for column in _DUMP_COLUMNS if not cells.get(column))}",
                hint="SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns",
            )
        path = (cells.get("table_catalog"), cells.get("table_schema"), cells["table_name"])
        type = cells.get("data_type")
        column = ColumnSchema(name=str(cells["column_name"]), data_type=str(type) if type else None)
        columns = tables.setdefault(tuple(str(part) for part in path if part), [])
        columns.append((_position(cells.get("ordinal_position"), len(columns)), column))
    return SchemaMetadata(
        tables=tuple(
            _table(path, tuple(column for _, column in sorted(columns, key=lambda each: each[0])))
            for path, columns in tables.items()
        )
    )


def schema_of_csv(text: str) -> SchemaMetadata:
    """A schema from a CSV dump of `information_schema.columns`, with a header line.
    RAISES: SchemaError when it is not one."""
    try:
        reader = csv.DictReader(io.StringIO(text.lstrip("\ufeff"), newline=None))
        header, rows = [name.lower() for name in reader.fieldnames or ()], list(reader)
    except csv.Error as err:
        raise SchemaError(f"the schema is not CSV: {err}") from err
    missing = [column for column in _DUMP_COLUMNS if column not in header]
    if missing:
        raise SchemaError(
            f"the CSV header has no {' and no '.join(missing)}", hint=f"its columns: {', '.join(header)}"
        )
    return schema_of_rows(rows)


def schema_of_json(text: str | bytes, *, name: str | None = None) -> SchemaMetadata:
    """A schema from JSON: the wire format, rows of `information_schema.columns`, a dictionary of tables, or what
    BigQuery's `bq show` writes. `name` is that of the table in a file with the fields of one (`bq show --schema`).
    RAISES: SchemaError when it is none of them."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise SchemaError(f"the schema is not JSON: {err}") from err
    return schema_of_value(value, name=name)


def schema_of_value(value: Any, *, name: str | None = None) -> SchemaMetadata:
    """A schema from decoded JSON of the forms that `schema_of_json` reads.
    RAISES: SchemaError when it is none of them."""
    if is_bigquery_table(value):
        return schema_of_bigquery([value])
    if isinstance(value, list):
        if value and all(map(is_bigquery_table, value)):
            return schema_of_bigquery(value)
        if is_bigquery_fields(value):
            if name is None:
                raise SchemaError(
                    "the fields of a BigQuery table do not say which table it is",
                    hint='name the file project.dataset.table.json, or write {"dataset.table": [fields]}',
                )
            return SchemaMetadata(tables=(_table(_parts(name), columns_of_bigquery(value)),))
        if not all(isinstance(row, dict) for row in value):
            raise SchemaError("a JSON list must hold the rows of information_schema.columns, as objects")
        return schema_of_rows(value)
    return schema_of_mapping(value) if isinstance(value, dict) else convert_schema(value)


_WORDS = frozenset(SchemaMetadata.__struct_encode_fields__)
_BOTH = f'the request form: {FORM}; a dictionary of tables: {{"shop.orders": {{"id": "INT"}}}}'


def is_wire_schema(value: Mapping[str, Any]) -> bool:
    """Return whether an object is the request form rather than a dictionary of tables.
    A word of the request form whose value is an object names a table, or a schema, of a dictionary of tables.
    RAISES: SchemaError when it may be either."""
    words = [name for name in value if name in _WORDS and not isinstance(value[name], Mapping)]
    if not words:
        return not value
    of_tables = [name for name in words if _is_names(value[name])]
    if len(words) == len(value) and (not of_tables or not any(value[name] for name in of_tables)):
        return True
    if len(of_tables) == len(words) < len(value):
        return False
    raise SchemaError(f"`{words[0]}` may be a table of this schema or a part of the request form", hint=_BOTH)


def _is_names(value: Any) -> bool:
    """Return whether a value is a list of column names, or the empty list."""
    return isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)


def _table(path: tuple[str, ...], columns: tuple[ColumnSchema, ...]) -> SchemaTable:
    catalog = ".".join(path[:-2]) if len(path) > 2 else None
    return SchemaTable(catalog=catalog, schema=path[-2] if len(path) > 1 else None, name=path[-1], columns=columns)


def _parts(name: str) -> tuple[str, ...]:
    try:
        return parse_table_name(name).parts
    except InputError as err:
        raise SchemaError(err.message, hint=err.hint) from err


def _position(value: Any, default: float) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return default
