"""Violations of a policy by one side: forbidden flows and stars, tables without owner or description, long ways."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from headwater.errors import IssueCode
from headwater.graph.tables import root_column
from headwater.model.edges import InfluenceClass
from headwater.review.policy import FlowRule, Policy
from headwater.review.reach import EXPOSURE, Reach, growing
from headwater.review.side import AnalysedUnit, Flow, Side
from headwater.sql.dialects import canonical_dialect, sqlglot_dialect

Node: TypeAlias = tuple[str, str]
"""A dataset and a column of it."""
Ways: TypeAlias = dict[Node, "tuple[Node, Flow] | None"]


@dataclass(frozen=True, slots=True)
class Violation:
    """Something that a policy does not allow. `way` are the columns or tables that it took, the first first."""

    code: IssueCode
    subject: str
    message: str
    file: str | None
    line: int | None
    way: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[IssueCode, str]:
        """The same for the same violation on both sides, wherever it stands."""
        return self.code, self.subject


@dataclass(frozen=True, slots=True)
class PiiFlow:
    """The values of a tagged column in another column, unmasked. `forbidden` says that they may not be there."""

    tag: str
    source: str
    target: str
    way: tuple[str, ...]
    file: str | None
    line: int | None
    forbidden: bool

    @property
    def key(self) -> tuple[str, str, str]:
        """The same for the same flow on both sides."""
        return self.tag, self.source, self.target


def violations(side: Side, policy: Policy) -> Iterator[Violation]:
    """Everything in a side that a policy does not allow."""
    for flow in pii_flows(side, policy) if policy.flows else ():
        if flow.forbidden:
            message = f"values of `{flow.source}` ({flow.tag}) reach `{flow.target}` unmasked"
            subject = f"{flow.source} {flow.target}"
            yield Violation(IssueCode.FORBIDDEN_FLOW, subject, message, flow.file, flow.line, flow.way)
    for name in sorted(side.writers):
        if not name.startswith(EXPOSURE):
            yield from _of_table(side, policy, name)
    if policy.depth is not None:
        yield from _too_deep(side, policy.depth)


def _of_table(side: Side, policy: Policy, name: str) -> Iterator[Violation]:
    words = next((each for each in side.kept.words if each.table.casefold() == name.casefold()), None)
    place = _place(side, name)
    if policy.wants(policy.need_owner, name) and not policy.owner_of(name) and not (words and words.owner):
        yield Violation(IssueCode.NO_OWNER, name, f"`{name}` has no owner", *place)
    if policy.wants(policy.need_description, name) and not (words and words.description):
        yield Violation(IssueCode.NO_DESCRIPTION, name, f"`{name}` has no description", *place)
    if policy.wants(policy.no_star, name):
        for unit in side.writers[name]:
            tables = sorted(set(_starred(side, unit)))
            if tables:
                message = f"`{name}` takes every column of {', '.join(f'`{each}`' for each in tables)}"
                yield Violation(IssueCode.FORBIDDEN_STAR, name, message, *place, way=(*tables, name))


def _place(side: Side, name: str) -> tuple[str | None, int | None]:
    unit = side.writers[name][0]
    return unit.file, next((each.line for each in unit.statements if each.target == name), None)


def pii_flows(side: Side, policy: Policy) -> list[PiiFlow]:
    """The flows of the values of tagged columns into columns without the tag, each by a shortest way."""
    reach = Reach(side)
    found: list[PiiFlow] = []
    for tag in policy.tags:
        ways = {start: _ways(start, reach, policy) for start in _tagged(side, policy, tag)}
        rules = [rule for rule in policy.flows if rule.tag == tag]
        for start, came in ways.items():
            if not any(start in came and other not in ways[start] for other, came in ways.items() if other != start):
                found += _told(start, tag, came, policy, rules)
    return found


def _tagged(side: Side, policy: Policy, tag: str) -> list[Node]:
    nodes = [(name, column) for name, table in side.tables.items() for column in table.columns]
    return sorted(node for node in nodes if tag in policy.tags_of(*node))


def _ways(start: Node, reach: Reach, policy: Policy) -> Ways:
    """The columns in which a value can be told, each with the column before it and the edge between."""
    came: Ways = {start: None}
    for node in growing(came):
        for flow in reach.flows_from(node[0]):
            target = flow.target, root_column(flow.target_column)
            if target not in came and root_column(flow.source_column) == node[1] and _tells(flow, policy):
                came[target] = node, flow
    return came


def _told(start: Node, tag: str, came: Ways, policy: Policy, rules: list[FlowRule]) -> Iterator[PiiFlow]:
    for target, step in came.items():
        if step is None or target[0].startswith(EXPOSURE):
            continue
        forbidden = any(rule.forbids(*target) for rule in rules) if policy.flows else True
        if forbidden or tag not in policy.tags_of(*target):
            way = tuple(_way(target, came))
            yield PiiFlow(tag, _name(start), _name(target), way, step[1].file, step[1].line, forbidden)


def _way(node: Node, came: Ways) -> list[str]:
    """The columns from the start to a node, with the places where each is made."""
    way: list[str] = []
    step = came[node]
    while step is not None:
        place = f" ({step[1].file}:{step[1].line})" if step[1].file else ""
        way.append(f"{_name(node)}{place}")
        node = step[0]
        step = came[node]
    return [_name(node), *reversed(way)]


def _name(node: Node) -> str:
    return f"{node[0]}.{node[1]}"


def _tells(flow: Flow, policy: Policy) -> bool:
    """Return whether the value of the source can be told from the target."""
    if flow.influence is not InfluenceClass.VALUE or flow.masking:
        return False
    return not (policy.masking and flow.expression and _is_masked(flow.expression, flow.source_column, policy))


def _is_masked(expression: str, column: str, policy: Policy) -> bool:
    """Return whether every use of a column in an expression is inside one of the policy's functions."""
    try:
        tree = sqlglot.parse_one(expression)
    except SqlglotError:
        return False
    last = root_column(column).casefold()
    uses = [each for each in tree.find_all(exp.Column) if last in [part.name.casefold() for part in each.parts]]
    return bool(uses) and all(any(_called(each) in policy.masking for each in _around(use)) for use in uses)


def _around(node: Any) -> Iterator[Any]:
    """The calls around a node."""
    above = node.parent
    while above is not None:
        if isinstance(above, exp.Func):
            yield above
        above = above.parent


def _called(call: Any) -> str:
    """The name of a call, with what stands before its dots."""
    name = call.name if isinstance(call, exp.Anonymous) else str(getattr(call, "sql_name", lambda: "")())
    above = call.parent
    before = above.this.sql() + "." if isinstance(above, exp.Dot) and above.expression is call else ""
    return f"{before}{name}".casefold()


def _starred(side: Side, unit: AnalysedUnit) -> Iterable[str]:
    """The tables of which a statement takes every column, whatever columns they have. A star over a query that names
    its columns is none."""
    try:
        trees = sqlglot.parse(side.text(unit), read=sqlglot_dialect(canonical_dialect(unit.dialect)))
    except (SqlglotError, ValueError):
        return
    for tree in trees:
        query = tree.find(exp.Query) if tree is not None else None
        if query is not None:
            named = {each.alias_or_name.casefold(): each.this for each in tree.find_all(exp.CTE)} if tree else {}
            yield from _stars_of(query, named, set())


def _stars_of(query: Any, named: dict[str, Any], seen: set[str]) -> Iterator[str]:
    if isinstance(query, exp.SetOperation):
        yield from _stars_of(query.left, named, seen)
        yield from _stars_of(query.right, named, seen)
        return
    if isinstance(query, exp.Subquery):
        yield from _stars_of(query.this, named, seen)
        return
    if not isinstance(query, exp.Select):
        return
    stars = [each for each in query.expressions if each.is_star and not isinstance(each, exp.Alias)]
    wanted = {each.table.casefold() for each in stars if isinstance(each, exp.Column)}
    every = any(isinstance(each, exp.Star) for each in stars)
    sources = [query.args.get("from") or query.args.get("from_"), *(query.args.get("joins") or [])]
    for source in (each.this for each in sources if each is not None and stars):
        if not every and source.alias_or_name.casefold() not in wanted:
            continue
        name = source.name.casefold() if isinstance(source, exp.Table) and not source.db else ""
        if isinstance(source, exp.Subquery):
            yield from _stars_of(source.this, named, seen)
        elif name in named and name not in seen:
            yield from _stars_of(named[name], named, seen | {name})
        elif isinstance(source, exp.Table) and name not in named:
            yield ".".join(part.name for part in source.parts)


def _too_deep(side: Side, most: int) -> Iterator[Violation]:
    """The tables at which the longest way from a source first has more tables than allowed."""
    above: dict[str, set[str]] = {}
    for name, units in side.writers.items():
        if not name.startswith(EXPOSURE):
            reads = {each for unit in units for row in unit.statements if row.target == name for each in row.reads}
            above[name] = reads - {name}
    ways: dict[str, tuple[str, ...]] = {}
    for name in sorted(above):
        _longest(name, above, ways)
    for name, way in sorted(ways.items()):
        if len(way) == most + 1:
            message = f"`{name}` is the end of a way of {len(way)} tables, and {most} are allowed"
            yield Violation(IssueCode.TOO_DEEP, name, message, *_place(side, name), way=way)


def _longest(name: str, above: dict[str, set[str]], ways: dict[str, tuple[str, ...]]) -> None:
    """Find the longest way to a table, and those to the tables before it. Circles are cut where they close."""
    stack, open_ = [name], {name}
    while stack:
        top = stack[-1]
        ahead = sorted(each for each in above.get(top, ()) if each not in ways and each not in open_)
        if ahead:
            stack.append(ahead[0])
            open_.add(ahead[0])
            continue
        before = max((ways[each] for each in sorted(above.get(top, ())) if each in ways), key=len, default=())
        ways[stack.pop()] = (*before, top)
        open_.discard(top)
