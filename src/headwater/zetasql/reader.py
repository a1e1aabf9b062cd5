"""From the text of a statement to its resolved tree, with the catalog as it is at that point of the script.
Registering a catalog takes longer than resolving a small statement, and asking ZetaSQL for the tables of a text takes
a parse. So a text is resolved with the catalog at hand, which keeps the tables of earlier texts. Only if that fails,
or if a table it used turns out to be another by now, are the tables looked up and the text is resolved once more.
Whoever has many texts says so beforehand: then the catalog at hand has the tables of just these."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from headwater.errors import EngineCrashError, InputError, SchemaError, TimeLimitError
from headwater.lineage.resolver import SchemaResolver
from headwater.model.names import TableName, parse_parts
from headwater.model.relation import Resolution
from headwater.text import Source
from headwater.zetasql.catalog import CatalogEntry, Path, ScriptCatalog, find_table, split_path
from headwater.zetasql.engine import RegisteredCatalog, ZetaSqlEngine
from headwater.zetasql.failures import CannotResolve, Reason, read_error
from headwater.zetasql.instance import ServiceError
from headwater.zetasql.lower import Place
from headwater.zetasql.messages import options, service
from headwater.zetasql.options import analyzer_bytes, language_bytes, language_options
from headwater.zetasql.provider import TableProvider
from headwater.zetasql.types import type_bytes

_SCRIPT_TABLES = 40  # up to this many, the tables of a script are registered all at once
_KEPT_COLUMNS = 20_000  # tables of earlier scripts are kept up to so many columns
_WORTH_KEEPING = 1_000  # beyond so many, only while they are used: registering a column takes 15 µs


@dataclass(slots=True)
class _Kept:
    """The tables of earlier scripts, and how often they were enough for a text."""

    entries: dict[Path, CatalogEntry] = field(default_factory=dict)
    built: RegisteredCatalog | None = None
    hits: int = 0
    misses: int = 0

    def has_room(self) -> bool:
        columns = sum(len(entry.columns) for entry in self.entries.values())
        return columns <= (_KEPT_COLUMNS if self.misses <= 2 * self.hits else _WORTH_KEEPING)


_kept: WeakKeyDictionary[ZetaSqlEngine, dict[str, _Kept]] = WeakKeyDictionary()


class Reader:
    """Resolves texts for one script."""

    def __init__(
        self, engine: ZetaSqlEngine, dialect: str = "bigquery", provider: TableProvider | None = None
    ) -> None:
        self.engine = engine
        self.dialect = dialect
        self.catalog = ScriptCatalog(dialect, provider=provider)
        self._script = ""
        self._script_paths: list[Path] | None = None
        self._checked: set[Path] = set()
        self._resolver: SchemaResolver | None = None
        self._own: _Kept | None = None  # where there is a provider: what it says is for this reader alone

    def begin(self, text: str) -> None:
        """A new script. Tables of earlier ones stay in the catalog: they cost nothing once they are there.
        A provider may have to be asked about each of them again, so with one the catalog begins empty."""
        if self.catalog.provider is not None:
            self._keep(_Kept())
        self.catalog = ScriptCatalog(
            self.dialect,
            entries=dict(self._kept.entries),
            functions=self.catalog.functions,
            table_functions=self.catalog.table_functions,
            hidden=self.catalog.hidden,
            provider=self.catalog.provider,
            built=self.catalog.built or self._kept.built,
        )
        self._script = text
        self._script_paths = None
        self._checked = set()

    def foresee(self, texts: Iterable[tuple[str, SchemaResolver]]) -> None:
        """Have the tables of texts that come next in the catalog, and no others, beside the functions that are known.
        Where two texts mean different tables by one path, the catalog has that of the first."""
        catalog = ScriptCatalog(
            self.dialect,
            functions=self.catalog.functions,
            table_functions=self.catalog.table_functions,
            hidden=self.catalog.hidden,
        )
        for text, resolver in texts:
            named = {tuple(part.lower() for part in path): path for path in self._tables_of(text)}
            catalog.add_tables([path for key, path in named.items() if key not in catalog.entries], resolver)
        self._keep(_Kept(catalog.entries, catalog.catalog()))

    @property
    def _kept(self) -> _Kept:
        return self._own or _kept.setdefault(self.engine, {}).setdefault(self.dialect, _Kept())

    def _keep(self, kept: _Kept) -> None:
        if self.catalog.provider is not None:
            self._own = kept
        else:
            _kept.setdefault(self.engine, {})[self.dialect] = kept

    def schema_changed(self) -> None:
        """Do not trust what was looked up before."""
        self._checked = set()

    def hide_builtin(self, name: str) -> None:
        """Let a function of the script take the place of ZetaSQL's own of that name: two of a name end the engine."""
        ids = _builtin_ids(self.engine, self.dialect).get(name.lower())
        if ids:
            self.catalog.hidden |= ids

    def statement(self, text: str, place: Place, resolver: SchemaResolver, *, inner: bool = False) -> Any:
        """The resolved statement. `inner` says that the text is not itself part of the script (a string, a body).
        RAISES: CannotResolve."""
        request = service.AnalyzeRequest(sql_statement=text)
        return self._resolve(request, text, place=place, resolver=resolver, inner=inner).resolved_statement

    def expression(
        self, text: str, place: Place, resolver: SchemaResolver, *, columns: dict[str, Any] | None = None
    ) -> Any:
        """The resolved expression; `columns` are names with types (TypeProto) that it may use besides.
        RAISES: CannotResolve."""
        request = service.AnalyzeRequest(sql_expression=text)
        for name, kind in (columns or {}).items():
            request.options.expression_columns.add(name=name).type.CopyFrom(kind)
        return self._resolve(
            request, f"SELECT {text}", place=place, resolver=resolver, inner=True
        ).resolved_expression

    def table_names(self, text: str) -> list[Path]:
        """The tables a statement names, without resolving it; none when it does not parse."""
        try:
            return self.engine.table_names(text, language_bytes(self.dialect))
        except (ServiceError, EngineCrashError, TimeLimitError):
            return []

    def names_tables(self, script: str) -> bool:
        """Return whether a script names tables, or cannot be read."""
        try:
            return bool(self.engine.table_names(script, language_bytes(self.dialect), script=True))
        except (ServiceError, EngineCrashError, TimeLimitError):
            return True

    def check_tables(self, text: str, resolver: SchemaResolver) -> None:
        """Look for tables of a statement that are not known: ZetaSQL would refuse it as well, but not so soon.
        RAISES: CannotResolve."""
        if self.catalog.provider is not None or not _READS.match(text):
            return
        unknown = self._unknown(self._tables_of(self._script), resolver)
        if unknown and len(text) < len(self._script.strip(" \n;")):  # there are other statements, too
            unknown = self._unknown(self.table_names(text), resolver)
        for path in unknown:
            raise _partly_known(CannotResolve(Reason.UNKNOWN_TABLE, f"Table not found: {'.'.join(path)}"), resolver)

    def _unknown(self, paths: list[Path], resolver: SchemaResolver) -> list[Path]:
        return [path for path in paths if find_table(path, resolver) is None]

    # ------------------------------------------------------------------------------------------ resolving

    def _resolve(self, request: Any, text: str, *, place: Place, resolver: SchemaResolver, inner: bool) -> Any:
        try:
            at_hand = self.catalog.entries and not _altered(text)  # the answer to an ALTER does not name its table
            answer, refusal = self._first_try(request, resolver) if at_hand else (None, None)
            if answer is None:
                before = dict(self.catalog.entries)
                self._look_up(text, resolver, inner)
                if refusal is not None and self.catalog.entries == before and "Connection" not in refusal.message:
                    raise refusal  # nothing has changed: neither would the answer
                answer = self._with_connections(request)
        except ServiceError as err:
            failure = self._failure(err, request.sql_statement or request.sql_expression, place)
            raise _partly_known(failure, resolver) from err
        except (EngineCrashError, TimeLimitError) as err:
            raise CannotResolve(Reason.CRASH, err.message) from err
        return service.AnalyzeResponse.FromString(answer)

    def _with_connections(self, request: Any) -> bytes:
        """The answer; a connection that a statement names is taken to exist: lineage does not ask what it is."""
        try:
            return self._analyze(request)
        except ServiceError as err:
            missing = re.match(r"Connection not found: ([^\s;]+)", err.message)
            if missing is None:
                raise
            self.catalog.connections.add(parse_parts(missing.group(1)))
            return self._analyze(request)

    def _first_try(self, request: Any, resolver: SchemaResolver) -> tuple[bytes | None, ServiceError | None]:
        """The answer with the catalog at hand, None when it must not be trusted; and the refusal, if it was one."""
        try:
            answer = self._analyze(request)
        except ServiceError as err:
            if "Syntax error" in err.message:
                raise
            return None, err
        return (answer if self._is_current(answer, resolver) else None), None

    def _is_current(self, answer: bytes, resolver: SchemaResolver) -> bool:
        """Return whether each table in an answer is what its path means now. Names are looked for in the bytes,
        whole, as Protobuf writes them: what is looked up here counts as seen by the text."""
        if resolver is not self._resolver:
            self._resolver, self._checked = resolver, set()
        used = [
            entry
            for key, entry in self.catalog.entries.items()
            if key not in self._checked and _in_message(entry.full_name) in answer
        ]
        current = all(self._check(entry, resolver) for entry in used)
        self._kept.hits += bool(used) and current
        return current

    def _check(self, entry: CatalogEntry, resolver: SchemaResolver) -> bool:
        key = tuple(part.lower() for part in entry.path)
        self.catalog.add_tables([entry.path], resolver)
        self._checked.add(key)
        return self.catalog.entries.get(key) == entry

    def _look_up(self, text: str, resolver: SchemaResolver, inner: bool) -> None:
        """Put the tables of a text in the catalog; for a statement of the script, those of the whole script."""
        self._resolver, self._checked = resolver, set()
        if not inner and self._script_paths is None:
            paths = self._tables_of(self._script)
            self._script_paths = paths if len(paths) <= _SCRIPT_TABLES else []
        paths = self._script_paths if self._script_paths and not inner else self.table_names(text)
        self.catalog.add_tables([*paths, *_altered(text)], resolver)
        self.catalog.add_tables(self._named_in(text), resolver)
        kept = self._kept
        kept.misses += 1
        kept.entries = dict(self.catalog.entries)
        if not kept.has_room():
            wanted = {tuple(part.lower() for part in path) for path in paths}
            self.catalog.entries = {key: entry for key, entry in self.catalog.entries.items() if key in wanted}
            self._keep(_Kept(dict(self.catalog.entries)))

    def _named_in(self, text: str) -> list[Path]:
        """Paths of earlier texts whose names are in this one: what they meant then, they need not mean now."""
        here = text.lower()
        return [each.path for key, each in self.catalog.entries.items() if _may_name(here, ".".join(key).split("."))]

    def _tables_of(self, script: str) -> list[Path]:
        """All tables that a script names; none when some statement is wrong."""
        try:
            return self.engine.table_names(script, language_bytes(self.dialect), script=True)
        except (ServiceError, EngineCrashError, TimeLimitError):
            return []

    def _analyze(self, request: Any) -> bytes:
        at_hand = self.catalog.catalog_for(request.sql_statement or request.sql_expression)
        try:
            return self._ask(request, at_hand)
        except ServiceError:
            whole = self.catalog.catalog()
            if whole is at_hand:
                raise
            return self._ask(request, whole)

    def _ask(self, request: Any, catalog: RegisteredCatalog) -> bytes:
        positional = False
        while True:
            try:
                return self.engine.analyze_raw(request, analyzer_bytes(self.dialect, positional=positional), catalog)
            except ServiceError as err:
                if "Positional parameters are not supported" in err.message and not positional:
                    positional = True
                elif not _declare_parameter(request, err.message):
                    raise

    def _failure(self, err: ServiceError, text: str, place: Place) -> CannotResolve:
        size = len(text.encode())
        if place.exact:
            return read_error(err, place.source, place.start, size)
        failure = read_error(err, Source(text), 0, size)
        return CannotResolve(failure.reason, failure.message)


_READS = re.compile(
    r"\s*(?:\(|(?:SELECT|WITH|FROM|INSERT|UPDATE|DELETE|MERGE)\b|CREATE\s+(?:OR\s+REPLACE\s+)?(?:TEMP(?:ORARY)?\s+)?"
    r"(?:TABLE(?!\s+FUNCTION)|VIEW|MATERIALIZED\s+VIEW)\b)",
    re.IGNORECASE,
)
"""Begins the statements of which ZetaSQL wants to know all tables that they name."""
_PARAMETER = re.compile(r"Undeclared parameter '([^']+)' is used assuming different types \((.+?) vs (.+?)\)")


def _declare_parameter(request: Any, refusal: str) -> bool:
    """Give the parameter of a refusal a type, if that is what it lacks.
    ZetaSQL takes a parameter that stands alone for an INT64. Where it is compared or passed on, its type is told."""
    found = _PARAMETER.match(refusal)
    if found is None or any(each.name == found[1] for each in request.options.query_parameters):
        return False
    kind = next((kind for kind in found.groups()[1:] if kind != "INT64"), "INT64")
    try:
        request.options.query_parameters.add(name=found[1]).type.MergeFromString(type_bytes(kind))
    except SchemaError:
        return False
    return True


def _partly_known(failure: CannotResolve, resolver: SchemaResolver) -> CannotResolve:
    """A failure; of a table that is known but for some of its columns, it says just that."""
    missing = re.match(r"Table not found: ([^\s;]+)", failure.message)
    if missing is None:
        return failure
    table = resolver.resolve(TableName(split_path((missing.group(1).replace("`", ""),))))
    if table.resolution is Resolution.UNKNOWN or table.complete:
        return failure
    return CannotResolve(Reason.OPEN_TABLE, f"some columns of `{table.name}` are not known", failure.span)


def _may_name(text: str, path: list[str]) -> bool:
    """Return whether a text may name a path: its first part, not after a dot, and its last as a whole word.

    >>> _may_name("select * from t10", ["t1"]), _may_name("select * from t1, t10", ["t1"])
    (False, True)
    >>> _may_name("select * from d.t", ["t"]), _may_name("select * from `d`.`t`", ["d", "t"])
    (False, True)
    """
    first, last = path[0], path[-1]
    if first not in text or last not in text or re.search(rf"(?<!\w){re.escape(last)}(?!\w)", text) is None:
        return False
    return re.search(rf"(?<![\w.])(?<!\.`){re.escape(first)}(?!\w)", text) is not None


@lru_cache(10_000)
def _in_message(text: str) -> bytes:
    """A text as Protobuf writes it: after its length, seven bits a byte, the lowest first."""
    data = text.encode()
    size, left = bytearray(), len(data)
    while left > 0x7F:
        size.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*size, left]) + data


_ALTER = re.compile(r"\s*ALTER\s+(?:TABLE|VIEW|MATERIALIZED\s+VIEW)\s+(?:IF\s+EXISTS\s+)?([^\s;]+)", re.IGNORECASE)


def _altered(text: str) -> list[Path]:
    """The table that an ALTER names: ZetaSQL does not count it among the tables of a text."""
    match = _ALTER.match(text)
    if match is None:
        return []
    try:
        return [parse_parts(match.group(1))]
    except InputError:
        return []


@lru_cache(4)
def _builtin_ids(engine: ZetaSqlEngine, dialect: str) -> dict[str, frozenset[int]]:
    """The signature ids of each builtin function, by name."""
    request = options.ZetaSQLBuiltinFunctionOptionsProto(language_options=language_options(dialect))
    answer = engine.call("GetBuiltinFunctions", request, service.GetBuiltinFunctionsResponse)
    found: dict[str, frozenset[int]] = {}
    for each in answer.function:
        ids = frozenset(int(signature.context_id) for signature in each.signature)
        found[each.name_path[-1].lower()] = found.get(each.name_path[-1].lower(), frozenset()) | ids
    return found
