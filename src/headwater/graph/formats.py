"""Answers as text: trees for a terminal, rows, diagrams, pictures, JSON."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypedDict

import msgspec

from headwater.events.titles import job_title
from headwater.graph.diff_formats import shortened
from headwater.graph.index import Direction
from headwater.graph.marks import Mark
from headwater.graph.node_json import NodeJson, mark_json, node_json
from headwater.graph.questions import Answer
from headwater.graph.steps import Node, Step
from headwater.graph.versions import Made
from headwater.lineage.formats.rows import aligned, in_format, to_csv
from headwater.model.edges import Kind
from headwater.view.formats import PICTURES, make_picture

STEP_HEADERS = (
    *("target", "target_column", "source", "source_column", "kind", "expression"),
    *("approximate", "place", "statement", "observed"),
)
_MOST_LINES = 2_000  # of a tree: beyond that nobody reads on


def render_answer(answer: Answer, format: str = "tree", *, title: str = "Lineage") -> str:
    """An answer in one of `ANSWER_FORMATS`. RAISES: UsageError for another."""
    makers: dict[str, Callable[[], str]] = {
        "tree": lambda: tree(answer),
        "table": lambda: aligned(STEP_HEADERS, [_told(row) for row in step_rows(answer.steps)]),
        "json": lambda: msgspec.json.encode(answer_json(answer)).decode(),
        "csv": lambda: to_csv(STEP_HEADERS, step_rows(answer.steps)),
        **{name: partial(_drawn, answer, name, title) for name in PICTURES},
    }
    return in_format(makers, format)


def _drawn(answer: Answer, format: str, title: str) -> str:
    return make_picture(answer.diagram, format, title=title)


def step_rows(steps: Iterable[Step]) -> list[tuple[object, ...]]:
    """One row for each step, in the order of `STEP_HEADERS`."""
    return [
        (
            *(step.target.dataset, step.target.column, step.source.dataset, step.source.column, step.kind.value),
            *(step.expression, step.approximate, step.place, step.statement, step.observed),
        )
        for step in steps
    ]


def _told(row: tuple[object, ...]) -> tuple[object, ...]:
    """A row for people: an edge that was observed has what the job did in the place of its name."""
    return tuple(
        job_title(str(each).removeprefix("job:"), str(row[0])) if str(each).startswith("job:") else each
        for each in row
    )


class StepJson(TypedDict):
    """One edge, with how and where it is written."""

    source: NodeJson
    target: NodeJson
    kind: str
    influence: str
    expression: str | None
    masking: bool
    approximate: str | None
    statement: str | None
    file: str | None
    line: int | None
    start: int | None
    end: int | None
    observed: bool


class AnswerJson(TypedDict):
    """A walk; `cut` when there is more beyond the depth asked for."""

    starts: list[NodeJson]
    nodes: list[NodeJson]
    edges: list[StepJson]
    cut: bool


def answer_json(answer: Answer) -> AnswerJson:
    """An answer as plain values."""
    return {
        "starts": [node_json(node, 0) for node in answer.starts],
        "nodes": [node_json(node, away, answer.marks.get(node, ())) for node, away in answer.distance.items()],
        "edges": [step_json(step) for step in answer.steps],
        "cut": answer.cut,
    }


def made_json(made: Made, failed: Mapping[str, Sequence[Mark]]) -> dict[str, Any]:
    """A version that a question for reasons has found, with the failed checks of its columns."""
    plain = {name: value for name, value in dataclasses.asdict(made).items() if name not in ("version", "inputs")}
    inputs = [
        {"dataset": version.dataset, "snapshot": version.snapshot_id, "columns": columns}
        for version, columns in made.inputs
    ]
    marks = {column: [mark_json(mark) for mark in each] for column, each in failed.items()}
    version = {"dataset": made.version.dataset, "snapshot": made.version.snapshot_id}
    return version | plain | {"inputs": inputs} | ({"marks": marks} if marks else {})


def step_json(step: Step) -> StepJson:
    return {
        "source": node_json(step.source),
        "target": node_json(step.target),
        "kind": step.kind.value,
        "influence": step.kind.influence.value,
        "expression": step.expression,
        "masking": step.masking,
        "approximate": step.approximate,
        "statement": step.statement,
        "file": step.file,
        "line": step.line,
        "start": step.start,
        "end": step.end,
        "observed": step.observed,
    }


# ------------------------------------------------------------------------------------------------------- trees


def tree(answer: Answer) -> str:
    """Each start with what follows it, indented; a node that was shown before is named and not opened again."""
    lines: list[str] = []
    opened: set[Node] = set()
    for start in answer.starts:
        if len(answer.starts) > 1 and not answer.beyond(start):
            continue
        lines.append(f"{start}{_failed(answer, start)}")
        opened.add(start)
        for line in _branches(answer, start, "", opened):
            lines.append(line)
            if len(lines) >= _MOST_LINES:
                return "\n".join([*lines, "… (too long for a tree: --format table or csv has all of it)"])
    if answer.cut:
        lines.append("… (there is more: a greater --depth shows it)")
    return "\n".join(lines) or "\n".join(f"{start}{_failed(answer, start)}" for start in answer.starts)


def _failed(answer: Answer, node: Node) -> str:
    """The failed checks that a node descends from: the first, and how many more."""
    marks = answer.marks.get(node, ())
    more = f" (+{len(marks) - 1})" if len(marks) > 1 else ""
    return f"  ✗ {marks[0]}{more}" if marks else ""


def _branches(answer: Answer, node: Node, indent: str, opened: set[Node]) -> Iterator[str]:
    """The lines beneath a node, by a stack rather than recursion: chains may be long."""
    stack = [(indent, iter(_children(answer, node)))]
    while stack:
        indent, children = stack[-1]
        found = next(children, None)
        if found is None:
            stack.pop()
            continue
        last, child, steps = found
        known = child in opened
        more = "  (see above)" if known and answer.beyond(child) else ""
        yield f"{indent}{'└─' if last else '├─'} {child}  {_how(steps)}{_failed(answer, child)}{more}"
        if not known:
            opened.add(child)
            stack.append((indent + ("   " if last else "│  "), iter(_children(answer, child))))


def _children(answer: Answer, node: Node) -> list[tuple[bool, Node, list[Step]]]:
    """Return what follows a node: other nodes, each with the steps that lead there, and whether it is the last."""
    upstream = answer.direction is Direction.UPSTREAM
    found: dict[Node, list[Step]] = {}
    for step in answer.beyond(node):
        other = step.source if upstream else step.target
        if other != node:
            found.setdefault(other, []).append(step)
    return [(number == len(found), child, steps) for number, (child, steps) in enumerate(found.items(), 1)]


def _how(steps: list[Step]) -> str:
    kinds = "/".join(dict.fromkeys(step.kind.value for step in steps))
    first = steps[0]
    text = f" {shortened(first.expression)}" if first.expression and first.kind is not Kind.IDENTITY else ""
    place = f"  {first.place}" if first.place else ""
    doubt = f"  ~ {first.approximate}" if all(step.approximate for step in steps) else ""
    return f"{kinds}{text}{place}{' (observed)' if first.observed else ''}{doubt}"
