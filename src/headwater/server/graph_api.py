"""The graph over HTTP: names, answers, pictures."""

from collections.abc import Collection, Iterable
from typing import Annotated, Literal, cast

import msgspec
from msgspec import Meta
from starlette.responses import Response

from headwater.graph import LineageGraph, Node, diff_states
from headwater.graph.diff import GraphDiff
from headwater.graph.diff_formats import DiffJson, diff_json
from headwater.graph.facts import owned
from headwater.graph.formats import STEP_HEADERS, AnswerJson, answer_json, step_rows
from headwater.graph.index import Neighbours
from headwater.graph.node_json import MarkJson, NodeJson, mark_json, node_json
from headwater.graph.questions import ALL, marks_of
from headwater.graph.regions import families, is_own
from headwater.graph.tables import COLUMNS, DATABASE, DATASETS, WHOLE
from headwater.lake.engine.predicates import In
from headwater.lake.tables.names import is_name
from headwater.lineage.formats.rows import to_csv
from headwater.model.edges import InfluenceClass, Kind
from headwater.server.answers import (
    DatasetColumns,
    MapAnswer,
    StateRow,
    States,
)
from headwater.server.drawing import Look, draw, exported
from headwater.server.picture import Picture, PictureAnswer, picture_json
from headwater.server.route import Moment, NoQuestion, endpoint
from headwater.server.service import VALUES, KnownGraph, Service
from headwater.view.formats import PICTURES, make_picture

Name = Annotated[str, Meta(min_length=1, max_length=2_000)]
Many = Annotated[int, Meta(ge=1, le=1_000)]
Names = Annotated[list[Annotated[str, Meta(max_length=2_000)]], Meta(max_length=500)]
Influence = Literal["value", "condition", "row"]
BY_VALUE = (InfluenceClass.VALUE,)


class MomentQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A question about the graph at some moment."""

    at: Moment | None = None  # a state, a date, `2 days ago`; default: now


class DatasetsQuestion(MomentQuestion, frozen=True, kw_only=True):
    like: Annotated[str, Meta(max_length=2_000)] = ""  # a part of the name
    limit: Many = 500
    offset: Annotated[int, Meta(ge=0)] = 0


class MapQuestion(MomentQuestion, frozen=True, kw_only=True):
    """The map as of a moment."""


class NameQuestion(MomentQuestion, frozen=True, kw_only=True):
    name: Name


class SearchQuestion(MomentQuestion, frozen=True, kw_only=True):
    text: Name
    limit: Many = 20


class WalkQuestion(NameQuestion, frozen=True, kw_only=True):
    depth: Annotated[int, Meta(ge=0, le=10_000)] | None = None
    influence: list[Influence] = []  # default: what values are made of


class PathQuestion(MomentQuestion, frozen=True, kw_only=True):
    source: Name
    target: Name
    influence: list[Influence] = []  # default: all


class PictureQuestion(MomentQuestion, frozen=True, kw_only=True):
    select: Name  # a selector such as `1+shop.orders+1`
    open: Names = []  # `<dataset` and `dataset>`, in the order in which they were opened
    level: Literal["auto", "table", "column"] = "auto"
    flip: Names = []
    whole: Names = []
    lines: Literal["values", "all"] = "values"  # what is followed; the rest is drawn faintly
    kind: list[Kind] = []  # instead: only these
    group: bool = False
    unfold: Names = []  # boxes of many tables that show them
    since: Moment | None = None  # compare with this state
    format: Literal["json", "svg", "html", "mermaid", "dot", "csv"] = "json"


class EdgeQuestion(MomentQuestion, frozen=True, kw_only=True):
    source: Name
    target: Name
    source_column: Annotated[str, Meta(max_length=2_000)] | None = None
    target_column: Annotated[str, Meta(max_length=2_000)] | None = None


class DiffQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    before: Moment
    after: Moment | None = None


class DatasetRow(msgspec.Struct, frozen=True):
    """A dataset with how many columns, sources and uses it has."""

    name: str
    kind: str
    columns: int
    upstream: int
    downstream: int


class DatasetList(msgspec.Struct, frozen=True):
    total: int
    datasets: list[DatasetRow]


@endpoint("GET", "/datasets")
def datasets(service: Service, question: DatasetsQuestion) -> DatasetList:
    """The datasets of the graph, by name."""
    known = service.graph(question.at)
    wanted, near = question.like.lower(), known.neighbours()
    own = wanted.startswith(DATABASE)
    names = sorted(name for name in known.kinds if wanted in name.lower() and (own or not is_own(name)))
    page = names[question.offset : question.offset + question.limit]
    return DatasetList(len(names), dataset_rows(known, near, page))


def dataset_rows(known: KnownGraph, near: Neighbours, names: Iterable[str]) -> list[DatasetRow]:
    """Some datasets with what stands around them."""
    return [
        DatasetRow(name, known.kinds[name], known.sizes[name], len(near.upstream(name)), len(near.downstream(name)))
        for name in names
    ]


@endpoint("GET", "/map")
def ground(service: Service, question: MapQuestion) -> MapAnswer:
    """All datasets by region (database or folder), and which of them are made of which: the ground of a map."""
    known = service.graph(question.at)
    near = known.neighbours(VALUES)
    regions = sorted(set(known.regions.values()))
    numbers = {name: number for number, name in enumerate(known.regions)}
    places = {name: number for number, name in enumerate(regions)}
    return {
        "state": known.number,
        "regions": regions,
        "tables": list(known.regions),
        "region": [places[region] for region in known.regions.values()],
        "kind": [known.kinds[name] for name in known.regions],
        "columns": [known.sizes[name] for name in known.regions],
        "pairs": [
            (numbers[source], number)
            for name, number in numbers.items()
            for source in near.upstream(name)
            if source in numbers
        ],
    }


@endpoint("GET", "/columns")
def columns(service: Service, question: NameQuestion) -> DatasetColumns:
    """The columns of a dataset, with their types, and what stands left and right of it."""
    known = service.graph(question.at)
    near = known.neighbours()
    found = known.columns.get(question.name, {})
    if question.name not in known.kinds:
        known.graph.trace(question.name, depth=0)  # raises with the nearest name
    database, _, table = question.name.rpartition(".")
    where = In("dataset", tuple(known.members(question.name)))
    rows = {row["column"]: row for row in known.graph.state.read(COLUMNS, where=where).to_pylist()}
    texts = {column: row["words"] or row["description"] for column, row in rows.items()}
    marks = column_marks(known.graph, question.name, found)
    owner, tags = owned(rows[WHOLE]) if WHOLE in rows else (None, [])
    return {
        "description": texts.get(WHOLE),
        "owner": owner,
        "tags": tags,
        "dataset": question.name,
        "kind": known.kinds.get(question.name, "table"),
        "columns": [
            {
                "name": name,
                "type": type,
                "description": texts.get(name),
                "tags": rows[name]["tags"] or [] if name in rows else [],
                "marks": marks.get(name, []),
            }
            for name, type in found.items()
        ],
        "upstream": sorted(near.upstream(question.name)),
        "downstream": sorted(near.downstream(question.name)),
        "members": known.members(question.name) if "*" in question.name else [],
        "in_lake": is_name(database) and is_name(table) and service.warehouse.has_table(question.name),
    }


def column_marks(graph: LineageGraph, dataset: str, columns: Iterable[str]) -> dict[str, list[MarkJson]]:
    """The failed checks that columns of a dataset descend from."""
    found = marks_of(graph, (Node(dataset, column) for column in columns))
    return {node.column: [mark_json(mark) for mark in marks] for node, marks in found.items()}


@endpoint("GET", "/search")
def search(service: Service, question: SearchQuestion) -> list[NodeJson]:
    """Datasets and columns whose names have a text in them, the best first."""
    return [node_json(node) for node in service.graph(question.at).graph.search(question.text, limit=question.limit)]


@endpoint("GET", "/trace")
def trace(service: Service, question: WalkQuestion) -> AnswerJson:
    """Return what a column or dataset is made of, step by step."""
    graph = service.graph(question.at).graph
    return answer_json(
        graph.trace(question.name, depth=question.depth, influences=influences_of(question.influence, BY_VALUE))
    )


@endpoint("GET", "/impact")
def impact(service: Service, question: WalkQuestion) -> AnswerJson:
    """Return what is made of a column or dataset, step by step."""
    graph = service.graph(question.at).graph
    return answer_json(
        graph.impact(question.name, depth=question.depth, influences=influences_of(question.influence, BY_VALUE))
    )


@endpoint("GET", "/path")
def path(service: Service, question: PathQuestion) -> AnswerJson:
    """Every way from one column or dataset to another."""
    graph = service.graph(question.at).graph
    return answer_json(
        graph.path(question.source, question.target, influences=influences_of(question.influence, ALL))
    )


def influences_of(names: list[Influence], default: Collection[InfluenceClass]) -> tuple[InfluenceClass, ...]:
    return tuple(map(InfluenceClass, names)) or tuple(default)


@endpoint("GET", "/diff")
def diff(service: Service, question: DiffQuestion) -> DiffJson:
    """Return what changed between two states of the graph."""
    return diff_json(_difference(service, question.before, question.after))


def _difference(service: Service, before: str, after: str | None) -> GraphDiff:
    return diff_states(service.graph(before).graph.state, service.graph(after).graph.state)


def _family_difference(service: Service, before: str, after: str | None) -> GraphDiff:
    """Return what changed between two states, with files that differ by date only as one dataset: as the later state
    has it, and those that only the earlier state has among themselves."""
    older, newer = service.graph(before).graph, service.graph(after).graph
    names, there = (set(graph.state.read(DATASETS, ["dataset"]).column(0).to_pylist()) for graph in (older, newer))
    gone = {name: family for name, family in families(sorted(names | there)).items() if name not in there}
    return diff_states(older.state, newer.state, {**newer.aliases, **gone})


@endpoint("GET", "/picture")
def picture(service: Service, question: PictureQuestion) -> PictureAnswer:
    """A part of the graph, laid out and drawn; as JSON with the SVG in it, or as a file."""
    known = service.graph(question.at)
    changes = _family_difference(service, question.since, question.at) if question.since else None
    look = Look(
        question.select,
        tuple(question.open),
        question.level,
        frozenset(question.flip),
        frozenset(question.whole),
        frozenset(question.kind) or (VALUES if question.lines == "values" else frozenset(Kind)),
        _OTHERS if question.lines == "values" and not question.kind else frozenset(),
        question.group,
        frozenset(question.unfold),
    )
    drawn = draw(known, look, changes, most=service.options.limits.tables)
    if question.format == "json":
        return picture_json(drawn, known.number)
    return _exported(drawn, question)  # type: ignore[return-value]


_OTHERS = frozenset(Kind) - VALUES


def _exported(drawn: Picture, question: PictureQuestion) -> Response:
    format = PICTURES.get(question.format)
    if format is not None:
        text = make_picture(exported(drawn), format.name, title=f"Lineage of {question.select}")
        kind, ending = format.media_type, format.ending
    else:
        text = to_csv(STEP_HEADERS, step_rows(step for steps in drawn.steps for step in steps))
        kind, ending = "text/csv", "csv"
    headers = {"Content-Disposition": f'attachment; filename="lineage.{ending}"'}
    return Response(text, media_type=kind, headers=headers)


@endpoint("GET", "/select")
def select(service: Service, question: NameQuestion) -> AnswerJson:
    """The part of the graph that a selector such as `2+shop.orders.total+1` means."""
    return answer_json(service.graph(question.at).graph.select(question.name))


@endpoint("GET", "/states")
def states(service: Service, question: NoQuestion) -> States:
    """The states the graph has had: each is one harvest, ingest of events, or change of tags."""
    shown = ("number", "harvest", "kind", "sources", "ended", "statements", "analysed", "removed", "edges", "issues")
    rows = [{name: record[name] for name in (*shown, "expired")} for record in service.store.harvests()]
    return {"states": cast(list[StateRow], rows)}
