"""A lake warehouse as a schema: what its tables have now is what SQL text about them is resolved with."""

from headwater.errors import SchemaError
from headwater.lake.tables.warehouse import Warehouse
from headwater.lineage.schema import ColumnSchema, SchemaMetadata, SchemaTable
from headwater.model.schema import Schema
from headwater.model.types import google_type


def schema_at(location: str, dialect: str | None = None) -> SchemaMetadata:
    """The schema of the warehouse in a folder or at a URL. RAISES: SchemaError when there are no tables."""
    schema = schema_of_warehouse(Warehouse(location), dialect)
    if not schema.tables:
        raise SchemaError(f"there are no lake tables in {location}", hint="name a warehouse, or a schema file")
    return schema


def schema_of_warehouse(warehouse: Warehouse, dialect: str | None = None) -> SchemaMetadata:
    """The tables of all databases, named `database.table`, with types as the dialect spells them."""
    spelled = google_type if dialect in ("bigquery", "spanner") else str
    tables = []
    for database in warehouse.list_databases():
        for name in warehouse.list_tables(database):
            schema: Schema = warehouse.table(f"{database}.{name}").schema
            columns = tuple(
                ColumnSchema(
                    name=field.name,
                    data_type=spelled(field.type),
                    is_primary_key=field.name in schema.primary_keys or None,
                )
                for field in schema.fields
            )
            tables.append(SchemaTable(schema=database, name=name, columns=columns))
    return SchemaMetadata(tables=tuple(tables))
