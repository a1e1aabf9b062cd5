"""Every expression class of sqlglot, and every operator of its dialects, keeps the columns that it is made of."""

from collections.abc import Iterator

import pytest
from sqlglot import exp

from headwater.errors import IssueCode
from headwater.lineage import SchemaResolver, StatementLineage
from headwater.lineage.imports import schema_of_mapping
from headwater.lineage.script import analyze_script
from headwater.lineage.trace import trace
from headwater.sql.dialects import dialect_names
from headwater.sql.frontend import SqlFrontEnd
from headwater.sql.lowering import Lowering
from headwater.sql.writes import STATEMENTS
from headwater.text import Source

COLUMNS = [f"c{number}" for number in range(40)]
SCHEMA = schema_of_mapping({"t": COLUMNS})


def subclasses(root: type) -> Iterator[type]:
    for child in root.__subclasses__():
        yield child
        yield from subclasses(child)


def is_trait(kind: type) -> bool:
    """Whether sqlglot makes no nodes of a class, only of classes below it."""
    try:
        kind()
    except TypeError:
        return True
    return False


NODES = sorted({each for each in subclasses(exp.Expr) if not is_trait(each)}, key=lambda each: each.__name__)
VALUES = [each for each in NODES if issubclass(each, exp.Condition)]
LISTS = {"expressions", "ifs", "partition_by"}
NO_COLUMNS: dict[type, set[str]] = {
    # the value is written in the node itself
    **{key: {"*"} for key in (exp.Literal, exp.Boolean, exp.BitString, exp.HexString, exp.ByteString)},
    **{key: {"*"} for key in (exp.RawString, exp.UnicodeString)},
    # names of other things than columns, or a column's own name
    **{key: {"*"} for key in (exp.Column, exp.Pseudocolumn, exp.Parameter, exp.SessionParameter, exp.Placeholder)},
    **{key: {"this", "order"} for key in (exp.NextValueFor, exp.Anonymous, exp.Kwarg, exp.PropertyEQ)},
    exp.Dot: {"expression"},
    exp.Collate: {"expression"},
    # flags, types and formats that no dialect lets a column stand for
    exp.Array: {"bracket_notation", "struct_name_inheritance", "value_constructor"},
    exp.Bracket: {"offset", "safe", "returns_list_for_maps", "json_access"},
    exp.Convert: {"expression", "style", "safe"},
    exp.In: {"unnest", "field", "is_global", "query"},
    exp.JSONBExtractScalar: {"json_type"},
    exp.JSONExtract: {*exp.JSONExtract.arg_types} - {"this", "expression", "expressions"},
    exp.JSONExtractScalar: {*exp.JSONExtractScalar.arg_types} - {"this", "expression", "expressions"},
    exp.Unnest: {"alias", "offset", "explode_array"},
    exp.Window: {"order", "spec", "alias", "over", "first"},
    # lambdas: their bodies are tried in the golden files
    exp.Reduce: {"merge", "finish"},
    # a generator in the select list: one row per element of its first argument
    **{key: {"expressions"} for key in (exp.Explode, exp.Posexplode, exp.PosexplodeOuter)},
}
"""The arguments of a node that are no values of the row."""


def without_columns(kind: type) -> set[str]:
    own = next((NO_COLUMNS[base] for base in kind.__mro__ if base in NO_COLUMNS), set())
    if issubclass(kind, exp.TimeUnit | exp.LastDay | exp.DateTrunc):
        return own | {"unit"}  # a word
    if issubclass(kind, exp.Cast):
        return {*kind.arg_types} - {"this"}
    return {*kind.arg_types} if "*" in own else own


def made_of_columns(kind: type) -> tuple[exp.Expr, set[str]]:
    """A node with a column of its own for each argument that can be one, and those columns."""
    args = {}
    columns = {}
    for name, column in zip(kind.arg_types, COLUMNS):
        if name not in without_columns(kind):
            columns[name] = column
            value = exp.If(this=exp.column(column), true=exp.column(column)) if name == "ifs" else exp.column(column)
            args[name] = [value] if name in LISTS else value
        elif kind.arg_types[name]:
            args[name] = exp.DataType.build("int") if name == "to" else exp.to_identifier("c0")
    return kind(**args), set(columns.values())


def sources(node: exp.Expr) -> StatementLineage:
    tree = exp.Select(expressions=[exp.alias_(node, "x")], from_=exp.From(this=exp.to_table("t")))
    lowering = Lowering(source=Source(""), resolver=SchemaResolver(SCHEMA, dialect="spark"), dialect="spark")
    lowered = STATEMENTS[exp.Select](lowering, tree)
    for item in lowering.stored:
        item.settle()
    return trace(lowered.writes[0])


@pytest.mark.parametrize("kind", NODES, ids=lambda kind: kind.__name__)
def test_every_node_is_lowered(kind):
    if not issubclass(kind, exp.Query):  # a query with columns in place of its clauses is none
        lineage = sources(made_of_columns(kind)[0])
        assert "nested too deeply" not in " ".join(issue.message for issue in lineage.issues)


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__name__)
def test_every_value_depends_on_its_arguments(kind):
    node, columns = made_of_columns(kind)
    assert columns <= {edge.source.column for edge in sources(node).edges}


OPERATORS = (
    *("a ~ b", "a !~ b", "a ~* b", "a RLIKE b", "a REGEXP b", "a NOT RLIKE b", "REGEXP_LIKE(a, b)", "a SIMILAR TO b"),
    *(
        "POWER(a, b)",
        "POW(a, b)",
        "a ^ b",
        "a ** b",
        "a @> b",
        "a && b",
        "ARRAY_CONTAINS(a, b)",
        "ARRAYS_OVERLAP(a, b)",
    ),
    *(
        "a -> b",
        "a ->> b",
        "a #> b",
        "a ? b",
        "a ?| b",
        "a @? b",
        "a @@ b",
        "a -|- b",
        "a &< b",
        "a <-> b",
        "a GLOB b",
    ),
    *("CORR(a, b)", "a || b", "a DIV b", "a XOR b", "a << b", "a <=> b", "a OVERLAPS b", "a MEMBER OF (b)"),
)


def analyze(sql: str, dialect: str) -> StatementLineage:
    resolver = SchemaResolver(schema_of_mapping({"t": ["a", "b"]}), dialect=dialect)
    (lineage,) = analyze_script(Source(sql), SqlFrontEnd(dialect), resolver)
    return lineage


def is_not_sql(lineage: StatementLineage) -> bool:
    return [issue.code for issue in lineage.issues] == [IssueCode.PARSE_ERROR]


@pytest.mark.parametrize("dialect", dialect_names())
def test_operators_of_every_dialect(dialect):
    found = {each: analyze(f"SELECT {each} AS c FROM t", dialect) for each in OPERATORS}
    known = {each: lineage for each, lineage in found.items() if not is_not_sql(lineage)}
    assert "POWER(a, b)" in known or dialect in ("dax", "prql")  # which are no SQL
    assert {each: lineage.issues for each, lineage in known.items() if lineage.issues} == {}
    read = {each: {edge.source.column for edge in lineage.edges} for each, lineage in known.items()}
    assert read == {key: {"a", "b"} for key in known}


def test_a_table_made_by_such_an_operator_has_its_lineage():
    lineage = analyze("CREATE TABLE v AS SELECT POWER(a, 2) AS c FROM t", "spark")
    assert [(str(edge.source), str(edge.target)) for edge in lineage.edges] == [("t.a", "v.c")]


def test_an_operator_that_is_a_function_aggregates_as_one():
    assert [
        edge.kind.value for edge in sources(exp.Corr(this=exp.column("c0"), expression=exp.column("c1"))).edges
    ] == [
        "AGGREGATION",
        "AGGREGATION",
    ]


@pytest.mark.parametrize("call", ["TRANSFORM(a)", "ELEMENT_AT(a)", "JSON_QUERY(a)", "EXTRACT(a)"])
@pytest.mark.parametrize("dialect", ["spark", "trino", "clickhouse"])
def test_a_call_with_too_few_arguments_keeps_those_it_has(call, dialect):
    lineage = analyze(f"SELECT {call} AS x, b FROM t", dialect)
    if not is_not_sql(lineage):
        assert "t.b" in {str(edge.source) for edge in lineage.edges}
        assert lineage.issues == ()
