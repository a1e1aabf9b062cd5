"""GoogleSQL through ZetaSQL: a front end for the script loop.

A front end belongs to one script at a time and remembers what it defines; functions and procedures stay known for the
scripts after it. Statements that ZetaSQL cannot resolve are reported by `understand` as `CannotResolve`, so that a
caller may try another front end; `lower` turns them into an issue.
"""

from headwater.lineage.resolver import SchemaResolver
from headwater.lineage.script import Lowered, failed
from headwater.text import Source
from headwater.zetasql import procedures  # noqa: F401  (registers what it handles)
from headwater.zetasql.engine import Engine, default_engine
from headwater.zetasql.failures import CannotResolve
from headwater.zetasql.reader import Reader
from headwater.zetasql.script import Piece, split_script
from headwater.zetasql.scripting import ScriptState, Setting, understand


class GoogleSqlFrontEnd:
    """Text to relation trees, for `bigquery` and `spanner`."""

    def __init__(self, *, engine: Engine | None = None, dialect: str = "bigquery") -> None:
        self.dialect = dialect
        self.state = ScriptState(Reader(engine or default_engine(), dialect))

    def split(self, source: Source) -> list[Piece]:
        """Cut a script into statements, also those inside its blocks."""
        self.state.variables = {}
        self.state.reader.begin(source.text)
        return split_script(source, self.state.reader.engine, self.dialect)

    def lower(self, statement: Piece, *, source: Source, resolver: SchemaResolver, deadline: float) -> Lowered:
        """Understand one statement; what ZetaSQL cannot resolve becomes an issue."""
        try:
            return self.understand(statement, source=source, resolver=resolver)
        except CannotResolve as failure:
            return failed("UNKNOWN", failure.message, failure.span or statement.span)

    def understand(self, statement: Piece, *, source: Source, resolver: SchemaResolver) -> Lowered:
        """Understand one statement.

        RAISES: CannotResolve.
        """
        lowered = understand(self.state, statement, Setting(source, resolver))
        if lowered.effects:
            self.schema_changed()
        return lowered

    def schema_changed(self) -> None:
        """Somebody else changed the schema (another front end, for a statement this one gave up)."""
        self.state.reader.schema_changed()

    def table_names(self, statement: Piece, source: Source) -> list[tuple[str, ...]]:
        """The tables a statement names, each as the path it is written with, without resolving anything."""
        return self.state.reader.table_names(Setting(source, SchemaResolver()).text(statement.start, statement.end))
