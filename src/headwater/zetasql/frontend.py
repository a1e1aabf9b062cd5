"""GoogleSQL through ZetaSQL: a front end for the script loop.
A front end belongs to one script at a time and remembers what it defines; functions and procedures stay known for the
scripts after it. A statement that ZetaSQL cannot resolve goes to the fallback, when one is given; without, it is an
issue."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace

from headwater.lineage.resolver import SchemaResolver
from headwater.lineage.script import Lowered
from headwater.text import Source
from headwater.zetasql import procedures  # noqa: F401  (registers what it handles)
from headwater.zetasql.catalog import Path, last_word
from headwater.zetasql.engine import ZetaSqlEngine, default_engine
from headwater.zetasql.failures import CannotResolve
from headwater.zetasql.lower import ResolvedRoutine
from headwater.zetasql.provider import TableProvider
from headwater.zetasql.reader import Reader
from headwater.zetasql.spanner import respell, type_without_rows
from headwater.zetasql.split import ScriptPiece, split_script
from headwater.zetasql.statements import Computes, Fallback, ScriptState, Setting, understand_anyhow
from headwater.zetasql.tables import tables_only


@dataclass(frozen=True, slots=True)
class Functions:
    """Functions that a front end has taken in, for others to know without resolving them again."""

    scalar: Mapping[Path, bytes] = field(default_factory=dict)
    table: Mapping[Path, bytes] = field(default_factory=dict)
    hidden: frozenset[int] = frozenset()
    routines: Mapping[str, ResolvedRoutine] = field(default_factory=dict)
    definitions: tuple[tuple[ScriptPiece, Setting], ...] = ()

    def only(self, words: Set[str]) -> "Functions":
        """Those whose names end with one of some words: the fewer there are, the sooner a catalog is registered."""
        scalar, table = (
            {path: content for path, content in each.items() if last_word(path) in words}
            for each in (self.scalar, self.table)
        )
        return replace(self, scalar=scalar, table=table)

    def __or__(self, other: "Functions") -> "Functions":
        return Functions(
            {**self.scalar, **other.scalar},
            {**self.table, **other.table},
            self.hidden | other.hidden,
            {**self.routines, **other.routines},
            tuple({id(each): each for each in (*self.definitions, *other.definitions)}.values()),
        )


class GoogleSqlFrontEnd:
    """Text to relation trees, for `bigquery` and `spanner`."""

    def __init__(
        self,
        *,
        engine: ZetaSqlEngine | None = None,
        dialect: str = "bigquery",
        fallback: Fallback | None = None,
        computes: Computes | None = None,
        provider: TableProvider | None = None,
    ) -> None:
        self.dialect = dialect
        self._read: tuple[Source, Source] | None = None  # a script of Spanner, and how it is spelled for ZetaSQL
        self.state = ScriptState(Reader(engine or default_engine(), dialect, provider), fallback=fallback)
        self.state.computes = computes

    def foresee(self, texts: Iterable[tuple[str, SchemaResolver]]) -> None:
        """Take in the tables of texts that come next all at once: registering them text by text takes longer."""
        self.state.reader.foresee(texts)

    @property
    def engine(self) -> ZetaSqlEngine:
        return self.state.reader.engine

    @property
    def functions(self) -> Functions:
        """The functions that it has taken in."""
        state, catalog = self.state, self.state.reader.catalog
        scalar, table = dict(catalog.functions), dict(catalog.table_functions)
        return Functions(scalar, table, catalog.hidden, dict(state.routines), tuple(state.definitions))

    def know(self, functions: Functions, texts: Set[str]) -> None:
        """Know functions that another front end has taken in; the fallback is told of those of some texts only."""
        state, catalog = self.state, self.state.reader.catalog
        catalog.functions, catalog.table_functions = dict(functions.scalar), dict(functions.table)
        catalog.hidden = functions.hidden
        state.routines = dict(functions.routines)
        state.definitions = [each for each in functions.definitions if each[1].source.text in texts]

    def reads_tables(self, text: str) -> bool:
        """Return whether a script names tables, or cannot be read."""
        return self.state.reader.names_tables(text)

    def split(self, source: Source) -> list[ScriptPiece]:
        """Cut a script into statements, also those inside its blocks."""
        return split_script(self.begin(source), self.engine, self.dialect)

    def begin(self, source: Source) -> Source:
        """Begin a script, and return it as ZetaSQL reads it; for who has its statements already."""
        source = self._spelled(source)
        self.state.begin()
        self.state.reader.begin(source.text)
        return source

    def _spelled(self, source: Source) -> Source:
        """The script as ZetaSQL reads it, with the same places."""
        if self.dialect != "spanner":
            return source
        if self._read is None or self._read[0] is not source:
            self._read = source, Source(respell(source.text), source.name)
        return self._read[1]

    def lower(self, statement: ScriptPiece, *, source: Source, resolver: SchemaResolver, deadline: float) -> Lowered:
        """Understand one statement, with the schema as it is at this point of the script."""
        setting = Setting(self._spelled(source), resolver, deadline=deadline)
        apart = type_without_rows(setting.text(statement.start, statement.end)) if self.dialect == "spanner" else None
        if apart is not None:
            return Lowered(apart)
        try:
            lowered = understand_anyhow(self.state, statement, setting)
        except CannotResolve as failure:
            return tables_only(self.state, statement, setting, failure)
        if lowered.effects:
            self.state.reader.schema_changed()
        return lowered

    def tables_only(self, statement: ScriptPiece, setting: Setting, failure: CannotResolve) -> Lowered:
        """Return what can be said of a statement that nobody understood: the tables it names."""
        return tables_only(self.state, statement, setting, failure)
