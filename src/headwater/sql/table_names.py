"""The name of a table as a statement writes it; a file that stands where a table could is named by its path."""

from collections.abc import Iterator
from typing import Any

from sqlglot import exp

from headwater.events.naming import file_table
from headwater.model.names import TableName, is_path
from headwater.sql.dialects import MICROSOFT

_FORMATTED = frozenset({"spark", "spark2", "databricks", "hive", "duckdb"})
"""Dialects in which a file is named after its format: parquet.`/data/x`."""

_READERS = frozenset(
    {"read_json", "read_json_auto", "read_csv_auto", "parquet_scan", "s3", "file", "url", "read_files"}
)


def read_table_name(table: Any, dialect: str) -> tuple[TableName, tuple[bool, ...]]:
    """The name of a table as written, and which of its parts were quoted."""
    only = table.this
    if isinstance(only, exp.DynamicIdentifier) and isinstance(only.this, exp.Literal):  # IDENTIFIER('s.t')
        written = TableName(tuple(only.this.name.split(".")))
        return written, (False,) * len(written.parts)
    if type(only) is exp.Identifier and not table.args.get("db") and not is_path(only.name) and "." not in only.name:
        name = "#" + only.name if only.args.get("temporary") else only.name
        return TableName((name or "?",)), (bool(only.args.get("quoted")),)
    file = _file_named(table, dialect)
    if file is not None:
        return file, (True,)
    parts: list[str] = []
    quoted: list[bool] = []
    for part in (table.args.get("catalog"), table.args.get("db"), table.this):
        for each in _dotted(part):
            name = each.name if isinstance(each, exp.Expr) else str(each)
            if name:
                is_quoted = bool(each.args.get("quoted")) if isinstance(each, exp.Identifier) else False
                if isinstance(each, exp.Identifier) and each.args.get("temporary"):
                    name = "#" + name
                elif isinstance(each, exp.Parameter | exp.Placeholder):  # of the script, or of its client
                    name = f"@{name}" if dialect in MICROSOFT else f"${{{each.args.get('expression') or name}}}"
                pieces = name.split(".") if is_quoted and dialect == "bigquery" else [name]
                parts += pieces
                quoted += [is_quoted] * len(pieces)
    return TableName(tuple(parts or ("?",))), tuple(quoted or (False,))


def _dotted(node: Any) -> Iterator[Any]:
    """The parts of a dotted name that the parser nested."""
    if isinstance(node, exp.Dot):
        yield from _dotted(node.this)
        yield from _dotted(node.expression)
    elif node is not None:
        yield node


def _file_named(table: Any, dialect: str) -> TableName | None:
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
