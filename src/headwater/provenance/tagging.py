"""The rows of a query's tables told apart, the rewritten query run, and the rows that its tags name fetched."""

import json
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa
from sqlglot import exp
from sqlglot.errors import SqlglotError

from headwater.errors import CannotTellError, HeadwaterError, MemoryLimitError, TimeLimitError
from headwater.lake.engine.predicates import In, Predicate
from headwater.lazy import arrow_compute as pc
from headwater.provenance.matching import scratch
from headwater.provenance.new_rows import NewRows
from headwater.provenance.rewrite import rewrite_query
from headwater.provenance.rewriting import Rewriting, TaggedSource, parsed, sql_of
from headwater.query.dataset import LakeTable
from headwater.query.edits import Edited
from headwater.query.parse import Node, quoted
from headwater.query.pushdown import scan_predicates
from headwater.query.target import own_prefix, row_column

_FEW = 1000  # keys that are looked up rather than searched for


@dataclass(frozen=True)
class Tagged:
    """A rewritten query: its text, its tables for DuckDB, and which source has which number."""

    text: str
    tables: dict[str, Any]
    names: tuple[str, ...]
    sources: dict[str, TaggedSource]
    notes: list[str]
    files: list[str]
    column: str  # of the lists


def tag_rows(new: NewRows, columns: frozenset[str] | None = None) -> Tagged:
    """The query of new rows with the list of tags as its last column; `columns` are the output columns asked for.
    RAISES: CannotTellError for what is not followed."""
    tables, sources = dict(new.tables), {}
    for number, (name, pinned) in enumerate(new.pins.items()):
        keys, row = pinned.schema.primary_keys, row_column(pinned)
        if keys:
            sources[name] = TaggedSource(number, _key_text(list(keys)))
        elif isinstance(tables[name], LakeTable):
            tables[name] = numbered(tables[name], row)
            sources[name] = TaggedSource(number, f"CAST({quoted(row)} AS VARCHAR)", hidden=row)
        else:  # numbered before, by an UPDATE or MERGE
            sources[name] = TaggedSource(number, f"CAST({quoted(row)} AS VARCHAR)")
    try:
        tree = parsed(new.text)
        prefix = own_prefix(_names(new, tree))
        run = Rewriting(sources, lambda text: _described(new, text), aggregate_names(), columns, prefix)
        column = run.fresh()
        text = sql_of(rewrite_query(run, tree, {}, column))
    except SqlglotError as err:
        raise CannotTellError(f"the query cannot be read: {str(err).splitlines()[0]}") from err
    except RecursionError as err:
        raise CannotTellError("the query is nested too deeply") from err
    return Tagged(text, tables, tuple(new.pins), sources, run.notes, run.files, column)


def _names(new: NewRows, tree: Node) -> set[str]:
    """The names that columns of a query may have."""
    stored = {name for pinned in new.pins.values() for name in pinned.schema.names}
    return stored | {*new.columns} | {node.name for node in tree.find_all(exp.Identifier)}


def _key_text(keys: list[str]) -> str:
    texts = [f"CAST({quoted(key)} AS VARCHAR)" for key in keys]
    return texts[0] if len(texts) == 1 else f"CAST(json_array({', '.join(texts)}) AS VARCHAR)"


def numbered(table: LakeTable, row: str) -> pa.Table:
    """All rows of a table without a key, with the number of each as one more column."""
    rows = table.scanned(list(table.schema.names)).read_all()
    return rows.append_column(row, pa.array(range(rows.num_rows), pa.int64()))


@cache
def aggregate_names() -> frozenset[str]:
    """The aggregate functions of DuckDB."""
    text = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'"
    with scratch() as run:
        return frozenset(str(name) for (name,) in run.sql(text).fetchall()) | {"listagg", "array_agg"}


def _described(new: NewRows, text: str) -> list[str]:
    found = new.run.engine.columns(Edited(text, 0, ()), new.tables, new.run.statement)
    return [name for name, _ in found]


def run_tagged(new: NewRows, tagged: Tagged, where: str, more: dict[str, pa.Table]) -> pa.Table:
    """The rows of a rewritten query for which a condition holds, with their lists of tags.
    Conditions that DuckDB brings down to a scan are given to ours, which then leaves files out."""
    names = ", ".join(quoted(name) for name in (*new.columns, tagged.column))
    text = f"SELECT * FROM ({tagged.text}) AS o({names}) WHERE {where}"
    pushed = pushed_filters(new, tagged, text, more)
    tables = {
        name: LakeTable(table.pinned, pushed[name], new.run.cache, new.run.engine.readers)
        if isinstance(table, LakeTable) and pushed.get(name)
        else table
        for name, table in tagged.tables.items()
    }
    whole = f"WITH o({names}) AS MATERIALIZED ({tagged.text}) SELECT * FROM o WHERE {where}"
    try:
        return new.run.generated(text, tables | more)
    except (TimeLimitError, MemoryLimitError):
        raise
    except HeadwaterError:  # DuckDB cannot plan some conditions over LATERAL joins
        try:
            return new.run.generated(whole, tagged.tables | more)
        except HeadwaterError as err:
            raise CannotTellError(f"DuckDB does not run the rewritten query: {err.message[:200]}") from err


def pushed_filters(
    new: NewRows, tagged: Tagged, text: str, more: dict[str, pa.Table]
) -> dict[str, tuple[Predicate, ...]]:
    """The conditions on the columns of each table that DuckDB's plan has at its scans."""
    lake = {name: table for name, table in tagged.tables.items() if isinstance(table, LakeTable)}
    found: dict[str, list[Predicate]] = {name: [] for name in lake}
    others = {name: table for name, table in tagged.tables.items() if name not in lake}
    with scratch() as plan:
        plan.execute("SET disabled_optimizers = 'statistics_propagation'")
        for name, table in (*lake.items(), *others.items(), *more.items()):
            plan.register("#empty", table.schema.empty_table())
            plan.execute(f'CREATE TEMP TABLE {quoted(name)} AS SELECT * FROM "#empty"')
        try:
            told = plan.execute(f"EXPLAIN (FORMAT json) {text}").fetchall()[-1][1]
        except duckdb.Error:
            return {}
    for name, filters in _scan_filters(json.loads(told)):
        for each in filters if name in found else ():
            try:
                condition = parsed(f"SELECT 1 WHERE {each}").args["where"].this
            except SqlglotError:
                continue
            if condition.find(exp.Anonymous) is None:
                found[name] += scan_predicates(condition, lake[name].pinned, new.run.engine.constant)
    return {name: tuple(each) for name, each in found.items()}


def _scan_filters(nodes: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    found = []
    for node in nodes:
        more = node.get("extra_info") or {}
        if node["name"].strip() == "SEQ_SCAN" and "Filters" in more:
            filters = more["Filters"]
            table = str(more.get("Table", "")).partition(".main.")[2]
            name = table[1:-1].replace('""', '"') if table.startswith('"') else table
            listed = filters if isinstance(filters, list) else [filters]
            found.append((name, [each for each in listed if "optional" not in each.lower()]))
        found += _scan_filters(node.get("children") or [])
    return found


@dataclass
class FoundTags:
    """The tags in the lists of some rows: identities by source, records by file, and notes."""

    rows: dict[int, list[str]] = field(default_factory=dict)
    records: dict[int, list[int]] = field(default_factory=dict)
    notes: list[int] = field(default_factory=list)


def tags_of(rows: pa.Table, column: str) -> FoundTags:
    """The tags in the lists of some rows, each once."""
    found = FoundTags()
    for tag in pc.unique(pc.list_flatten(rows.column(column).combine_chunks())).to_pylist():
        number, _, identity = tag.lstrip("@!").partition("|")
        if tag.startswith("!"):
            found.notes.append(int(number))
        elif tag.startswith("@"):
            found.records.setdefault(int(number), []).append(int(identity))
        else:
            found.rows.setdefault(int(number), []).append(identity)
    return found


def fetch_rows(new: NewRows, tagged: Tagged, name: str, identities: list[str]) -> pa.Table:
    """The rows of a table that identities name; of one that was numbered with the number."""
    source, table = tagged.sources[name], tagged.tables[name]
    if not isinstance(table, LakeTable):
        return table.take(pa.array(sorted(map(int, identities)), pa.int64()))
    pinned = table.pinned
    keys = pinned.schema.primary_keys
    if len(identities) <= _FEW:
        first = identities if len(keys) == 1 else list({json.loads(each)[0] for each in identities})
        field = pinned.schema.field(keys[0])
        values = _typed(first, table.schema.field(field.name).type)
        where: tuple[Predicate, ...] = (In(field.name, tuple(values)),) if values is not None else ()
        table = LakeTable(pinned, where, new.run.cache, new.run.engine.readers)
    identity = own_prefix(pinned.schema.names) + "identity"
    wanted = pa.table({identity: pa.array(identities, pa.string())})
    text = f'SELECT "#t".* FROM {quoted(name)} AS "#t" SEMI JOIN "#wanted" ON {source.identity} = {quoted(identity)}'
    return new.run.generated(text, {name: table, "#wanted": wanted})


def _typed(texts: list[str], type: pa.DataType) -> list[Any] | None:
    """Key values from their texts, None where the lake might not compare them as DuckDB does."""
    if pa.types.is_integer(type):
        return [int(each) for each in texts]
    return list(texts) if pa.types.is_string(type) else None
