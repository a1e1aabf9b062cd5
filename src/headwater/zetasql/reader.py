"""From the text of a statement to its resolved tree, with the catalog as it is at that point of the script."""

from functools import lru_cache
from typing import Any

from headwater.errors import EngineCrashError, TimeLimitError
from headwater.lineage.resolver import SchemaResolver
from headwater.text import Source
from headwater.zetasql.catalog import Path, ScriptCatalog
from headwater.zetasql.engine import Engine
from headwater.zetasql.failures import CannotResolve, Reason, read_error
from headwater.zetasql.instance import ServiceError
from headwater.zetasql.lower import Place
from headwater.zetasql.messages import options, service
from headwater.zetasql.options import analyzer_bytes, language_bytes, language_options

_SCRIPT_TABLES = 40
"""Up to this many tables, a script has one catalog of all it names; beyond, each statement has its own."""


class Reader:
    """Resolves texts for one script."""

    def __init__(self, engine: Engine, dialect: str = "bigquery") -> None:
        self.engine = engine
        self.dialect = dialect
        self.catalog = ScriptCatalog(dialect)
        self._script_paths: list[Path] | None = None
        self._stale = True

    def begin(self, text: str) -> None:
        """A new script: find the tables it names, all at once."""
        self.catalog = ScriptCatalog(
            self.dialect,
            functions=self.catalog.functions,
            table_functions=self.catalog.table_functions,
            hidden=self.catalog.hidden,
        )
        self._script_paths = None
        self._stale = True
        try:
            paths = self.engine.table_names(text, language_bytes(self.dialect), script=True)
        except (ServiceError, EngineCrashError, TimeLimitError):
            return  # some statement is wrong: each is asked for its tables alone
        if len(paths) <= _SCRIPT_TABLES:
            self._script_paths = paths

    def hide_builtin(self, name: str) -> None:
        """Let a function of the script take the place of ZetaSQL's own of that name: two of a name end the engine."""
        ids = _builtin_ids(self.engine, self.dialect).get(name.lower())
        if ids:
            self.catalog.hidden |= ids

    def schema_changed(self) -> None:
        """Look the tables up again before the next statement."""
        self._stale = True

    def statement(self, text: str, place: Place, resolver: SchemaResolver, *, inner: bool = False) -> Any:
        """The resolved statement. `inner` says that the text is not itself part of the script (a string, a body).

        RAISES: CannotResolve.
        """
        try:
            self._prepare(text, resolver, inner)
            return self._analyze(text)
        except ServiceError as err:
            raise self._failure(err, text, place) from err
        except (EngineCrashError, TimeLimitError) as err:
            raise CannotResolve(Reason.CRASH, err.message) from err

    def expression(
        self, text: str, place: Place, resolver: SchemaResolver, *, columns: dict[str, Any] | None = None
    ) -> Any:
        """The resolved expression; `columns` are names with types (TypeProto) that it may use besides.

        RAISES: CannotResolve.
        """
        request = service.AnalyzeRequest()
        for name, kind in (columns or {}).items():
            request.options.expression_columns.add(name=name).type.CopyFrom(kind)
        try:
            self._prepare(f"SELECT {text}", resolver, True)
            options = analyzer_bytes(self.dialect) + bytes(request.SerializeToString())
            return self.engine.analyze_expression(text, options, self.catalog.catalog())
        except ServiceError as err:
            raise self._failure(err, text, place) from err
        except (EngineCrashError, TimeLimitError) as err:
            raise CannotResolve(Reason.CRASH, err.message) from err

    def table_names(self, text: str) -> list[Path]:
        """The tables a statement names, without resolving it; none when it does not parse."""
        try:
            return self.engine.table_names(text, language_bytes(self.dialect))
        except (ServiceError, EngineCrashError, TimeLimitError):
            return []

    def _analyze(self, text: str) -> Any:
        catalog = self.catalog.catalog()
        try:
            return self.engine.analyze(text, analyzer_bytes(self.dialect), catalog)
        except ServiceError as err:
            if "Positional parameters are not supported" not in err.message:
                raise
            return self.engine.analyze(text, analyzer_bytes(self.dialect, positional=True), catalog)

    def _prepare(self, text: str, resolver: SchemaResolver, inner: bool) -> None:
        if self._script_paths is None or inner:
            self.catalog.add_tables(self.engine.table_names(text, language_bytes(self.dialect)), resolver)
        if self._stale and self._script_paths is not None:
            self.catalog.add_tables(self._script_paths, resolver)
            self._stale = False

    def _failure(self, err: ServiceError, text: str, place: Place) -> CannotResolve:
        size = len(text.encode())
        if place.exact:
            return read_error(err, place.source, place.start, size)
        failure = read_error(err, Source(text), 0, size)
        return CannotResolve(failure.reason, failure.message)


@lru_cache(4)
def _builtin_ids(engine: Engine, dialect: str) -> dict[str, frozenset[int]]:
    """The signature ids of each builtin function, by name."""
    request = options.ZetaSQLBuiltinFunctionOptionsProto(language_options=language_options(dialect))
    answer = engine.call("GetBuiltinFunctions", request, service.GetBuiltinFunctionsResponse)
    found: dict[str, frozenset[int]] = {}
    for each in answer.function:
        ids = frozenset(int(signature.context_id) for signature in each.signature)
        found[each.name_path[-1].lower()] = found.get(each.name_path[-1].lower(), frozenset()) | ids
    return found
