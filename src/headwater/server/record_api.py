"""The records behind the edges, over HTTP: statements, runs, findings."""

import re
from collections import Counter
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import Meta

from headwater.errors import FINDINGS, NotFoundError, Severity
from headwater.events.titles import job_title
from headwater.graph.checks import read_checks
from headwater.graph.node_json import node_json
from headwater.graph.steps import Node
from headwater.graph.store import GraphState
from headwater.graph.tables import EDGES, ISSUES, RUN_INPUTS, RUNS, STATEMENTS, WHOLE
from headwater.lake.engine.predicates import Compare, In, Predicate
from headwater.model.edges import Kind
from headwater.server.answers import (
    CheckRow,
    Checks,
    EdgeRow,
    Edges,
    IssueRow,
    Issues,
    LitText,
    RunOfEdge,
    RunRow,
    Runs,
)
from headwater.server.graph_api import EdgeQuestion, Many, Name
from headwater.server.route import Moment, endpoint
from headwater.server.service import Service

Row = dict[str, Any]  # of a lake table
_LONGEST = 20_000  # characters of a statement that are sent
_AROUND = 4_000  # characters kept on either side of what is lit in a longer one


class RunsQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    text: Annotated[str, Meta(max_length=2_000)] = ""  # a part of the job's name
    state: Literal["", "START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER"] = ""
    dataset: Annotated[str, Meta(max_length=2_000)] = ""  # that it read or wrote
    limit: Many = 200


class RunQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    run: Name


class IssuesQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    severity: Literal["", "finding", "error", "warning", "info"] = ""  # a finding is an error or a warning
    code: Annotated[str, Meta(max_length=200)] = ""
    at: Moment | None = None
    limit: Many = 500


class ChecksQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    name: Annotated[str, Meta(max_length=2_000)] = ""  # of a dataset or column
    outcome: Literal["", "pass", "warn", "fail", "measured"] = ""
    at: Moment | None = None


@endpoint("GET", "/edge")
def edge(service: Service, question: EdgeQuestion) -> Edges:
    """Everything that is known of what joins two datasets or two of their columns: how, where it is written with the
    statement around it, and the run and snapshot that did it."""
    known = service.graph(question.at)
    state = known.graph.state
    between = known.neighbours().between((question.source, question.target))
    saying = known.graph.index.edges.column("statement").take(between).unique().to_pylist()
    where: list[Predicate] = [
        In("statement", tuple(saying)),  # the table is sorted by it
        *(
            In(end, tuple(known.members(name)))
            for end, name in (("target", question.target), ("source", question.source))
        ),
    ]
    for name, column in (("target_column", question.target_column), ("source_column", question.source_column)):
        if column is not None:
            where.append(Compare(name, "=", column))
    rows = state.read(EDGES, where=where).to_pylist()
    statements = _statements(service, question.at, sorted({row["statement"] for row in rows}))
    runs = _runs(service, sorted({row["run"] for row in rows if row["run"]}))
    return {"edges": [_edge_json(row, statements.get(row["statement"]), runs.get(row["run"])) for row in rows]}


def _statements(service: Service, at: str | None, ids: list[str]) -> dict[str, Row]:
    if not ids:
        return {}
    found = service.graph(at).graph.state.read(STATEMENTS, where=In("statement", tuple(ids)))
    return {row["statement"]: row for row in found.to_pylist()}


def _runs(service: Service, ids: list[str]) -> dict[str, Row]:
    if not ids:
        return {}
    state = service.graph().graph.state
    return _with_datasets(state, state.read(RUNS, where=In("run", tuple(ids))).to_pylist())


def _with_datasets(state: GraphState, rows: list[Row]) -> dict[str, Row]:
    """Runs by their ids, each with what it read and wrote."""
    runs: dict[str, Row] = {row["run"]: row | {"datasets": []} for row in rows}
    for row in state.read(RUN_INPUTS, where=In("run", tuple(runs))).to_pylist() if runs else ():
        runs[row["run"]]["datasets"].append(row)
    return runs


def _edge_json(row: Row, statement: Row | None, run: Row | None) -> EdgeRow:
    column = {name: None if row[name] == WHOLE else row[name] for name in ("source_column", "target_column")}
    shown = {name: row[name] for name in ("source", "target", "kind", "expression", "masking", "approximate")}
    place = {name: row[name] for name in ("statement", "file", "line", "observed", "seen")}
    more = {
        "influence": Kind(row["kind"]).influence.value,
        "sql": _lit(row, statement) or (_lit_in_run(row, run) if run is not None else None),
        "run": _run_of_edge(run, row["target"]) if run is not None else None,
    }
    return cast(EdgeRow, shown | column | place | more)


def _lit(row: Row, statement: Row | None) -> LitText | None:
    """The statement of an edge, with where in it the edge is written."""
    if statement is None or not statement["text"]:
        return None
    text, begin = statement["text"], statement["start"] or 0
    place = None
    if row["start"] is not None and row["end"] is not None:
        place = row["start"] - begin, row["end"] - begin
    if place is None or not 0 <= place[0] <= place[1] <= len(text):
        place = None
    about = {name: statement[name] for name in ("line", "type", "status", "dialect")}
    return _lit_text("statement", text, place, about)


def _lit_in_run(row: Row, run: Row) -> LitText | None:
    """The query or the program of the run that did what an edge says. In a query the expression of the edge is lit
    where it stands on the line that the edge names, or stands once; in a program, the line that the edge names."""
    about = dict.fromkeys(("line", "type", "status", "dialect"))
    if run["sql"]:
        words = [re.escape(word) for word in (row["expression"] or "").split()]
        found = [match.span() for match in re.finditer(r"\s+".join(words), run["sql"])] if words else []
        named = [place for place in found if run["sql"].count("\n", 0, place[0]) + 1 == row["line"]]
        chosen = named if row["file"] == "sql" and named else found
        return _lit_text("query", run["sql"], chosen[0] if len(chosen) == 1 else None, about)
    if run["code"]:
        lines = run["code"].splitlines(keepends=True)
        at = row["line"] - 1 if row["line"] and row["file"] != "sql" else len(lines)
        start = len("".join(lines[:at]))
        place = (start, start + len(lines[at].rstrip())) if at < len(lines) else None
        return _lit_text("program", run["code"], place, about)
    return None


def _lit_text(role: str, whole: str, place: tuple[int, int] | None, about: Row) -> LitText:
    """A text with the place in it that is lit; of a very long one, the part around that."""
    start, end = place if place is not None else (None, None)
    text, offset = whole, 0
    if len(text) > _LONGEST:
        middle = start or 0
        offset = max(0, middle - _AROUND)
        text = text[offset : middle + _AROUND]
    lit = {
        "role": role,
        "text": text,
        "start": start - offset if start is not None else None,
        "end": min(end - offset, len(text)) if end is not None else None,
        "cut": len(text) < len(whole),
    }
    return cast(LitText, lit | about)


def _run_of_edge(run: Row, target: str) -> RunOfEdge:
    written = [each for each in run["datasets"] if each["dataset"] == target and each["role"] == "output"]
    snapshot = next((each["version"] for each in written if each["version"]), None)
    shown = {name: run[name] for name in ("run", "job", "state", "started", "ended")}
    return cast(RunOfEdge, shown | {"title": _title(run), "snapshot": snapshot})


def _title(run: Row) -> str | None:
    """Say what a run did: to its output or, if it has none, its input; of several, as the name of its job says."""
    role = "output" if any(each["role"] == "output" for each in run["datasets"]) else "input"
    names = {each["dataset"] for each in run["datasets"] if each["role"] == role}
    dataset = names.pop().rsplit("/", 1)[-1] if len(names) == 1 else None
    return job_title(run["job"], dataset) if run["job"] else None


@endpoint("GET", "/runs")
def runs(service: Service, question: RunsQuestion) -> Runs:
    """Runs that were observed, the latest first."""
    if not service.latest():
        return {"total": 0, "runs": []}
    state = service.graph().graph.state
    wanted = question.text.lower()
    touching = None
    if question.dataset:
        uses = state.read(RUN_INPUTS, ["run"], where=Compare("dataset", "=", question.dataset))
        touching = set(uses.column("run").to_pylist())
    found = [
        row
        for row in state.read(RUNS).to_pylist()
        if wanted in (row["job"] or "").lower()
        and (not question.state or row["state"] == question.state)
        and (touching is None or row["run"] in touching)
    ]
    found.sort(key=lambda row: (row["started"] or row["ended"] or _LONG_AGO, row["run"]), reverse=True)
    shown = _with_datasets(state, found[: question.limit]).values()
    return {"total": len(found), "runs": [_run_json(row, datasets=False) for row in shown]}


_LONG_AGO = datetime.fromtimestamp(0, UTC)


def _run_json(row: Row, *, datasets: bool) -> RunRow:
    seconds = (row["ended"] - row["started"]).total_seconds() if row["started"] and row["ended"] else None
    shown = {name: value for name, value in row.items() if datasets or name != "datasets"}
    return cast(RunRow, shown | {"seconds": seconds, "title": _title(row)})


@endpoint("GET", "/run")
def run(service: Service, question: RunQuestion) -> RunRow:
    """One run, with what it read and wrote at which version."""
    found = _runs(service, [question.run]).get(question.run)
    if found is None:
        raise NotFoundError(f"there is no run `{question.run}`")
    return _run_json(found, datasets=True)


@endpoint("GET", "/issues")
def issues(service: Service, question: IssuesQuestion) -> Issues:
    """Return what was found wrong or doubtful while harvesting, errors first, and how many there are of each code."""
    if not service.latest():
        return {"total": 0, "counts": {}, "issues": []}
    rows = service.graph(question.at).graph.state.read(ISSUES).to_pylist()
    order = [each.value for each in Severity]
    severities = {"": order, "finding": [each.value for each in FINDINGS]}.get(question.severity, [question.severity])
    found = [row for row in rows if row["severity"] in severities]
    counts = Counter(row["code"] for row in found)
    found = [row for row in found if question.code in ("", row["code"])]
    found.sort(key=lambda row: (order.index(row["severity"]), row["file"] or "", row["line"] or 0, row["number"]))
    return {"total": len(found), "counts": counts, "issues": cast(list[IssueRow], found[: question.limit])}


@endpoint("GET", "/checks")
def checks(service: Service, question: ChecksQuestion) -> Checks:
    """The newest results of checks of data, and the columns that descend from a version that failed one."""
    known = service.graph(question.at)
    graph, wanted = known.graph, {question.name, *known.members(question.name)}

    def is_wanted(node: Node) -> bool:
        return not question.name or not wanted.isdisjoint((node.dataset, str(node)))

    found = read_checks(graph.state)
    rows = [row for row in found if is_wanted(Node(row["dataset"], row["column"]))]
    rows = [row for row in rows if question.outcome in ("", row["outcome"])]
    marked = graph.all_marks() if found else {}  # who is marked takes a look at every column
    marks = [node_json(node, marks=each) for node, each in marked.items() if is_wanted(node)]
    return {"checks": cast(list[CheckRow], rows), "marks": marks}
