"""EXPLAIN: what each scan reads and what it need not, then DuckDB's plan. With ANALYZE the query is run."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sqlglot import exp

from headwater.lake.tables.plan import ScanPlan
from headwater.query.counted import find_count
from headwater.query.dataset import LakeTable
from headwater.query.edits import Edited
from headwater.query.handed import ParquetView
from headwater.query.result import Result, ScanCost, listing
from headwater.query.select import PreparedQuery, StatementExecution
from headwater.text import counted

_PREFIX = "EXPLAIN (FORMAT json) "


def explain(run: StatementExecution) -> Result:
    """Say how a query would be run. RAISES: SqlError for a statement that is not a query."""
    statement = run.statement
    if not isinstance(statement.tree, exp.Query):
        raise statement.error("EXPLAIN is for queries", hint="explain the SELECT of the statement")
    count = find_count(run)
    if count is not None:
        told = [counted(count.rows().num_rows, "row")] if statement.explain == "analyze" else []
        cost = _cost(str(count.pinned.name), count.plan())
        return replace(listing({"plan": told + count.explained()}), scans=(cost,))
    query = run.prepare(statement.tree, statement.span.start, statement.span.end)
    columns = _scanned_columns(_duckdb_plan(run, query, query.tables), query)
    views = {name: dataset.view(frozenset()) or dataset for name, dataset in query.datasets}
    plan = _duckdb_plan(run, query, query.tables | views)
    lines: list[str] = []
    if statement.explain == "analyze":
        rows = run.run(query)
        lines.append(counted(rows.num_rows, "row"))
    scans: list[ScanCost] = []
    for name, dataset in query.datasets:
        asked = dataset.reading.columns
        wanted = columns.get(name) or (asked[0] if asked else None)
        lines += _scan_lines(name, dataset, wanted, by_duckdb=isinstance(views[name], ParquetView))
        scans.append(_cost(name, dataset.plan(wanted)))
    lines += ["", *_plan_lines(plan)]
    return replace(listing({"plan": lines}), scans=tuple(scans))


def _cost(name: str, plan: ScanPlan) -> ScanCost:
    read, total = (plan.files, plan.rows, plan.bytes), (plan.total_files, plan.total_rows, plan.total_bytes)
    (files, rows, bytes), (total_files, total_rows, total_bytes) = read, total
    return ScanCost(name, plan.snapshot_id, files, total_files, rows, total_rows, bytes, total_bytes)


def _duckdb_plan(run: StatementExecution, query: PreparedQuery, tables: dict[str, Any]) -> list[dict[str, Any]]:
    text = Edited(_PREFIX + query.text.text, query.text.begin - len(_PREFIX), query.text.edits)
    table = run.engine.rows(text, tables, run.statement, run.parameters)
    plan: list[dict[str, Any]] = json.loads(table.column("explain_value")[0].as_py())
    return plan


def _scan_lines(name: str, dataset: LakeTable, columns: tuple[str, ...] | None, *, by_duckdb: bool) -> list[str]:
    plan = dataset.plan(columns)
    pruned = {
        "partition": plan.pruned_by_partition,
        "bucket": plan.pruned_by_bucket,
        "key": plan.pruned_by_key,
        "statistics": plan.pruned_by_stats,
    }
    by = ", ".join(f"{count} by {what}" for what, count in pruned.items() if count)
    all_columns = len(dataset.schema.names)
    kept = ["  kept    in the memory of the session"] if dataset.keeps(columns) and not by_duckdb else []
    kept += ["  read    by DuckDB, which is given the files"] if by_duckdb else []
    return [
        f"scan {name} @ snapshot {plan.snapshot_id}",
        f"  columns {len(plan.columns)} of {all_columns}: {', '.join(plan.columns)}",
        f"  filters {' AND '.join(map(str, plan.where)) or 'none'}",
        f"  files   {plan.files} of {plan.total_files}" + (f" ({by} left out)" if by else ""),
        f"  rows    {plan.rows:,} of {plan.total_rows:,}",
        f"  bytes   {plan.bytes:,} of {plan.total_bytes:,}",
        *kept,
    ]


def _scanned_columns(plan: list[dict[str, Any]], query: PreparedQuery) -> dict[str, tuple[str, ...]]:
    """Registered name → the columns that DuckDB will ask it for.
    The plan does not say which scan is whose, so each is given to a table that has its columns, the most particular
    first; between references to one table it makes no difference."""
    scans = [_columns_of(node.get("extra_info") or {}) for node in _scans(plan)]
    names = {name: set(table.schema.names) for name, table in query.tables.items()}
    found: dict[str, tuple[str, ...]] = {}
    while scans:
        fitting = [
            (scan, [name for name in names if name not in found and set(scan) <= names[name]]) for scan in scans
        ]
        scan, owners = min(fitting, key=lambda pair: len(pair[1]) or 1 << 30)
        if not owners:
            break
        found[owners[0]] = scan
        scans.remove(scan)
    return found


def _scans(nodes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for node in nodes:
        if "ARROW_SCAN" in node["name"]:
            yield node
        yield from _scans(node.get("children") or [])


def _columns_of(extra: dict[str, Any]) -> tuple[str, ...]:
    """The columns that a scan gives or filters by."""
    given = extra.get("Projections") or []
    names = [given] if isinstance(given, str) else list(given)
    filters = extra.get("Filters") or ""
    text = filters if isinstance(filters, str) else " ".join(filters)
    return tuple(dict.fromkeys([*names, *re.findall(r'"([^"]+)"', text)]))


def _plan_lines(nodes: list[dict[str, Any]], depth: int = 0) -> Iterator[str]:
    for node in nodes:
        extra = node.get("extra_info") or {}
        facts = [
            f"{key}: {', '.join(value) if isinstance(value, list) else value}"
            for key, value in extra.items()
            if key in ("Projections", "Filters", "Join Type", "Conditions", "Groups", "Aggregates", "Order By")
        ]
        yield "  " * depth + node["name"].lower() + (f"  [{'; '.join(facts)}]" if facts else "")
        yield from _plan_lines(node.get("children") or [], depth + 1)
