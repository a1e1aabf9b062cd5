"""The answer to one request: the lineage of every statement, what was found on the way, and the schema used."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from headwater.errors import Issue, Severity
from headwater.lineage import wire
from headwater.lineage.formats import rows, tree
from headwater.lineage.formats.rows import html, in_format
from headwater.lineage.readings import ColumnLineage, Reading, TableLineage, column_lineage, table_lineage
from headwater.lineage.resolver import SchemaResolver
from headwater.lineage.schema import ResolvedSchemaMetadata
from headwater.lineage.statement import StatementLineage
from headwater.model.edges import ColumnRef, Edge
from headwater.model.graph import Graph, Link
from headwater.model.names import TableName
from headwater.text import Source
from headwater.view.formats import PICTURES, make_picture

if TYPE_CHECKING:
    from headwater.view.diagram import Diagram

_MOST_BOXES = 60  # in a notebook's picture: a cell is for looking
Level = Literal["column", "table"]


@dataclass(frozen=True)
class AnalyzeResult:
    """The lineage of a text, a file or a whole set of files.

    Statements are numbered through all sources in the order given and have the edges of `reading`; `issues` are those
    of the statements and those that belong to none.
    """

    statements: tuple[StatementLineage, ...]
    issues: tuple[Issue, ...] = ()
    reading: Reading = Reading.FULL
    resolver: SchemaResolver | None = field(default=None, repr=False)
    sources: dict[str | None, Source] = field(default_factory=dict, repr=False)

    @property
    def has_errors(self) -> bool:
        """Return whether some statement could not be read at all."""
        return any(issue.severity is Severity.ERROR for issue in self.issues)

    @cached_property
    def resolved_schema(self) -> ResolvedSchemaMetadata | None:
        """The schema the analysis ended with: imported tables, and those the statements implied."""
        return self.resolver.resolved() if self.resolver is not None else None

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges of all statements."""
        return tuple(edge for statement in self.statements for edge in statement.edges)

    @property
    def nodes(self) -> list[wire.WireNode]:
        """Every table and column that takes part, as on the wire."""
        return self.to_wire().nodes

    @property
    def summary(self) -> wire.WireSummary:
        """Counts over the whole result, as on the wire."""
        return self.to_wire().summary

    @cached_property
    def graph(self) -> Graph[ColumnRef, Edge]:
        """Columns joined by the edges of all statements, chained through the tables they share."""
        return Graph(Link(edge.source, edge.target, edge) for edge in self.edges)

    @cached_property
    def tables(self) -> tuple[TableName, ...]:
        """Every table read or written, in order of appearance."""
        seen: dict[TableName, None] = {}
        for statement in self.statements:
            seen |= dict.fromkeys(source.name for source in statement.sources)
            if statement.target is not None:
                seen[statement.target] = None
        return tuple(seen)

    def column_lineage(self) -> tuple[ColumnLineage, ...]:
        """Each output column of each statement with the columns it comes from."""
        return tuple(
            each for statement in self.statements for each in column_lineage(statement, reading=self.reading)
        )

    def table_lineage(self) -> tuple[TableLineage, ...]:
        """The tables each statement reads and writes."""
        return tuple(map(table_lineage, self.statements))

    def to_wire(self) -> wire.WireResult:
        """The result as the structs of the wire format."""
        return wire.to_wire(self.statements, self.issues, reading=self.reading, schema=self.resolved_schema)

    def to_json(self) -> str:
        """The result in the wire format (`docs/reference/lineage.schema.json`)."""
        return wire.encode(self.to_wire())

    def to_text(self, format: str = "tree", *, level: Level = "column", namespace: str = "headwater") -> str:
        """The result as text, in one of `RESULT_FORMATS`: a tree, a table, a diagram source, …

        RAISES: UsageError for a format that does not exist.
        """
        makers: dict[str, Callable[[], str]] = {
            "tree": lambda: (tree.table_tree if level == "table" else tree.column_tree)(self.statements),
            "table": lambda: rows.aligned(*self._rows(level)),
            "json": self.to_json,
            "jsonl": lambda: rows.to_json_lines(*self._rows(level)),
            "csv": lambda: rows.to_csv(*self._rows(level)),
            **{name: partial(self._drawn, level, name) for name in PICTURES},
            "openlineage": lambda: _module("openlineage").openlineage(
                self.statements, namespace=namespace, sources=self.sources
            ),
        }
        return in_format(makers, format)

    def _drawn(self, level: Level, format: str) -> str:
        return make_picture(self._diagram(level), format)

    def _diagram(self, level: Level) -> "Diagram":
        drawn: Diagram = _module("picture").diagram(self.statements, tables_only=level == "table")
        return drawn

    def _rows(self, level: Level) -> tuple[tuple[str, ...], list[rows.Row]]:
        if level == "table":
            return rows.TABLE_HEADERS, rows.table_rows(self.statements)
        return rows.COLUMN_HEADERS, rows.column_rows(self.statements)

    def _repr_html_(self) -> str:
        picture = self._diagram("column")
        drawn = make_picture(picture, "svg") if 0 < len(picture.boxes) <= _MOST_BOXES else ""
        return drawn + html(self.statements)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {
            "text/plain": self.to_text("tree"),
            "text/html": self._repr_html_(),
            "text/vnd.mermaid": self.to_text("mermaid"),
        }


def _module(name: str) -> Any:
    """The module of a format that is rarely asked for."""
    return import_module(f"headwater.lineage.formats.{name}")
