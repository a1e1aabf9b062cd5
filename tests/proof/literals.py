"""Values that a query asks for: tables filled with them pass its filters and joins."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import sqlglot
from sqlglot import exp

from tests.proof.tables import Pools, Schema, usual_values

_ORDERED = (exp.GT, exp.GTE, exp.LT, exp.LTE)


def pools(sql: str, schema: Schema) -> Pools:
    """For each column that the query names, by its bare name, values near the literals it is compared with.

    Columns that are compared with each other share their values, so that joins find partners.
    """
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    kinds = {column.lower(): kind for columns in schema.values() for column, kind in columns.items()}
    groups: dict[str, set[str]] = {}
    for equal in tree.find_all(exp.EQ):
        left, right = equal.this, equal.expression
        if isinstance(left, exp.Column) and isinstance(right, exp.Column):
            one, two = left.name.lower(), right.name.lower()
            joined = groups.get(one, {one}) | groups.get(two, {two})
            groups.update(dict.fromkeys(joined, joined))
    wanted: dict[str, list[str]] = defaultdict(list)
    for column, texts in _compared(tree):
        for name in groups.get(column, {column}):
            if name in kinds:
                wanted[name] += [fit for text in texts if (fit := _fitting(text, kinds[name])) is not None]
    for name, joined in groups.items():
        if name in kinds and not any(wanted.get(other) for other in joined):
            wanted[name] = list(usual_values(kinds[name])[:2])
    return {name: tuple(dict.fromkeys(texts)) for name, texts in wanted.items()}


def _compared(tree: exp.Expression) -> Iterator[tuple[str, Sequence[str]]]:
    """Columns and the SQL texts of values near what they are compared with."""
    for node in tree.find_all(exp.EQ, exp.NEQ, *_ORDERED, exp.Between, exp.In, exp.Like):
        columns = [*node.this.find_all(exp.Column)]
        others = [node.args[part] for part in ("expression", "low", "high") if node.args.get(part)]
        others += node.expressions
        if not columns and isinstance(node, exp.Binary):
            columns, others = [*node.expression.find_all(exp.Column)], [node.this]
        if not columns or any(other.find(exp.Column, exp.Query) for other in others):
            continue
        texts = [other.sql(dialect="duckdb") for other in others]
        if isinstance(node, exp.Like):
            texts = [text.replace("%", "").replace("_", "x") for text in texts]
        elif isinstance(node, (*_ORDERED, exp.Between)):
            texts += [f"{text} {sign} 1" for text in texts if not text.startswith("'") for sign in "+-"]
        for column in columns:
            yield column.name.lower(), texts


def _fitting(text: str, kind: str) -> str | None:
    """The value cast to the type of the column; None for a value that no type of ours takes."""
    kind = kind.upper()
    quoted = text.startswith("'")
    if kind.startswith(("VARCHAR", "CHAR", "TEXT")):
        return f"CAST({text} AS VARCHAR)"
    if kind in ("DATE", "TIMESTAMP"):
        return f"TRY_CAST({text} AS {kind})" if "'" in text else None
    return None if quoted or "DATE" in text.upper() or "'" in text else f"TRY_CAST({text} AS {kind})"
