"""The state of lowering one statement, and the registry of what lowers which node.
The modules beside this one register a function per message type with `@lowers(...)` (expressions) and `@builds(...)`
(scans). They call each other through `ResolvedLowering`, so none imports another that imports it.
Ids: ZetaSQL numbers columns from 1 in each analysis. Trees of several analyses meet in one statement (the body of a
function, the value of a variable), so each lowering has a block of numbers of its own."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol, TypeAlias

from headwater.errors import Issue, IssueCode, Severity
from headwater.lineage.known_table import KnownTable
from headwater.lineage.resolver import SchemaResolver
from headwater.model.names import TableName
from headwater.model.relation import Attribute, Computed, Expression, Literal, Ref, Relation
from headwater.text import Source, Span
from headwater.zetasql.messages import resolved

_BLOCK = 1_000_000
_FIRST_FREE = 900_000  # above ZetaSQL's own numbers in the block
_blocks = count(1)

LITERAL = Literal()


@dataclass(frozen=True, slots=True)
class Place:
    """The place of an analysed text in its source: `start` is the byte offset of its first byte.
    `exact` False means that it stands nowhere (a computed string): then nothing in it has a span."""

    source: Source
    start: int = 0
    exact: bool = True

    def span(self, start: int, end: int) -> Span | None:
        """The span of bytes of the analysed text."""
        return self.source.span_of_bytes(self.start + start, self.start + end) if self.exact else None


@dataclass(frozen=True, slots=True)
class ResolvedRoutine:
    """A function or table function, and how to come by its body. `statement` is the resolved CREATE statement. A
    function with parameters of ANY TYPE or ANY TABLE has no body until the types of a call are known: `specialize`
    then resolves it for that call. `opaque` says why there is none."""

    name: str
    parameters: tuple[str, ...]
    statement: Any
    place: Place
    tables: Mapping[str, KnownTable] = field(default_factory=dict)
    specialize: "Callable[[Any], Specialized | None] | None" = None
    opaque: str | None = None

    @property
    def is_guess(self) -> bool:
        """Return whether nothing defines it: all that is known of it is that a statement calls it."""
        return self.statement is None


@dataclass(frozen=True, slots=True)
class Specialized:
    """A body resolved for one call: an expression or a scan, and the tables it reads."""

    body: Any
    place: Place
    tables: Mapping[str, KnownTable]
    columns: tuple[int, ...] = ()  # of a scan: its outputs, as ZetaSQL numbers them


class Qualify(Protocol):
    """Makes the name of a table that is to be created, or that a statement names without reading it."""

    def __call__(self, path: tuple[str, ...], temporary: bool = False) -> TableName: ...


@dataclass(slots=True)
class Surroundings:
    """The names that a statement can refer to besides its own text."""

    tables: Mapping[str, KnownTable] = field(default_factory=dict)  # by the full name given to ZetaSQL
    routines: Mapping[str, ResolvedRoutine] = field(default_factory=dict)  # by dotted name, lower case
    variables: Mapping[str, Expression] = field(default_factory=dict)  # by name, lower case
    qualify: "Qualify" = lambda path, temporary=False: TableName(tuple(".".join(path).split(".")))
    resolver: SchemaResolver = field(default_factory=SchemaResolver)  # the schema at this point of the script


class ResolvedLowering:
    """One resolved statement on its way to the relation tree."""

    def __init__(self, place: Place, around: Surroundings) -> None:
        self.place = place
        self.around = around
        self.issues: list[Issue] = []
        self.base = next(_blocks) * _BLOCK
        self.arguments: dict[str, Expression] = {}  # of the function whose body this is
        self.relations: dict[str, tuple[Relation, tuple[int, ...]]] = {}  # table arguments of a table function
        self.flattened: list[Expression] = []
        self.recursive: list[int] = []  # CTE ids of the recursive queries around
        self.pipelines: list[int] = []  # CTE ids of the inputs of subpipelines around
        self.depth = 0
        self.expand_structs = False  # write struct columns leaf by leaf
        self._next = count(self.base + _FIRST_FREE)
        self._ctes: dict[str, int] = {}

    # --------------------------------------------------------------------------------------------- nodes

    def expression(self, node: Any) -> Expression:
        """Lower an expression, wrapped in any number of `Any…` messages."""
        while True:
            lower = _EXPRESSIONS.get(type(node))
            if lower is not None:
                return lower(self, node)
            inner = node.WhichOneof("node") if _is_wrapper(node) else None
            if inner is None:
                if _is_wrapper(node):
                    return LITERAL
                raise UnsupportedNode(type(node).__name__)
            node = getattr(node, inner)

    def scan(self, node: Any) -> Relation:
        """Lower a scan."""
        while True:
            build = _SCANS.get(type(node))
            if build is not None:
                return build(self, node)
            inner = node.WhichOneof("node") if _is_wrapper(node) else None
            if inner is None:
                raise UnsupportedNode(type(node).__name__)
            node = getattr(node, inner)

    # ----------------------------------------------------------------------------------------------- ids

    def id(self, column: Any) -> int:
        """The id of a ZetaSQL column in this lowering."""
        return self.base + int(column.column_id)

    def ref(self, column: Any) -> Ref:
        return Ref(self.base + column.column_id)

    def new_id(self) -> int:
        return next(self._next)

    def attribute(self, column: Any, name: str | None = None) -> Attribute:
        return Attribute(self.base + column.column_id, column.name if name is None else name)

    def computed(self, node: Any) -> Computed:
        """A computed column, wrapped or not."""
        node = unwrap(node)
        expression = self.expression(node.expr)
        return Computed(self.attribute(node.column), expression, self.span(node.expr))

    def bind_arguments(self, names: tuple[str, ...], values: tuple[Expression, ...]) -> tuple[Computed, ...]:
        """New columns for the parameters of a body, which then refers to them by name."""
        bindings = tuple(Computed(Attribute(self.new_id(), name), value) for name, value in zip(names, values))
        self.arguments = {each.attribute.name.lower(): Ref(each.attribute.id) for each in bindings}
        return bindings

    def cte(self, name: str) -> int:
        """The id of a WITH query; ZetaSQL makes the names unique in a statement."""
        found = self._ctes.get(name)
        if found is None:
            found = self._ctes[name] = self.new_id()
        return found

    # --------------------------------------------------------------------------------------------- spans

    def span(self, node: Any) -> Span | None:
        """The place of a node in the text, when ZetaSQL recorded it."""
        found = location(node)
        return None if found is None else self.place.span(found.start, found.end)

    # ------------------------------------------------------------------------------------------- reports

    def report(self, message: str, span: Span | None = None, hint: str | None = None) -> None:
        """Say that lineage is widened or incomplete here, once."""
        issue = Issue(IssueCode.APPROXIMATE_LINEAGE, Severity.INFO, message, span, hint=hint)
        if not any(known.message == message for known in self.issues):
            self.issues.append(issue)

    @contextmanager
    def inside(self, stack: list[Any], value: Any) -> Iterator[None]:
        """Have `value` on a stack while something below is lowered."""
        stack.append(value)
        try:
            yield
        finally:
            stack.pop()


class UnsupportedNode(Exception):
    """A node of the resolved tree that has no lineage rule; the name is that of its message."""


_Lower: TypeAlias = Callable[[ResolvedLowering, Any], Expression]
_Build: TypeAlias = Callable[[ResolvedLowering, Any], Relation]
_EXPRESSIONS: dict[type, _Lower] = {}
_SCANS: dict[type, _Build] = {}
_WRAPPERS: dict[type, bool] = {}
_PARENTS: dict[type, bool] = {}


def lowers(*names: str) -> Callable[[_Lower], _Lower]:
    """Register a function for expressions: `@lowers("Cast")` for ResolvedCastProto."""

    def register(function: _Lower) -> _Lower:
        _EXPRESSIONS.update((message_type(name), function) for name in names)
        return function

    return register


def builds(*names: str) -> Callable[[_Build], _Build]:
    """Register a function for scans."""

    def register(function: _Build) -> _Build:
        _SCANS.update((message_type(name), function) for name in names)
        return function

    return register


def message_type(name: str) -> Any:
    """The message class of a resolved node by its short name."""
    return getattr(resolved, f"Resolved{name}Proto")


def unwrap(node: Any) -> Any:
    """The concrete message inside any number of `Any…` wrappers; None when a wrapper is empty."""
    while _is_wrapper(node):
        inner = node.WhichOneof("node")
        if inner is None:
            return None
        node = getattr(node, inner)
    return node


def location(node: Any) -> Any:
    """The byte range of a node, or None; it is kept by the innermost of its chain of parents."""
    node = unwrap(node)
    while node is not None and _has_parent(node):
        node = node.parent
    if node is None or not node.HasField("parse_location_range"):
        return None
    return node.parse_location_range


def table_name(dotted: str) -> TableName:
    return TableName(tuple(dotted.split(".")))


def _is_wrapper(node: Any) -> bool:
    kind = type(node)
    known = _WRAPPERS.get(kind)
    if known is None:
        known = _WRAPPERS[kind] = kind.__name__.startswith("AnyResolved")
    return known


def _has_parent(node: Any) -> bool:
    kind = type(node)
    known = _PARENTS.get(kind)
    if known is None:
        known = _PARENTS[kind] = "parent" in kind.DESCRIPTOR.fields_by_name
    return known
