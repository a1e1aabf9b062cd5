"""The state of lowering one statement, and the registry of what lowers which node.
The modules beside this one register functions for sqlglot's node types with `@lowers(...)` (expressions) and
`@builds(...)` (queries and FROM items). They call each other through `Lowering`, so none imports another that imports
it, and a node type is supported by adding one function."""

from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeAlias

from sqlglot import exp

from headwater.errors import Issue, IssueCode, SchemaError, Severity
from headwater.lineage.resolver import SchemaResolver
from headwater.lineage.values import OutOfTime
from headwater.model.names import FOLDS, TableName
from headwater.model.relation import (
    Attribute,
    Computed,
    Element,
    Expression,
    GetField,
    MakeArray,
    MakeStruct,
    Project,
    Ref,
    Relation,
    Write,
)
from headwater.model.relation import Case as RelationCase
from headwater.model.types import Array, DataType, Struct, parse_type
from headwater.sql.items import DerivedItem, Item, ItemColumn, MergedItem, Named, StoredItem
from headwater.sql.query_functions import QueryFunctions
from headwater.sql.regions import Regions
from headwater.sql.routines import Trigger
from headwater.sql.split import Piece
from headwater.sql.table_names import read_table_name
from headwater.sql.texts import Texts
from headwater.text import Source, Span

Node: TypeAlias = Any  # sqlglot's expressions: compiled, and typed only by their class


@dataclass(slots=True)
class CteInScope:
    """A named query in scope."""

    id: int
    item: DerivedItem


@dataclass(slots=True)
class Scope:
    """The names visible in one query. Names not found here are looked for in `outer` (correlation)."""

    outer: "Scope | None" = None
    items: list[Named] = field(default_factory=list)
    merged: dict[str, ItemColumn] = field(default_factory=dict)  # columns that USING or NATURAL made of two
    aliases: dict[str, ItemColumn] = field(default_factory=dict)  # of the select list, as far as it is lowered
    ctes: dict[str, CteInScope] = field(default_factory=dict)
    windows: dict[str, Node] = field(default_factory=dict)
    locals: dict[str, ItemColumn] = field(default_factory=dict)  # parameters of a lambda
    expanded: list[Expression] = field(default_factory=list)  # arrays that the select list makes rows of

    def levels(self) -> Iterator["Scope"]:
        """This scope and those around it, from the innermost."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def all_items(self) -> Iterator[Named]:
        """The relations in the FROM clauses of this query and of those around it, from the innermost."""
        for level in self.levels():
            yield from level.items

    def cte(self, key: str) -> CteInScope | None:
        """The CTE of that name, from the innermost scope that has one."""
        return next((level.ctes[key] for level in self.levels() if key in level.ctes), None)


@dataclass(slots=True)
class Query:
    """A lowered query: its rows, its columns in order, and the open items whose columns flow out by a star."""

    relation: Relation
    columns: list[ItemColumn]
    below: tuple[Item, ...] = ()
    merged: bool = False  # a set operation: what flows through a star comes from every branch
    as_struct: bool = False  # SELECT AS STRUCT
    late: list[Computed] = field(default_factory=list)  # columns computed after the relation was built
    scope: Scope | None = None  # of a SELECT: what its FROM offers

    def output_id(self, lowering: "Lowering", at: int) -> int:
        """The id of an output column: a new one unless it is a plain reference without a place in the text."""
        column = self.columns[at]
        if isinstance(column.expression, Ref) and column.expression.span is None:
            return column.expression.column
        id = lowering.new_id()
        self.late.append(Computed(Attribute(id, column.name), column.expression))
        return id

    @property
    def rows(self) -> Relation:
        """The rows of the query with the columns that `output_id` made."""
        return Project(self.relation, tuple(self.late)) if self.late else self.relation

    @property
    def item(self) -> DerivedItem:
        return MergedItem(self.columns, self.below) if self.merged else DerivedItem(self.columns, self.below)


class Lowering:
    """One statement on its way from sqlglot's tree to the relation tree."""

    def __init__(
        self,
        *,
        source: Source,
        resolver: SchemaResolver,
        dialect: str,
        piece: Piece | None = None,
        deadline: float | None = None,
    ) -> None:
        self.source = source
        self.resolver = resolver
        self.dialect = dialect
        self.offset = piece.offset if piece is not None else 0
        self.functions: dict[str, Node] = {}  # SQL functions of the script by name, as CREATE nodes
        self.query_functions: QueryFunctions = {}  # those that give rows or values by queries
        self.variables: dict[str, Node | None] = {}  # of the script, with what they stand for
        self.earlier: Sequence[Piece] = ()  # the statements of the script before this one
        self.names: Container[str] = ()  # the script's variables that a query can name without a sign
        self.texts = Texts()  # which the variables may hold
        self.cursors: dict[str, Node] = {}  # the queries of the script's cursors
        self.trigger: Trigger | None = None  # the trigger whose body the statement stands in
        self.side_writes: list[Write] = []  # to the row of a trigger
        self.conditional = piece is not None and piece.conditional
        self.branches = piece.branches if piece is not None else ()
        self.issues: list[Issue] = []
        self.stored: list[StoredItem] = []
        self.types: dict[int, str] = {}  # of columns whose type is known, by id
        self.leftmost: int | None = None  # the position of the first name of the expression being lowered
        self.prefers_rows = False
        self._fields: dict[int, tuple[str, ...]] = {}  # of columns that are structs, by id
        self.tokens: tuple[Any, ...] = piece.tokens if piece is not None else ()
        self._regions: Regions | None = None
        self._deadline = deadline
        self._next_id = 0
        self._placeless = piece is not None and piece.source is not None
        self._told: set[tuple[Any, ...]] = set()
        self._named: tuple[Node, tuple[TableName, tuple[bool, ...]]] | None = None
        self._fold, self._fold_quoted = FOLDS[resolver.case.columns]

    # --------------------------------------------------------------------------------------------- nodes

    def expression(self, node: Node, scope: Scope) -> Expression:
        """Lower an expression."""
        lower = _FOUND.get(type(node)) or lowers_as(type(node))
        return lower(self, node, scope)

    def query(self, node: Node, scope: Scope | None) -> Query:
        """Lower a query; `scope` is the one around it."""
        self.check_time()
        build = _QUERIES.get(type(node)) or _nearest(_QUERIES, type(node))
        return build(self, node, scope)

    def check_time(self) -> None:
        """Give the statement up when it has taken too long. RAISES: OutOfTime."""
        if self._deadline is not None and monotonic() > self._deadline:
            raise OutOfTime

    # ------------------------------------------------------------------------------------- ids and names

    def new_id(self) -> int:
        """An unused column id."""
        self._next_id += 1
        return self._next_id

    def key(self, identifier: Node) -> str:
        """The form of a column or alias under which it is compared."""
        args = identifier.args
        name = args.get("this")
        fold = self._fold_quoted if args.get("quoted") else self._fold
        return fold(name if type(name) is str else identifier.name)

    def key_of(self, name: str) -> str:
        """The key of a name that was not quoted."""
        return self._fold(name)

    def table_keys(self, table: Node) -> tuple[str, ...]:
        """The keys of the parts of a table's name, by which columns are qualified."""
        name, quoted = self.table_name(table)
        return tuple(
            self._fold_quoted(part) if exact else self._fold(part) for part, exact in zip(name.parts, quoted)
        )

    def table_name(self, table: Node) -> tuple[TableName, tuple[bool, ...]]:
        """The name of a table as written, and which of its parts were quoted.
        One that a variable without a value names is known to this text only: elsewhere the variable names another."""
        if self._named is None or self._named[0] is not table:  # it is asked for several times in a row
            self._named = table, self._read_table_name(table)
        return self._named[1]

    def _read_table_name(self, table: Node) -> tuple[TableName, tuple[bool, ...]]:
        name, quoted = read_table_name(table, self.dialect)
        if not any("${" in part for part in name.parts):
            return name, quoted
        message = f"`{name}` is not known: a variable in its name has no value"
        self.report(IssueCode.UNKNOWN_TABLE, message, hint="give the variable a value with --var NAME=VALUE")
        return TableName((f"{self.source.name}:{name}" if self.source.name else str(name),)), (True,)

    # --------------------------------------------------------------------------------------------- types

    def type_of(self, expression: Expression) -> DataType | None:
        """The type of a column, or of a field or element inside it, where the schema tells."""
        match expression:
            case Ref(column) if column in self.types:
                try:
                    return parse_type(self.types[column], foreign=True)
                except SchemaError:
                    return None
            case GetField(operand, name):
                outer = self.type_of(operand)
                members = outer.members if isinstance(outer, Struct) else ()
                return next((each.type for each in members if each.name.lower() == name.lower()), None)
            case Element(operand):
                array = self.type_of(operand)
                return array.element if isinstance(array, Array) else None
        return None

    def field_names(self, expression: Expression) -> tuple[str, ...]:
        """The fields of a struct, where the schema or the statement tells them."""
        match expression:
            case Ref(column) if column in self._fields:
                return self._fields[column]
            case MakeStruct(fields):
                return tuple(name for name, _ in fields)
            case RelationCase(branches, _, _):
                return self.field_names(branches[0][1])
            case Element(MakeArray(items), _) if items:
                return self.field_names(items[0])
        known = self.type_of(expression)
        return tuple(each.name for each in known.members) if isinstance(known, Struct) else ()

    def keep_fields(self, column: int, expression: Expression) -> None:
        """Remember the fields of a column that is made of a struct."""
        names = self.field_names(expression) if isinstance(expression, MakeStruct | RelationCase) else ()
        if names:
            self._fields[column] = names

    @contextmanager
    def rows_by_name(self) -> Iterator[None]:
        """Inside, the name of a table means its row rather than a column that the table may have."""
        before, self.prefers_rows = self.prefers_rows, True
        try:
            yield
        finally:
            self.prefers_rows = before

    def field(self, operand: Expression, name: str) -> GetField:
        """A field by name, in the spelling of the type where that is known: fields have no case in most engines."""
        known = self.type_of(operand)
        members = [each.name for each in known.members] if isinstance(known, Struct) else []
        if name not in members:
            name = next((each for each in members if each.lower() == name.lower()), name)
        return GetField(operand, name)

    # ------------------------------------------------------------------------------------------- reports

    def report(self, code: IssueCode, message: str, *, span: Span | None = None, hint: str | None = None) -> None:
        """Add an issue, once."""
        severity = Severity.INFO if code is IssueCode.APPROXIMATE_LINEAGE else Severity.WARNING
        self.add_issue(Issue(code, severity, message, span, hint=hint))

    def add_issue(self, issue: Issue) -> None:
        told = (issue.code, issue.message)
        if told not in self._told:
            self._told.add(told)
            self.issues.append(issue)

    # --------------------------------------------------------------------------------------------- spans

    @contextmanager
    def placeless(self) -> Iterator[None]:
        """Inside, nodes stand somewhere else in the text, or in another text: nothing has a place."""
        before, self._placeless = self._placeless, True
        try:
            yield
        finally:
            self._placeless = before

    @contextmanager
    def reading(self, piece: Piece) -> Iterator[None]:
        """Inside, nodes are those of another piece of the same text, and have their places there."""
        before = self.offset, self.tokens, self._regions, self.leftmost
        self.offset, self.tokens, self._regions, self.leftmost = piece.offset, piece.tokens, None, None
        try:
            yield
        finally:
            self.offset, self.tokens, self._regions, self.leftmost = before

    def span(self, node: Node) -> Span | None:
        """The span of a name, function or literal, as the parser kept it."""
        meta = node._meta
        if not meta or self._placeless:
            return None
        start, end = meta.get("start"), meta.get("end")
        if start is None or end is None:  # the parser loses the end of names like `p.d.INFORMATION_SCHEMA.TABLES`
            return None
        if self.leftmost is None or start < self.leftmost:
            self.leftmost = start
        if self.offset:
            return self.source.span(self.offset + start, self.offset + end + 1)
        return Span(start, end + 1, meta["line"], meta["col"] - (end - start))

    def place(self, start: int, end: int) -> Span | None:
        """The span of a part of the statement's text; None when that is not the script's."""
        return None if self._placeless else self.source.span(self.offset + start, self.offset + end)

    def cover(self, *nodes: Node) -> Span | None:
        """The span from the first to the last of some names."""
        spans = [span for span in (self.span(node) for node in nodes if node is not None) if span is not None]
        return spans[0].cover(spans[-1]) if spans else None

    def table_span(self, table: Node) -> Span | None:
        """The span of a table's name, all parts of it."""
        parts = (table.args.get("catalog"), table.args.get("db"), table.this)
        return self.cover(*[part for part in parts if isinstance(part, exp.Expr)])

    def claim(self, position: int | None) -> Span | None:
        """The span of the outermost expression around a character that nobody has claimed yet."""
        if position is None or not self.tokens or self._placeless:
            return None
        return self._placed(self._all_regions().claim(position))

    def claim_star(self, before: int | None) -> Span | None:
        """The span of the nearest `*` before a character that nobody has claimed yet."""
        if before is None or not self.tokens:
            return None
        return self._placed(self._all_regions().claim_star(before))

    def _all_regions(self) -> Regions:
        if self._regions is None:
            self._regions = Regions(self.tokens)
        return self._regions

    def _placed(self, found: tuple[int, int] | None) -> Span | None:
        return None if found is None else self.place(found[0], found[1])

    def first_position(self, node: Node) -> int | None:
        """The position of the first name or literal that can be found in a node, in no particular order."""
        for inner in node.walk():
            meta = inner._meta
            if meta and "start" in meta:
                start: int = meta["start"]
                return start
        return None


_Lower: TypeAlias = Callable[[Lowering, Any, Scope], Expression]
_Build: TypeAlias = Callable[[Lowering, Any, Scope | None], Query]

_EXPRESSIONS: dict[type, _Lower] = {}
_FOUND: dict[type, _Lower] = {}  # by type, as looked up: apart, or what a base was found to be would hide other bases
_QUERIES: dict[type, _Build] = {}


def lowers(*types: type) -> Callable[[_Lower], _Lower]:
    """Register a function that lowers expressions of these types and, unless they have their own, of subtypes."""

    def register(function: _Lower) -> _Lower:
        _EXPRESSIONS.update((type, function) for type in types)
        return function

    return register


def lowers_as(kind: type) -> _Lower:
    """Return the function that lowers expressions of a type: its own, or that of its nearest base."""
    lower = _FOUND.get(kind)
    if lower is None:
        lower = _FOUND[kind] = _nearest(_EXPRESSIONS, kind)
    return lower


def builds(*types: type) -> Callable[[_Build], _Build]:
    """Register a function that lowers queries of these types."""

    def register(function: _Build) -> _Build:
        _QUERIES.update((type, function) for type in types)
        return function

    return register


def _nearest(registry: dict[type, Any], wanted: type) -> Any:
    return next(registry[base] for base in wanted.__mro__ if base in registry)
