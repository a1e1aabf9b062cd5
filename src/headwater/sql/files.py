"""Files that stand where a table could: by path, by format and path, by the function that reads them."""

from sqlglot import exp

from headwater.events.naming import file_table
from headwater.model.names import TableName, is_path

_FORMATTED = frozenset({"spark", "spark2", "databricks", "hive", "duckdb"})
"""Dialects in which a file is named after its format: parquet.`/data/x`."""

_READERS = frozenset(
    {"read_json", "read_json_auto", "read_csv_auto", "parquet_scan", "s3", "file", "url", "read_files"}
)


def file_named(table: exp.Expr, dialect: str) -> TableName | None:
    """The file in `'x.parquet'` (DuckDB), `@stage/x` (Snowflake), parquet.`/x` (Spark); None for a table."""
    only, format = table.this, table.args.get("db")
    if isinstance(only, exp.Func):
        files = files_read(only)
        return files[0] if len(files) == 1 else None
    if isinstance(only, exp.Var) and only.name.startswith("@"):
        return file_table(only.name)
    if not isinstance(only, exp.Identifier) or not only.args.get("quoted") or not is_path(only.name):
        return None
    if format is None:
        return file_table(only.name) if dialect == "duckdb" or "://" in only.name else None
    of_format = dialect in _FORMATTED and "/" in only.name and not table.args.get("catalog")
    return file_table(only.name) if of_format else None


def files_read(function: exp.Expr) -> list[TableName]:
    """The files of `read_csv('x.csv')`, `read_parquet(['x', 'y'])` and their like, each once."""
    is_reader = isinstance(function, exp.ReadCSV | exp.ReadParquet)
    if not is_reader and not (isinstance(function, exp.Anonymous) and function.name.lower() in _READERS):
        return []
    for each in (function.args.get("this"), *(function.args.get("expressions") or ())):
        paths = each.expressions if isinstance(each, exp.Array) else [each]
        if paths and all(isinstance(path, exp.Literal) and path.is_string for path in paths):
            return list(dict.fromkeys(file_table(path.name) for path in paths))
    return []
