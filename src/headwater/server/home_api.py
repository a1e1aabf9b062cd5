"""The first things to know, over HTTP: how much there is, what changed, what is behind, what is used most."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Annotated, TypedDict

import msgspec
from msgspec import Meta

from headwater.graph import diff_states
from headwater.graph.versions import Stale
from headwater.graph.versions import stale as stale_tables
from headwater.server.graph_api import DatasetRow, dataset_rows
from headwater.server.route import NoQuestion, endpoint
from headwater.server.service import VALUES, Service

_FEW = 12


class Overview(TypedDict):
    """The size of the graph; `kinds` counts datasets by kind."""

    tables: int
    columns: int
    regions: int
    kinds: dict[str, int]
    busiest: list[DatasetRow]


class ChangesAnswer(TypedDict):
    """The changes of the states since a moment; `since` is the state they are compared with, null when there is none
    so old that can be read."""

    since: int | None
    states: int
    added: int
    removed: int
    changed: int
    new_tables: list[str]
    gone_tables: list[str]
    tables: list[str]


class ChangesQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    hours: Annotated[int, Meta(ge=1, le=24 * 366)] = 24


@endpoint("GET", "/overview")
def overview(service: Service, question: NoQuestion) -> Overview:
    """Return how many tables, columns and regions there are, and the tables that most others hang on."""
    known = service.graph()
    near = known.neighbours(VALUES)
    names = list(known.regions)
    busiest = sorted(names, key=lambda name: (-len(near.downstream(name)) - len(near.upstream(name)), name))
    return {
        "tables": len(names),
        "columns": sum(known.sizes[name] for name in names),
        "regions": len(set(known.regions.values())),
        "kinds": Counter(known.kinds[name] for name in names),
        "busiest": dataset_rows(known, near, busiest[:_FEW]),
    }


@endpoint("GET", "/changes")
def changes(service: Service, question: ChangesQuestion) -> ChangesAnswer:
    """Return what changed in the last hours: edges by how, tables that came and went, and those whose lineage is
    another."""
    border = datetime.now(UTC) - timedelta(hours=question.hours)
    states = service.store.states()
    before = [state for state in states if state.ended < border]
    readable = {record["number"] for record in service.store.harvests() if not record["expired"]}
    base = next((state.number for state in reversed(before) if state.number in readable), None)
    answer: ChangesAnswer = {
        "since": base,
        "states": len(states) - len(before),
        "added": 0,
        "removed": 0,
        "changed": 0,
        "new_tables": [],
        "gone_tables": [],
        "tables": [],
    }
    if base is None or not answer["states"]:
        return answer
    found = diff_states(service.graph(str(base)).graph.state, service.graph().graph.state)
    counts = Counter(edge.change for edge in found.edges)
    touched = Counter(edge.target.dataset for edge in found.edges)
    new = set(found.datasets_added)
    answer["added"], answer["removed"], answer["changed"] = (counts[each] for each in ("added", "removed", "changed"))
    answer["new_tables"] = sorted(new)[:_FEW]
    answer["gone_tables"] = sorted(found.datasets_removed)[:_FEW]
    answer["tables"] = [name for name, _ in touched.most_common() if name not in new][:_FEW]
    return answer


@endpoint("GET", "/stale")
def stale(service: Service, question: NoQuestion) -> list[Stale]:
    """The tables of the warehouse that were made from an older state of an input than there is now."""
    return stale_tables(service.warehouse)
