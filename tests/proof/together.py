"""One statement that runs a query on many variants of its tables at once: planning costs more than running here.

Each table of the query becomes the rows of one variant, which a row of `runs` names: a lateral join runs the query
once for each row of `runs`. The order of rows is lost by that, and so is what depends on it; the caller compares the
base with a run of its own.
"""

from collections.abc import Collection

import sqlglot
from sqlglot import exp

RUNS = "runs__"


def starred(tree: exp.Expression) -> bool:
    """Return whether a select list has a star or COLUMNS, which would also take columns that are added."""
    items = [item for select in tree.find_all(exp.Select) for item in select.expressions]
    return any(item.is_star or item.find(exp.Columns) is not None for item in items)


def together(sql: str, tables: Collection[str], *, identified: bool) -> str | None:
    """The query for many variants, with `{runs}` where their numbers belong; None where it cannot be.

    The rows of table `t` stand in `all_t`, with the variant in `run__` and the place of the row in `place__`. With
    `identified`, places take the part of `rowid`.
    """
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    if not isinstance(tree, exp.Query) or (identified and starred(tree)):
        return None
    named = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for table in list(tree.find_all(exp.Table)):
        name = table.name.lower()
        if not isinstance(table.this, exp.Identifier) or name in named or name not in tables:
            continue
        place = f", place__ AS place_{table.alias_or_name}" if identified else ""
        rows = f"SELECT * EXCLUDE (run__, place__){place} FROM all_{name} WHERE all_{name}.run__ = {RUNS}.{name}"
        alias = exp.TableAlias(this=exp.to_identifier(table.alias_or_name))
        if (of_table := table.args.get("alias")) is not None:
            alias.set("columns", of_table.args.get("columns"))
        made = exp.Subquery(this=sqlglot.parse_one(rows, dialect="duckdb"), alias=alias)
        made.set("joins", table.args.get("joins"))
        table.replace(made)
    for column in list(tree.find_all(exp.Column)):
        if column.name.lower() == "rowid" and column.table:
            column.set("this", exp.to_identifier(f"place_{column.table}"))
    body = tree.sql(dialect="duckdb")
    columns = ", ".join(("run", *tables))
    return f"SELECT {RUNS}.run, q__.* FROM (VALUES {{runs}}) AS {RUNS}({columns}), LATERAL ({body}) AS q__"
