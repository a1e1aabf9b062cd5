"""Golden lineage: SQL files whose expected edges stand in comments below each case.

A file is a header and cases:

    -- schema: orders(id, cid, amount DECIMAL), customers(id, name)

    -- case: join key is indirect
    INSERT INTO d SELECT o.id, c.name FROM orders o JOIN customers c ON o.cid = c.id;
    --> d.id   <- orders.id IDENTITY
    --> d.name <- customers.name IDENTITY
    --> d.*    | orders.cid JOIN, customers.id JOIN

Left of `|` are value edges, right of it indirect ones; `d.*` is the table as a whole. A column that nothing flows
into stands alone. After a kind, `masked` says that the value is hidden and `?` that the edge is approximate. Tables
without columns (`table-only`, or of text that cannot be parsed) are `--> d <- t, u`. A line `--! CODE` expects an
issue. Order does not matter.

The folder is the dialect; `googlesql` goes through ZetaSQL, all others through sqlglot's parser.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headwater.analysis.engines import open_front_end
from headwater.errors import IssueCode, Severity
from headwater.lineage import SchemaResolver, StatementLineage, Status
from headwater.lineage.imports import schema_of_mapping
from headwater.lineage.script import analyze_script
from headwater.lineage.statement import RESULT
from headwater.model.edges import Edge, InfluenceClass
from headwater.text import Source

_TABLE = re.compile(r"([\w.\"`#-]+)\s*\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)")


@dataclass(frozen=True)
class Case:
    """One case of a file."""

    name: str
    sql: str
    expected: tuple[str, ...]


def read_cases(path: Path) -> tuple[dict[str, dict[str, str | None]], list[Case]]:
    """The schema of a file and its cases."""
    header, *parts = re.split(r"^-- case: ", path.read_text(), flags=re.MULTILINE)
    cases = []
    for part in parts:
        name, body = part.split("\n", 1)
        lines = body.rstrip().split("\n")
        sql = "\n".join(line for line in lines if not line.startswith(("-->", "--!")))
        cases.append(Case(name.strip(), sql, tuple(line for line in lines if line.startswith(("-->", "--!")))))
    return _schema(header), cases


def _schema(header: str) -> dict[str, dict[str, str | None]]:
    text = " ".join(line.removeprefix("-- schema:") for line in header.split("\n") if line.startswith("-- schema:"))
    tables: dict[str, dict[str, str | None]] = {}
    for name, columns in _TABLE.findall(text):
        pairs = [column.strip().split(None, 1) for column in _split_columns(columns)]
        tables[name] = {pair[0]: pair[1] if len(pair) > 1 else None for pair in pairs}
    return tables


def _split_columns(text: str) -> list[str]:
    """Cut at the commas that are not inside a type."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "<(") - (sign in ">)")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def found(sql: str, dialect: str, schema: dict[str, dict[str, str | None]]) -> list[str]:
    """The lines that describe what the analysis found."""
    return [line for lineage in lineages(Source(sql), dialect, schema) for line in describe(lineage)]


def lineages(source: Source, dialect: str, schema: dict[str, dict[str, str | None]]) -> Iterator[StatementLineage]:
    """What the analysis found, statement by statement."""
    front_end, name = open_front_end(dialect, "auto" if dialect == "googlesql" else "sqlglot")
    resolver = SchemaResolver(schema_of_mapping(schema), dialect=name)
    return analyze_script(source, front_end, resolver)


def describe(lineage: StatementLineage) -> Iterator[str]:
    """One line per output column, one for the table as a whole, one per issue."""
    table = "" if lineage.output == RESULT else f"{lineage.output}."
    if lineage.status in (Status.TABLE_ONLY, Status.ERROR) and lineage.sources:
        yield f"--> {lineage.output} <- {', '.join(str(each.name) for each in lineage.sources)}"
    targets = {f"{table}{column.name}": [] for column in lineage.columns}
    inside = {edge.target.column for edge in lineage.edges if edge.target.path}
    targets = {name: edges for name, edges in targets.items() if name.removeprefix(table) not in inside}
    for edge in lineage.edges:
        targets.setdefault(f"{table}{edge.target.name}", []).append(edge)
    for name, edges in targets.items():
        values = [_show(edge) for edge in edges if edge.kind.influence is InfluenceClass.VALUE]
        others = [_show(edge) for edge in edges if edge.kind.influence is not InfluenceClass.VALUE]
        left = f" <- {', '.join(values)}" if values else ""
        right = f" | {', '.join(others)}" if others else ""
        yield f"--> {name}{left}{right}"
    for issue in lineage.issues:
        if issue.code is not IssueCode.UNKNOWN_TABLE or issue.severity is not Severity.INFO:
            yield f"--! {issue.code.name}"


def _show(edge: Edge) -> str:
    return f"{edge.source} {edge.kind.value}{' masked' if edge.masking else ''}{' ?' if edge.approximate else ''}"


def normalize(lines: tuple[str, ...] | list[str]) -> list[str]:
    """Lines in a form in which spaces and order do not matter."""
    result = []
    for line in lines:
        text = re.sub(r"\s+", " ", line.strip())
        head, bar, right = text.partition(" | ")
        target, arrow, left = head.partition(" <- ")
        left = ", ".join(sorted(part.strip() for part in left.split(",") if part.strip()))
        right = ", ".join(sorted(part.strip() for part in right.split(",") if part.strip()))
        result.append(f"{target}{arrow}{left}{bar}{right}")
    return sorted(result)


def rewrite(path: Path, dialect: str) -> None:
    """Replace the expectations of a file by what is found. Read the difference before you commit it."""
    schema, cases = read_cases(path)
    header = re.split(r"^-- case: ", path.read_text(), flags=re.MULTILINE)[0]
    parts = [header.rstrip() + "\n"]
    for case in cases:
        actual = found(case.sql, dialect, schema)
        kept = case.expected if normalize(actual) == normalize(case.expected) else actual
        parts.append(f"-- case: {case.name}\n{case.sql.strip()}\n" + "\n".join(kept) + "\n")
    path.write_text("\n".join(parts))
