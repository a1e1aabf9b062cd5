"""Tools that ask the graph: names, walks, differences and states."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from headwater.errors import NotFoundError, UsageError
from headwater.graph.formats import answer_json
from headwater.graph.node_json import NodeJson, node_json
from headwater.lake.tables import Table
from headwater.mcp.answers import ToolAnswer, first, graph_citations, name_of, paging, part_of, place_of, walk_found
from headwater.mcp.tools import Page, tool
from headwater.server import graph_api
from headwater.server.graph_api import Influence, MomentQuestion, Name, NameQuestion, PathQuestion, WalkQuestion
from headwater.server.route import Moment, NoQuestion
from headwater.server.service import KnownGraph, Service

By = Literal["column", "table"]
Steps = Annotated[int, Meta(ge=0, le=10_000)]
_NEIGHBOURS = 100
_STATEMENTS = 50


class WordsQuestion(MomentQuestion, frozen=True, kw_only=True):
    text: Name


class TracedQuestion(WalkQuestion, frozen=True, kw_only=True):
    by: By = "column"


class BetweenQuestion(PathQuestion, frozen=True, kw_only=True):
    by: By = "column"


class AroundQuestion(NameQuestion, frozen=True, kw_only=True):
    up: Steps = 1
    down: Steps = 1
    influence: list[Influence] = msgspec.field(default_factory=list)
    by: By = "column"


class SinceQuestion(MomentQuestion, frozen=True, kw_only=True):
    since: Moment


@tool(few=50, most=1_000)
def search(service: Service, question: WordsQuestion, page: Page) -> ToolAnswer:
    """Find tables and columns by words of their names, types, descriptions or tags; the best first. A name of a table
    stands for the table, TABLE.COLUMN for a column: other tools take both, and patterns such as `mart.*`."""
    known = service.graph(question.at)
    nodes, total = known.graph.search_counted(question.text, limit=page.offset + page.limit)
    shown = nodes[page.offset :]
    told = paging(total, page.offset, len(shown), of="names")
    rows = [[name_of(plain), _kind(known, plain)] for plain in map(node_json, shown)]
    return ToolAnswer({"name": ["name", "kind"], "names": rows}, graph_citations(known), told)


def _kind(known: KnownGraph, node: NodeJson) -> str | None:
    """The kind of a table, or the type of a column."""
    if node["column"] is None:
        return known.kinds.get(node["dataset"], "table")
    return known.columns.get(node["dataset"], {}).get(node["column"])


@tool(few=500)
def table(service: Service, question: NameQuestion, page: Page) -> ToolAnswer:
    """Tell what a table is: columns with types and descriptions, owner, tags, the tables that it is made of and those
    made of it, the statements that write it, and its snapshot where it is a table of this warehouse."""
    in_lake = _lake_table(service, question.name)
    try:
        plain = dict(graph_api.columns.function(service, question))
    except (NotFoundError, UsageError):
        if in_lake is None:
            raise
        return _only_in_lake(service, in_lake, question, page)
    known = service.graph(question.at)
    found = ToolAnswer(plain, graph_citations(known))
    plain["columns"], found.paging = part_of(plain["columns"], page.offset, page.limit, of="columns")
    plain["columns"] = [{name: value for name, value in each.items() if value} for each in plain["columns"]]
    for side, how in (("upstream", "trace"), ("downstream", "impact")):
        what = f"{side} tables (`{how}` with by=table has all)"
        plain[side] = first(plain[side], _NEIGHBOURS, what, found.left_out)
    statements: dict[str, str | None] = {}
    for step in (
        answer_json(known.graph.trace(question.name, depth=1))["edges"] if _is_written(known, question) else ()
    ):
        statements.setdefault(step["statement"] or "", place_of(step) if not step["observed"] else None)
    made = [{"statement": name, "place": place} for name, place in sorted(statements.items())]
    plain["written_by"] = first(made, _STATEMENTS, "statements that write it", found.left_out)
    if in_lake is not None:
        at = known.graph.state.time if question.at else None
        _add_snapshot(found, in_lake, at)
    return found


def _is_written(known: KnownGraph, question: NameQuestion) -> bool:
    return question.name in known.graph.index.datasets


def _lake_table(service: Service, name: str) -> Table | None:
    try:
        return service.warehouse.table(name) if service.warehouse.has_table(name) else None
    except UsageError:  # it has not even the name of a table
        return None


def _only_in_lake(service: Service, table: Table, question: NameQuestion, page: Page) -> ToolAnswer:
    """A table of the warehouse that the graph does not know."""
    columns = [
        {"name": each.name, "type": str(each.type)} | ({"description": each.description} if each.description else {})
        for each in table.schema.fields
    ]
    part, told = part_of(columns, page.offset, page.limit, of="columns")
    left_out = ["the graph does not know this table: nothing is told of what it is made of"]
    found = ToolAnswer({"dataset": str(table.name), "columns": part}, {}, told, left_out)
    if question.at:
        left_out.append("columns are those of now; the snapshot is the one of `as_of`")
    _add_snapshot(found, table, question.at)
    return found


def _add_snapshot(found: ToolAnswer, table: Table, at: Any) -> None:
    try:
        snapshot = table.snapshot(at)
    except NotFoundError as err:
        found.left_out.append(f"the snapshot: {err.message}")
        return
    found.data["primary_key"] = list(table.schema.primary_keys)
    found.data["comment"] = table.schema.comment
    if snapshot is not None:
        found.citations["snapshots"] = [f"{table.name}@{snapshot.snapshot_id}"]
        found.data["rows"], found.data["bytes"] = snapshot.summary.total_records, snapshot.summary.total_size


@tool(few=500)
def trace(service: Service, question: TracedQuestion, page: Page) -> ToolAnswer:
    """Tell what a column or a table is made of, back to the sources; the nearest edges first. `influence` lists what
    is followed: value (what values are made of, the default), condition (what decides values), row (what decides
    rows). `depth` ends the walk after so many steps, `by`=table gives one line for each pair of tables."""
    answer = graph_api.trace.function(service, question)
    return _walked(service, question, answer, page, upstream=True)


@tool(few=500)
def impact(service: Service, question: TracedQuestion, page: Page) -> ToolAnswer:
    """Tell what is made of a column or a table, and so may break with it; arguments as of `trace`."""
    answer = graph_api.impact.function(service, question)
    return _walked(service, question, answer, page, upstream=False)


@tool(few=500)
def path(service: Service, question: BetweenQuestion, page: Page) -> ToolAnswer:
    """Tell every way from one column or table (`source`) to another (`target`); no edges when there is no way."""
    answer = graph_api.path.function(service, question)
    return _walked(service, question, answer, page, upstream=False)


@tool(few=500)
def neighbourhood(service: Service, question: AroundQuestion, page: Page) -> ToolAnswer:
    """Tell the map around a column or a table in one answer: `up` steps towards its sources and `down` steps towards
    its readers, with every column edge. The default `influence` is what values are made of."""
    known = service.graph(question.at)
    influences = graph_api.influences_of(question.influence, graph_api.BY_VALUE)
    selector = f"{question.up}+{question.name}+{question.down}"
    answer = answer_json(known.graph.select(selector, influences=influences))
    return _walked(service, question, answer, page, upstream=None)


def _walked(service: Service, question: Any, answer: Any, page: Page, *, upstream: bool | None) -> ToolAnswer:
    known = service.graph(question.at)
    return walk_found(known, answer, by=question.by, offset=page.offset, limit=page.limit, upstream=upstream)


@tool(few=500)
def diff(service: Service, question: SinceQuestion, page: Page) -> ToolAnswer:
    """Tell what changed in the lineage from the state `since` to the state `as_of` (default: now): tables and columns
    that came or went, and edges that came, went or are computed in another way. `states` lists the states."""
    asked = graph_api.DiffQuestion(before=question.since, after=question.at)
    plain = graph_api.diff.function(service, asked)
    rows = [
        *(["table", how, name] for how in ("added", "removed") for name in plain["datasets"][how]),
        *(["column", how, name] for how in ("added", "removed") for name in plain["columns"][how]),
        *(["edge", *each.values()] for each in plain["edges"]),
    ]
    part, told = part_of(rows, page.offset, page.limit, of="changes")
    before, after = service.graph(question.since), service.graph(question.at)
    cites = graph_citations(after) | {"since_state": before.number}
    edge = ["edge", "added, removed or changed", "to", "to column", "from", "from column", "kind", "before", "after"]
    data = {"change": [["table or column", "added or removed", "name"], edge], "changes": part}
    return ToolAnswer(data, cites, told)


@tool(few=50, most=1_000)
def states(service: Service, question: NoQuestion, page: Page) -> ToolAnswer:
    """List the states that the graph has had, the newest first: `as_of` and `since` take their numbers. Those that
    have expired cannot be read any more."""
    rows = list(reversed(graph_api.states.function(service, question)["states"]))
    part, told = part_of(rows, page.offset, page.limit, of="states")
    return ToolAnswer({"warehouse": service.warehouse.url, "states": part}, {"graph_state": service.latest()}, told)
