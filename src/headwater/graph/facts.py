"""Facts on their way into the graph: rows for its tables, each key once. The functions here are the one place where
lineage becomes rows; harvesting on Spark, on one machine and from events all go through them."""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headwater.errors import Issue
from headwater.graph.regions import is_own
from headwater.graph.tables import COLUMNS, DATASETS, EDGES, FACT_TABLES, ISSUES, STATEMENTS, WHOLE, TableSpec
from headwater.lineage.schema import ResolvedSchemaMetadata, SchemaMetadata
from headwater.lineage.statement import StatementLineage, Status, renamed, with_tables
from headwater.model.edges import ColumnRef, Edge, Kind
from headwater.model.names import TableName
from headwater.text import Source

OWNER = "owner:"  # begins the tag that names the owner of a table
Row = dict[str, Any]
Key = tuple[Any, ...]


@dataclass(slots=True)
class Facts:
    """Rows by table and key. Adding a row again replaces it."""

    rows: dict[str, dict[Key, Row]] = field(default_factory=lambda: {spec.name: {} for spec in FACT_TABLES})

    def add(self, spec: TableSpec, **values: Any) -> None:
        """Add a row; columns that are not named are null."""
        row = dict.fromkeys(spec.names) | values
        self.rows[spec.name][tuple(row[name] for name in spec.key)] = row

    def add_new(self, spec: TableSpec, **values: Any) -> None:
        """Add a row unless its key is there."""
        if tuple(values[name] for name in spec.key) not in self.rows[spec.name]:
            self.add(spec, **values)

    def of(self, spec: TableSpec) -> list[Row]:
        """The rows of a table, in the order of their keys: the same facts give the same list."""
        rows = self.rows[spec.name]
        return [rows[key] for key in sorted(rows)]

    def __len__(self) -> int:
        return sum(map(len, self.rows.values()))


def statement_id(source: str | None, number: int) -> str:
    """The id of the statement at a place of a file."""
    return f"{source or 'sql'}#{number}"


def with_results(
    lineages: list[StatementLineage], source: str | None, first: int = 0, *, is_only: bool = True
) -> list[StatementLineage]:
    """The lineage of statements of one text, with a name for what each bare SELECT gives.

    A table of the session is named after its text, too: another text may have one of the same name.

    It is named after its text, or after its statement if there are several; `first` is the number of the statement
    with the index 0, and `is_only` says that there are no other queries in the text. What goes into variables is no
    dataset: statements that use them have edges from where their values come from."""
    queries = {each.index for each in lineages if _is_bare(each)}
    only = is_only and len(queries) == 1 and source is not None
    names = {index: TableName.of(str(source) if only else statement_id(source, first + index)) for index in queries}
    named = [renamed(each, names[each.index]) if _is_bare(each) else each for each in lineages]
    named = [_with_own_tables(each, source) for each in named]
    return [each if each.target is not None else dataclasses.replace(each, edges=()) for each in named]


def _with_own_tables(lineage: StatementLineage, source: str | None) -> StatementLineage:
    names = {own: TableName.of(f"{source}:{own}") for own in lineage.session_tables}
    return with_tables(lineage, names) if names and source is not None else lineage


def _is_bare(lineage: StatementLineage) -> bool:
    return lineage.target is None and lineage.statement_type == "SELECT"


def column_name(ref: ColumnRef) -> str:
    """A column with its path, as tables of the graph have it."""
    return WHOLE if ref.column is None else ref.name


@dataclass(frozen=True, slots=True)
class StatementPlace:
    """The place of a statement, and the facts about it beside its lineage."""

    number: int
    source: Source
    dialect: str | None = None
    fingerprint: str | None = None
    user: str | None = None
    time: Any = None
    observed_reads: tuple[str, ...] = ()
    observed_writes: tuple[str, ...] = ()


def add_statement(facts: Facts, lineages: Iterable[StatementLineage], place: StatementPlace) -> None:
    """Add one statement; one with several writes comes as several lineages."""
    lineages = list(lineages)
    id = statement_id(place.source.name, place.number)
    first = lineages[0]
    reads = dict.fromkeys(str(table.name) for lineage in lineages for table in lineage.sources)
    targets = dict.fromkeys(str(lineage.target) for lineage in lineages if lineage.target is not None)
    facts.add(
        STATEMENTS,
        statement=id,
        source=place.source.name,
        number=place.number,
        dialect=place.dialect,
        type=first.statement_type,
        target=next(iter(targets), None),
        reads=list(reads),
        status=max(lineages, key=lambda each: _DOUBT.index(each.status.value)).status.value,
        text=place.source.excerpt(first.span) if first.span is not None else None,
        line=first.span.line if first.span is not None else None,
        start=first.span.start if first.span is not None else None,
        user=place.user,
        time=place.time,
        fingerprint=place.fingerprint,
        observed_reads=list(place.observed_reads) or None,
        observed_writes=list(place.observed_writes) or None,
    )
    for name in (*reads, *targets):
        facts.add_new(DATASETS, dataset=name, kind="table")
    kind = "view" if "VIEW" in first.statement_type.upper() else "query" if first.statement_type == "SELECT" else None
    for name in targets if kind else ():
        facts.add(DATASETS, dataset=name, kind=kind)
    for lineage in lineages:
        for edge in (*lineage.edges, *_table_edges(lineage)):
            add_edge(facts, edge, id, file=place.source.name)
    add_issues(facts, id, [issue for lineage in lineages for issue in lineage.issues])


def _table_edges(lineage: StatementLineage) -> Iterable[Edge]:
    """Edges between whole tables, for what is read without any column of it being known to take part: by COUNT(*) and
    EXISTS its rows count; where columns are not known at all, anything may flow."""
    if lineage.target is None:
        return
    joined = {edge.source.table for edge in lineage.edges}
    unknown = lineage.status is not Status.RESOLVED
    for table in lineage.sources:
        if table.name not in joined:
            ends = ColumnRef(table.name, None), ColumnRef(lineage.target, None)
            kind = Kind.TRANSFORMATION if unknown else Kind.FILTER
            yield Edge(*ends, kind, approximate="only the tables are known" if unknown else None)


_LONGEST = 2_000  # characters of an expression that are kept
_DOUBT = ("resolved", "approximate", "table-only", "error")


def add_edge(facts: Facts, edge: Edge, statement: str, *, file: str | None = None, **observed: Any) -> None:
    """Add one edge. Of two that say the same thing, the certain one stays; if neither is more certain, both of their
    expressions do: two clauses of a MERGE may set a column in different ways."""
    span = edge.source_span or edge.target_span
    where = _place(edge.place) if edge.place is not None else (file, span.line) if span is not None else (None, None)
    values: Row = {
        "statement": statement,
        "target": str(edge.target.table),
        "target_column": column_name(edge.target),
        "source": str(edge.source.table),
        "source_column": column_name(edge.source),
        "kind": edge.kind.value,
        "expression": _shortened(edge.expression),
        "masking": edge.masking,
        "approximate": edge.approximate,
        "file": where[0],
        "line": where[1],
        "start": span.start if span is not None else None,
        "end": span.end if span is not None else None,
        "observed": False,
        **observed,
    }
    known = facts.rows[EDGES.name].get(tuple(values[name] for name in EDGES.key))
    if known is None or (known["approximate"] and not edge.approximate):
        facts.add(EDGES, **values)
    elif edge.expression and bool(known["approximate"]) == bool(edge.approximate):
        said = (known["expression"] or "").split("; ")
        if edge.expression not in said:
            known["expression"] = "; ".join(filter(None, (*said, edge.expression)))


def _shortened(expression: str | None) -> str | None:
    """An expression as the graph keeps it. Generated SQL has some of 300,000 characters, in a thousand edges each."""
    if expression is None or len(expression) <= _LONGEST:
        return expression
    return f"{expression[: _LONGEST - 1]}…"


def _place(text: str) -> tuple[str, int | None]:
    """`file:line` and `file:line:column` as file and line."""
    found = re.fullmatch(r"(.+?):(\d+)(?::\d+)?", text)
    return (found[1], int(found[2])) if found is not None else (text, None)


def add_issues(facts: Facts, statement: str, issues: Iterable[Issue]) -> None:
    """Add findings, numbered as they come."""
    for number, issue in enumerate(issues):
        facts.add(
            ISSUES,
            statement=statement,
            number=number,
            code=issue.code.name,
            severity=issue.severity.value,
            message=issue.message,
            hint=issue.hint,
            file=issue.source_name,
            line=issue.span.line if issue.span is not None else None,
            column=issue.span.column if issue.span is not None else None,
        )


@dataclass(frozen=True, slots=True)
class TableWords:
    """The description of a table by a source: the parts of its name, its text, its owner, and its columns."""

    table: tuple[str, ...]
    description: str | None
    owner: str | None
    columns: Mapping[str, str]


def owned(row: Row) -> tuple[str | None, list[str]]:
    """The owner of what a row of `lineage.columns` is of, and its tags: `owner:NAME` is among them."""
    tags = row["tags"] or []
    own = next((tag.removeprefix(OWNER) for tag in tags if tag.startswith(OWNER)), None)
    if own is None and row["owner"]:
        return row["owner"], [*tags, f"{OWNER}{row['owner']}"]
    return own, tags


def add_words(facts: Facts, words: Iterable[TableWords]) -> None:
    """Add what sources say of the tables and columns that facts have; names are compared without their case."""
    tables = {key[0].casefold(): key[0] for key in facts.rows[DATASETS.name]}
    said = {name: each for each in words if (name := tables.get(".".join(each.table).casefold())) is not None}
    about = {name: {column.casefold(): text for column, text in each.columns.items()} for name, each in said.items()}
    for (name, column), row in facts.rows[COLUMNS.name].items():
        row["description"] = row["description"] or about.get(name, {}).get(column.casefold())
    for name, each in said.items():
        if each.description or each.owner:
            told = {"description": each.description, "owner": each.owner, "origin": "described"}
            facts.add(COLUMNS, dataset=name, column=WHOLE, **told)


def add_schema(facts: Facts, schema: ResolvedSchemaMetadata, given: SchemaMetadata | None = None) -> None:
    """Add the tables and columns of a resolved schema, with the descriptions of columns in the one that was given.
    Temporary tables, which have the name of their script before theirs, and the graph's own tables are left out."""
    described = {
        (".".join(table.parts), column.name): column.description
        for table in (given.tables if given is not None else ())
        for column in table.columns
        if column.description
    }
    for table in schema.tables:
        name = ".".join(part for part in (table.catalog, table.schema, table.name) if part)
        if table.temporary or is_own(name):
            continue
        facts.add_new(DATASETS, dataset=name, kind="table")
        for position, column in enumerate(table.columns):
            origin = column.origin or table.origin
            facts.add(
                COLUMNS,
                dataset=name,
                column=column.name,
                position=position,
                type=column.data_type,
                description=described.get((name, column.name)),
                origin=origin.value if origin is not None else None,
            )
