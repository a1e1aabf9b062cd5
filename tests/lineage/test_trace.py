"""The rules over hand-made relation trees: each test is one rule."""

from headwater.errors import IssueCode
from headwater.lineage import Status, collapse_paths
from headwater.lineage.trace import trace
from headwater.model.edges import ELEMENT, Edge
from headwater.model.names import TableName
from headwater.model.relation import (
    Aggregate,
    Assignment,
    Attribute,
    Branch,
    Call,
    Case,
    Computed,
    Cte,
    CteRef,
    Element,
    Filter,
    GetField,
    Literal,
    MakeStruct,
    OneOf,
    Project,
    Ref,
    Relation,
    Scan,
    SetOp,
    Subquery,
    SubqueryKind,
    Window,
    With,
    Write,
)

T = TableName.of("t")
OUT = TableName.of("out")


def scan(*names: str, first: int = 1, table: str = "t", doubt: str | None = None) -> Scan:
    attributes = tuple(Attribute(first + at, name) for at, name in enumerate(names))
    return Scan(TableName.of(table), attributes, approximate=doubt)


def write(relation: Relation, **columns) -> Write:
    assignments = tuple(Assignment(name, expression) for name, expression in columns.items())
    return Write("SELECT", OUT, assignments, (relation,))


def show(edge: Edge) -> str:
    return f"{edge.target.name} <- {edge.source} {edge.kind.value}"


def shown(statement: Write) -> list[str]:
    return [show(edge) for edge in trace(statement).edges]


def test_a_name_is_an_identity_and_a_function_a_transformation():
    assert shown(write(scan("a", "b"), x=Ref(1), y=Call("upper", (Ref(2),)))) == [
        "x <- t.a IDENTITY",
        "y <- t.b TRANSFORMATION",
    ]


def test_conditions_of_case_are_conditional():
    case = Case(((Ref(1), Ref(2)),), Ref(3), None)
    assert shown(write(scan("a", "b", "c"), x=case)) == [
        "x <- t.b TRANSFORMATION",
        "x <- t.c TRANSFORMATION",
        "x <- t.a CONDITIONAL",
    ]


def test_window_keys_are_apart_and_a_windowed_sum_aggregates():
    window = Window(Call("sum", (Ref(1),), aggregate=True), (Ref(2),))
    assert shown(write(scan("a", "b"), x=window)) == ["x <- t.a AGGREGATION", "x <- t.b WINDOW"]


def test_row_influence_is_stored_once_for_the_whole_table():
    relation = Aggregate(
        Filter(scan("a", "b", "c"), Ref(3)),
        (Computed(Attribute(10, "a"), Ref(1)),),
        (Computed(Attribute(11, "s"), Call("sum", (Ref(2),), aggregate=True)),),
    )
    assert shown(write(relation, k=Ref(10), s=Ref(11))) == [
        "k <- t.a IDENTITY",
        "s <- t.b AGGREGATION",
        "* <- t.a GROUP_BY",
        "* <- t.c FILTER",
    ]


def test_filters_in_a_scalar_subquery_concern_their_column_only():
    inner = Filter(scan("x", "y", first=5, table="u"), Call("=", (Ref(6), Ref(1))))
    query = Subquery(SubqueryKind.SCALAR, inner, 5)
    assert shown(write(scan("a", "b"), p=Ref(2), q=query)) == [
        "p <- t.b IDENTITY",
        "q <- u.x IDENTITY",
        "q <- u.y FILTER",
        "q <- t.a FILTER",
    ]


def test_paths_go_through_choices_arrays_and_structs():
    struct = MakeStruct((("x", Ref(1)), ("y", Ref(2))))
    chosen = Call("coalesce", (Ref(3), struct))
    element = GetField(Element(Call("array_agg", (Ref(4),), aggregate=True)), "k")
    assert shown(write(scan("a", "b", "s", "r"), x=GetField(chosen, "x"), k=element)) == [
        "x <- t.s.x TRANSFORMATION",
        "x <- t.s.x CONDITIONAL",
        "x <- t.a TRANSFORMATION",
        "x <- t.a CONDITIONAL",
        "k <- t.r.k AGGREGATION",
    ]


def test_a_struct_that_is_built_is_told_apart_by_field():
    struct = MakeStruct((("x", Ref(1)), ("y", MakeStruct((("z", Ref(2)),)))))
    statement = write(Project(scan("a", "b"), (Computed(Attribute(9, "s"), struct),)), s=Ref(9))
    assert shown(statement) == ["s.x <- t.a IDENTITY", "s.y.z <- t.b IDENTITY"]
    assert [show(edge) for edge in collapse_paths(trace(statement).edges)] == [
        "s <- t.a IDENTITY",
        "s <- t.b IDENTITY",
    ]


def test_array_elements_have_a_path():
    edge = trace(write(scan("items"), sku=GetField(Element(Ref(1)), "sku"))).edges[0]
    assert edge.source.path == (ELEMENT, "sku")


def test_a_recursive_cte_reaches_its_fixed_point():
    # r(n, m): n <- t.a or r.m; m <- t.b or r.n + r.m: each column reaches both t.a and t.b
    seed = scan("a", "b")
    step = Project(
        CteRef(1, (Attribute(20, "n"), Attribute(21, "m"))),
        (Computed(Attribute(22, "n"), Ref(21)), Computed(Attribute(23, "m"), Call("+", (Ref(20), Ref(21))))),
    )
    union = SetOp(
        "union all", (Attribute(10, "n"), Attribute(11, "m")), (Branch(seed, (1, 2)), Branch(step, (22, 23)))
    )
    body = CteRef(1, (Attribute(30, "n"), Attribute(31, "m")))
    relation = With((Cte(1, "r", union, (10, 11)),), Filter(body, Ref(31)))
    assert sorted(shown(write(relation, n=Ref(30)))) == [
        "* <- t.a FILTER",
        "* <- t.b FILTER",
        "n <- t.a TRANSFORMATION",
        "n <- t.b TRANSFORMATION",
    ]


def down_a_tree(hops: int) -> With:
    """A recursive CTE whose column is a part of what it was: r(n) = t.a, or r.n.children through some projections."""
    step: Relation = CteRef(1, (Attribute(20, "n"),))
    step = Project(step, (Computed(Attribute(100, "n"), GetField(Element(Ref(20)), "children")),))
    for at in range(101, 101 + hops):
        step = Project(step, (Computed(Attribute(at, "n"), Ref(at - 1)),))
    last = 100 + hops
    union = SetOp("union all", (Attribute(10, "n"),), (Branch(scan("a"), (1,)), Branch(step, (last,))))
    return With((Cte(1, "r", union, (10,)),), CteRef(1, (Attribute(30, "n"),)))


def test_a_recursion_down_a_tree_ends():
    assert shown(write(down_a_tree(0), n=Ref(30))) == ["n <- t.a IDENTITY"]


def test_a_recursion_down_a_tree_through_more_hops_than_one_stack_ends():
    found = shown(write(down_a_tree(100), n=Ref(30)))
    assert found == ["n <- t.a IDENTITY", "n <- t.a[].children IDENTITY"]


def test_masking_holds_only_if_every_way_masks():
    masked = Call("sha256", (Ref(1),))
    edges = trace(write(scan("a"), x=masked, y=Call("||", (masked, Ref(1))))).edges
    assert [edge.masking for edge in edges] == [True, False]


def test_doubt_carries_its_reason_and_certainty_wins():
    guess = OneOf((Ref(1), Ref(2)), uncertain="could be either")
    lineage = trace(write(scan("a", "b"), x=guess, y=Call("+", (guess, Ref(1)))))
    assert [(edge.source.name, edge.approximate) for edge in lineage.edges] == [
        ("a", "could be either"),
        ("b", "could be either"),
        ("a", None),
        ("b", "could be either"),
    ]
    assert lineage.status is Status.APPROXIMATE


def test_a_thousand_ctes_deep_costs_no_stack():
    ctes = [Cte(0, "c0", scan("a"), (1,))]
    for level in range(1, 3000):
        ctes.append(Cte(level, f"c{level}", CteRef(level - 1, (Attribute(level + 1, "a"),)), (level + 1,)))
    body = CteRef(2999, (Attribute(9000, "a"),))
    assert shown(write(With(tuple(ctes), body), a=Ref(9000))) == ["a <- t.a IDENTITY"]


def test_an_expression_nested_too_deeply_is_an_issue():
    expression = Ref(1)
    for _ in range(5000):
        expression = Call("f", (expression,))
    lineage = trace(write(scan("a"), x=expression))
    assert lineage.status is Status.TABLE_ONLY
    assert [issue.code for issue in lineage.issues] == [IssueCode.APPROXIMATE_LINEAGE]
    assert [str(table.name) for table in lineage.sources] == ["t"]


def test_tables_are_kept_where_no_column_depends_on_them():
    unused = Computed(Attribute(9, "m"), Subquery(SubqueryKind.SCALAR, scan("x", first=5, table="u"), 5))
    lineage = trace(write(Project(scan("a"), (unused,)), a=Ref(1), n=Call("count", (), aggregate=True), c=Literal()))
    assert [str(table.name) for table in lineage.sources] == ["t", "u"]
    assert [column.name for column in lineage.columns] == ["a", "n", "c"]
