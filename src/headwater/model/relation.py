"""The relation tree: what every source of lineage is lowered to.

ZetaSQL's resolved tree, sqlglot's tree and Catalyst's plan are translated into these few nodes, and the lineage
rules (`headwater.lineage`) are written once, over them.

Three conventions keep the tree small:

* **A column is an integer.** Each column that comes into being in a statement gets an id, unique in the statement
  (ZetaSQL's column id, Catalyst's exprId, a counter elsewhere). A node that makes columns lists them as `Computed`;
  columns that merely pass through a node are not repeated. Names are labels, never identity.
* **Positions are explicit.** Where columns meet by position (set operations, CTE references), both sides
  list their ids; nothing is inferred from order of children.
* **Expressions say what was written, not what it means.** Which argument of `IF` is a condition, or that `SHA256`
  masks, is a lineage rule, not part of the tree. Function names are lower case, in the dialect's spelling.

A column named `*` (`WILDCARD`) stands for all the columns of a table that are not known by name: `SELECT * FROM t`
over a table without a schema scans the one attribute `*` and assigns it to the column `*` of the target.

Two lowerings that are easy to get wrong: `SELECT DISTINCT` is an `Aggregate` whose keys are the selected columns, and
the key of an ordered-set aggregate (`PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)`) is an argument, not an order.
"""

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

import msgspec

from headwater.model.edges import Kind
from headwater.model.names import TableName
from headwater.text import Span

WILDCARD = "*"
"""The name of the attribute or target column that stands for all columns not known by name."""

# ---------------------------------------------------------------------------------------------- expressions


class Ref(msgspec.Struct, frozen=True, gc=False):
    """A column of this statement."""

    column: int
    span: Span | None = None


class Literal(msgspec.Struct, frozen=True, gc=False):
    """A constant, a parameter, or anything else that comes from no column."""


class Call(msgspec.Struct, frozen=True, gc=False):
    """A function or operator over its arguments. `order` and `condition` are those inside an aggregate's
    parentheses or FILTER clause. `opaque` says why the body could not be seen through, when there is one."""

    function: str
    args: tuple["Expression", ...]
    aggregate: bool = False
    order: tuple["Expression", ...] = ()
    condition: "Expression | None" = None
    opaque: str | None = None


class Case(msgspec.Struct, frozen=True, gc=False):
    """CASE: pairs of (condition, value), then the default. `operand` is that of `CASE x WHEN …`."""

    branches: tuple[tuple["Expression", "Expression"], ...]
    default: "Expression | None" = None
    operand: "Expression | None" = None


class Window(msgspec.Struct, frozen=True, gc=False):
    """A function computed over a window; `keys` are PARTITION BY, ORDER BY and frame expressions."""

    function: "Expression"
    keys: tuple["Expression", ...]


class MakeStruct(msgspec.Struct, frozen=True, gc=False):
    """A struct built from named fields."""

    fields: tuple[tuple[str, "Expression"], ...]


class GetField(msgspec.Struct, frozen=True, gc=False):
    """One field of a struct (or of a JSON-like value addressed by a constant name)."""

    operand: "Expression"
    name: str


class MakeArray(msgspec.Struct, frozen=True, gc=False):
    """An array (or the values of a map) built from items."""

    items: tuple["Expression", ...]


class Element(msgspec.Struct, frozen=True, gc=False):
    """Some element of an array or map; `index` is the expression that chose it.
    `position` is the place of the element in an array, from 0, where that is a constant."""

    operand: "Expression"
    index: "Expression | None" = None
    position: int | None = None


class OneOf(msgspec.Struct, frozen=True, gc=False):
    """The value of one of several expressions: UNPIVOT, COALESCE-like merges, an ambiguous name.
    `uncertain` holds the reason when we could not tell which; lineage through it is then approximate."""

    options: tuple["Expression", ...]
    uncertain: str | None = None


class Let(msgspec.Struct, frozen=True, gc=False):
    """Local columns visible in `body`: WITH() expressions, lambda parameters, UDF arguments."""

    bindings: tuple["Computed", ...]
    body: "Expression"


class SubqueryKind(Enum):
    """The part of a subquery that an expression takes."""

    SCALAR = "scalar"
    ARRAY = "array"
    EXISTS = "exists"
    IN = "in"  # also `= ANY`, `LIKE ANY`, …: compares `operand` with `column`


class Subquery(msgspec.Struct, frozen=True, gc=False):
    """A query used as a value. `column` is its output; None when only the existence of rows counts."""

    kind: SubqueryKind
    relation: "Relation"
    column: int | None = None
    operand: "Expression | None" = None


Expression: TypeAlias = (
    Ref | Literal | Call | Case | Window | MakeStruct | GetField | MakeArray | Element | OneOf | Let | Subquery
)

# ------------------------------------------------------------------------------------------------ relations


class Attribute(msgspec.Struct, frozen=True, gc=False):
    """A column as it comes into being: its id and the name it is given there."""

    id: int
    name: str
    span: Span | None = None


class Computed(msgspec.Struct, frozen=True, gc=False):
    """A new column and the expression that makes it."""

    attribute: Attribute
    expression: Expression
    span: Span | None = None  # of the whole expression, alias excluded


class Resolution(Enum):
    """The source of the facts about a table."""

    IMPORTED = "imported"
    IMPLIED = "implied"
    UNKNOWN = "unknown"


class Scan(msgspec.Struct, frozen=True, gc=False):
    """A read of a stored table: the leaf where lineage ends.
    `approximate` gives the reason when the column list is partial, guessed or in conflict; attributes named in
    `doubtful` are those it concerns (all, when empty and `approximate` is set)."""

    table: TableName
    attributes: tuple[Attribute, ...]
    span: Span | None = None
    resolution: Resolution = Resolution.UNKNOWN
    approximate: str | None = None
    doubtful: frozenset[int] = frozenset()


class Values(msgspec.Struct, frozen=True, gc=False):
    """Rows written in the text; column i of each row belongs to attribute i."""

    attributes: tuple[Attribute, ...]
    rows: tuple[tuple[Expression, ...], ...]


class Project(msgspec.Struct, frozen=True, gc=False):
    """New columns beside those of the input."""

    input: "Relation"
    columns: tuple[Computed, ...]


class Filter(msgspec.Struct, frozen=True, gc=False):
    """Rows kept by a condition: WHERE, HAVING, QUALIFY, ON of a semi-join."""

    input: "Relation"
    condition: Expression
    span: Span | None = None  # of the condition


class Join(msgspec.Struct, frozen=True, gc=False):
    """Two inputs side by side (the right one may refer to the left one's columns: LATERAL).
    `merged` are the columns USING or NATURAL make of two; `condition` then compares the two sides."""

    left: "Relation"
    right: "Relation"
    condition: Expression | None = None
    merged: tuple[Computed, ...] = ()
    span: Span | None = None  # of the condition


class Aggregate(msgspec.Struct, frozen=True, gc=False):
    """Groups: `keys` decide the rows, `columns` are computed per group."""

    input: "Relation"
    keys: tuple[Computed, ...]
    columns: tuple[Computed, ...]


class Sort(msgspec.Struct, frozen=True, gc=False):
    """An order, with or without a limit."""

    input: "Relation"
    keys: tuple[Expression, ...]
    span: Span | None = None  # of the keys


class Branch(msgspec.Struct, frozen=True, gc=False):
    """One input of a set operation and its columns, by position."""

    relation: "Relation"
    columns: tuple[int | None, ...]  # None: this branch gives NULL (BY NAME)


class SetOp(msgspec.Struct, frozen=True, gc=False):
    """UNION, INTERSECT, EXCEPT: attribute i is made of column i of each branch, of EXCEPT of the first branch only.
    `compares` says that whole rows are compared, so that each column decides which rows there are: not UNION ALL."""

    operator: str
    attributes: tuple[Attribute, ...]
    branches: tuple[Branch, ...]
    compares: bool = False


class Generate(msgspec.Struct, frozen=True, gc=False):
    """Rows made per input row: UNNEST, explode, FLATTEN, JSON_TABLE. `input` is None when it stands alone.
    `expanded` are the arrays, maps, documents and bounds whose value decides how many rows there are."""

    input: "Relation | None"
    columns: tuple[Computed, ...]
    expanded: tuple[Expression, ...] = ()


class TableFunction(msgspec.Struct, frozen=True, gc=False):
    """A table-valued function whose body is not known: each output depends on all arguments and inputs."""

    function: str
    attributes: tuple[Attribute, ...]
    args: tuple[Expression, ...] = ()
    inputs: tuple[Branch, ...] = ()


class Cte(msgspec.Struct, frozen=True, gc=False):
    """A named query of a WITH clause. `id` is unique in the statement; a recursive one refers to itself."""

    id: int
    name: str
    relation: "Relation"
    columns: tuple[int, ...]


class With(msgspec.Struct, frozen=True, gc=False):
    """Named queries visible in `body` and in the CTEs after them."""

    ctes: tuple[Cte, ...]
    body: "Relation"


class CteRef(msgspec.Struct, frozen=True, gc=False):
    """A use of a CTE: attribute i is its column i, under a new id.
    A front end that refers to the columns of the CTE by their own ids leaves `attributes` empty; the node is still
    needed, because what decides the rows of the CTE decides the rows here."""

    cte: int
    attributes: tuple[Attribute, ...]


Relation: TypeAlias = (
    Scan | Values | Project | Filter | Join | Aggregate | Sort | SetOp | Generate | TableFunction | With | CteRef
)

# ----------------------------------------------------------------------------------------------- statements


class Assignment(msgspec.Struct, frozen=True, gc=False):
    """A value that goes into a column of the target, or, by `path`, into a field inside it."""

    column: str
    expression: Expression
    path: tuple[str, ...] = ()
    span: Span | None = None  # of the value
    target_span: Span | None = None


class Influence(msgspec.Struct, frozen=True, gc=False):
    """A condition that decides which rows are written: ON and WHEN of MERGE, WHERE of UPDATE and DELETE."""

    kind: Kind
    expression: Expression
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Write:
    """A statement lowered: which values go into which columns of which table. A bare SELECT is a write without a
    target. `relations` are all inputs, in the order of the text. `target_scan` is the target as UPDATE, DELETE and
    MERGE read it: its columns can be referred to, but it is not one of the sources."""

    statement_type: str
    target: TableName | None
    assignments: tuple[Assignment, ...]
    relations: tuple[Relation, ...] = ()
    influences: tuple[Influence, ...] = ()
    target_scan: Scan | None = None
    span: Span | None = None
    target_span: Span | None = None
