"""Differences as text: lines, rows, Markdown for a pull request, JSON."""

from collections.abc import Callable, Iterator
from typing import Literal, TypedDict, cast, get_args

import msgspec

from headwater.fit import ShortNames
from headwater.graph.diff import EdgeChange, GraphDiff
from headwater.lineage.formats.rows import in_format, to_csv
from headwater.model.edges import Kind
from headwater.text import counted

DiffFormat = Literal["text", "json", "markdown", "github", "csv"]
DIFF_FORMATS: tuple[str, ...] = get_args(DiffFormat)
_LONGEST = 70


class NamesJson(TypedDict):
    added: list[str]
    removed: list[str]


class EdgeChangeJson(TypedDict):
    """An edge that was added, removed or changed; `before` and `after` are expressions."""

    change: str
    target: str
    target_column: str
    source: str
    source_column: str
    kind: str
    before: str | None
    after: str | None


class DiffJson(TypedDict):
    """The differences between two states."""

    edges: list[EdgeChangeJson]
    datasets: NamesJson
    columns: NamesJson


def shortened(expression: str) -> str:
    text = " ".join(expression.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def render_diff(diff: GraphDiff, format: str = "text") -> str:
    """A difference in one of `DIFF_FORMATS`. RAISES: UsageError for another."""
    makers: dict[str, Callable[[], str]] = {
        "text": lambda: "\n".join(_diff_lines(diff)) or "no differences",
        "json": lambda: msgspec.json.encode(diff_json(diff)).decode(),
        "markdown": lambda: _markdown(diff),
        "github": lambda: _markdown(diff, fold=True),
        "csv": lambda: to_csv(_CHANGE_HEADERS, [_change_row(each) for each in diff.edges]),
    }
    return in_format(makers, format)


_CHANGE_HEADERS = ("change", "target", "target_column", "source", "source_column", "kind", "before", "after")
_SIGNS = {"added": "+", "removed": "-", "changed": "~"}


def _change_row(change: EdgeChange) -> tuple[object, ...]:
    ends = (change.target.dataset, change.target.column, change.source.dataset, change.source.column)
    return (change.change, *ends, change.kind.value, change.before, change.after)


def diff_json(diff: GraphDiff) -> DiffJson:
    """A difference as plain values."""
    return {
        "edges": [cast(EdgeChangeJson, dict(zip(_CHANGE_HEADERS, _change_row(each)))) for each in diff.edges],
        "datasets": {"added": list(diff.datasets_added), "removed": list(diff.datasets_removed)},
        "columns": {
            "added": [str(node) for node in diff.columns_added],
            "removed": [str(node) for node in diff.columns_removed],
        },
    }


def _diff_lines(diff: GraphDiff) -> Iterator[str]:
    for sign, names in (("+", diff.datasets_added), ("-", diff.datasets_removed)):
        yield from (f"{sign} table {name}" for name in names)
    for sign, nodes in (("+", diff.columns_added), ("-", diff.columns_removed)):
        yield from (f"{sign} column {node}" for node in nodes)
    for edge in diff.edges:
        yield f"{_SIGNS[edge.change]} {edge.source} → {edge.target}  {edge.kind.value}{_expressions(edge)}"


def _expressions(edge: EdgeChange) -> str:
    if edge.change == "changed":
        texts = [" ".join((text or "as is").split()) for text in (edge.before, edge.after)]
        names = ShortNames(texts)
        return f"  {' ⇒ '.join(names.fit(text, _LONGEST) for text in texts)}"
    text = edge.after or edge.before
    return f"  {shortened(text)}" if text and edge.kind is not Kind.IDENTITY else ""


def _markdown(diff: GraphDiff, *, fold: bool = False) -> str:
    """For a pull request: a sentence, then what changed by table; with `fold`, long lists folded away."""
    if not diff:
        return "**Lineage:** no change."
    counts = [f"{len(diff.of(kind))} {kind}" for kind in _SIGNS if diff.of(kind)]
    lines = [f"**Lineage:** {', '.join(counts) or 'no'} edge{'' if len(diff.edges) == 1 else 's'}."]
    for word, names in (("New", diff.datasets_added), ("Gone", diff.datasets_removed)):
        if names:
            lines.append(f"{word} tables: {', '.join(map(_code, names))}.")
    for word, nodes in (("New", diff.columns_added), ("Gone", diff.columns_removed)):
        if nodes:
            lines.append(f"{word} columns: {', '.join(_code(str(node)) for node in nodes)}.")
    table = ["| | column | made of | how |", "|---|---|---|---|"]
    table += [
        f"| {_SIGNS[each.change]} | {_code(str(each.target))} | {_code(str(each.source))} | {_cell(each)} |"
        for each in diff.edges
    ]
    if fold and len(diff.edges) > 20:
        table = [f"<details><summary>{counted(len(diff.edges), 'edge')}</summary>", "", *table, "", "</details>"]
    return "\n".join(["\n\n".join(lines), "", *(table if diff.edges else [])])


def _code(text: str) -> str:
    return "`" + text.replace("`", "'").replace("|", "\\|").replace("\n", " ") + "`"


def _cell(edge: EdgeChange) -> str:
    text = _expressions(edge).strip()
    return f"{edge.kind.value} {_code(text)}" if text else edge.kind.value
