"""Tools that ask the tables: what a snapshot or a row was made from, what is behind, and SQL."""

from dataclasses import replace
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from headwater.graph.formats import made_json
from headwater.graph.marks import Marks
from headwater.graph.rebuild import Rebuilt, find_tables, plan_rebuild
from headwater.graph.rebuild import rebuild as bring_up_to_date
from headwater.graph.versions import why as explain
from headwater.mcp.answers import ToolAnswer, part_of
from headwater.mcp.tools import Page, tool
from headwater.server import home_api
from headwater.server.graph_api import Name
from headwater.server.lake_api import WhyRowQuestion, why_row
from headwater.server.route import Moment, NoQuestion
from headwater.server.service import Service
from headwater.server.sql_worker import HopBehind, InputBehind, Question, Rows, RowsBehind

_CELL = (2_001, 129)  # lengths of a cell that the process for queries has cut: of text, and of bytes


class TableMomentQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    table: Name
    at: Moment | None = None


class RebuildQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    selector: Annotated[str, Meta(max_length=2_000, description="such as `+gold.revenue`; default: all declared")] = (
        ""
    )
    full: bool = False


class ReadQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    sql: Annotated[str, Meta(min_length=1, max_length=100_000)]
    database: Annotated[str, Meta(max_length=200)] = "default"
    at: Moment | None = None
    explain: bool = False


@tool(few=200)
def why(service: Service, question: TableMomentQuestion, page: Page) -> ToolAnswer:
    """Tell what a table of the warehouse was made from: every snapshot behind its snapshot `as_of` (a snapshot id, a
    tag or a time; default: the latest), with job, operation and the failed checks of each."""
    made = explain(service.warehouse, question.table, question.at)
    marks = Marks(service.store.state()) if service.store.states() else None
    part, told = part_of(made, page.offset, page.limit, of="snapshots")
    rows = [made_json(each, marks.of_version(each.version) if marks is not None else {}) for each in part]
    return ToolAnswer({"made": rows}, {"snapshots": [str(made[0].version)]}, told)


@tool()
def why_rows(service: Service, question: WhyRowQuestion, page: Page) -> ToolAnswer:
    """Tell which input rows a row was made of, one commit back: `row` gives values of columns as text, such as its
    key; `column` narrows to what makes or decides it. To go on, ask for an input's rows, `as_of` its snapshot."""
    answer = msgspec.json.decode(why_row.function(service, question).body, type=RowsBehind)
    lists: list[HopBehind | InputBehind] = [*answer.hops, *(each for hop in answer.hops for each in hop.inputs)]
    left_out = [
        f"rows of {each.dataset}@{each.snapshot}: {len(each.rows.rows):,} of {each.count:,} are told: use `run_sql`"
        for each in lists
        if each.rows.cut
    ]
    snapshots = sorted({f"{each.dataset}@{each.snapshot}" for each in lists})
    return ToolAnswer(
        msgspec.to_builtins(answer),
        {"snapshots": snapshots},
        {},
        left_out + _cut_cells(*(each.rows for each in lists)),
    )


@tool(few=200)
def stale(service: Service, question: NoQuestion, page: Page) -> ToolAnswer:
    """List the tables of the warehouse that are behind their inputs now: made from an older snapshot of an input, in
    which a column that they read has changed since."""
    rows = home_api.stale.function(service, question)
    part, told = part_of(rows, page.offset, page.limit, of="tables and inputs")
    cites = sorted({f"{each.table}@{each.snapshot_id}" for each in part} | {f"{e.input}@{e.latest}" for e in part})
    return ToolAnswer({"stale": msgspec.to_builtins(part)}, {"snapshots": cites}, told)


@tool(few=200)
def rebuild_plan(service: Service, question: RebuildQuestion, page: Page) -> ToolAnswer:
    """Tell how the tables that queries define would be brought up to date now: for each the way, the reasons, the
    inputs that changed, and what it would cost. Nothing is carried out."""
    tables = find_tables(service.warehouse, question.selector or None)
    return _rebuilt(plan_rebuild(service.warehouse, tables, full=question.full), page)


@tool(few=200, writes=True)
def rebuild(service: Service, question: RebuildQuestion, page: Page) -> ToolAnswer:
    """Bring the tables that queries define up to date, each in one commit. This writes; `rebuild_plan` tells what it
    would do. Without a selector, all tables that are declared."""
    tables = find_tables(service.warehouse, question.selector or None)
    return _rebuilt(bring_up_to_date(service.warehouse, tables, full=question.full), page)


def _rebuilt(found: list[Rebuilt], page: Page) -> ToolAnswer:
    part, told = part_of(found, page.offset, page.limit, of="tables")
    inputs = {f"{one.dataset}@{one.latest}" for each in part for one in each.inputs}
    made = {f"{each.table}@{each.snapshot_id}" for each in part if each.snapshot_id is not None}
    return ToolAnswer({"tables": msgspec.to_builtins(part)}, {"snapshots": sorted(inputs | made)}, told)


@tool(few=50, most=1_000)
def run_sql(service: Service, question: ReadQuestion, page: Page) -> ToolAnswer:
    """Run one SQL query (DuckDB's) on the tables of the warehouse and give its rows. It only reads. `as_of` is a
    moment for all tables (a time, a tag), `FROM t VERSION AS OF 3` one for a table. `explain` tells what would be
    read. Pages of a query without ORDER BY may not fit together."""
    bounds = replace(service.options.limits.sql, rows=page.offset + page.limit + 1)
    asked = Question(
        service.warehouse.url,
        question.database,
        question.sql,
        bounds,
        question.explain,
        at=question.at,
        page=(page.offset, page.limit),
    )
    rows = msgspec.json.decode(service.sql.ask(asked), type=Rows)
    end = page.offset + len(rows.rows)
    told: dict[str, Any] = {"items": "rows", "offset": page.offset, "shown": len(rows.rows)}
    found = ToolAnswer(_table(rows), {"snapshots": list(rows.read)}, told)
    if rows.cut:
        told["next_offset"] = end
        found.left_out.append("there are more rows; how many was not counted: `SELECT count(*)` does")
    else:
        told["total"] = end
    found.left_out += _cut_cells(rows)
    return found


def _table(rows: Rows) -> dict[str, Any]:
    told = {"columns": rows.columns, "types": rows.types, "rows": rows.rows}
    more = {"message": rows.message, "scans": msgspec.to_builtins(rows.scans)}
    return told | {name: value for name, value in more.items() if value}


def _cut_cells(*lists: Rows) -> list[str]:
    """Return what is said of cells that the process for queries has cut."""
    cells = [cell for rows in lists for row in rows.rows for cell in row if isinstance(cell, str)]
    cut = sum(cell.endswith("…") and len(cell) in _CELL for cell in cells)
    told = f"{cut:,} cells are cut (…) to 2,000 characters or 64 bytes: `substr(…)` in `run_sql` reads the rest"
    return [told] if cut else []
