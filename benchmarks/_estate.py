"""A generated SQL estate: seeded, layered, three dialects, with what estates have.

Statements come in scripts of about three: raw tables defined by DDL, views that clean them, tables with CTEs and
windows, tables that join and aggregate, DML that keeps them up (INSERT of such queries, MERGE, UPDATE), and two in a
hundred that do not parse. There are five statements to a table. Half of the estate is Snowflake, four in ten
Postgres, one in ten BigQuery, which goes through ZetaSQL and costs ten times the others. A larger estate has more of
the same: statements are as long, tables as wide and layers as many as in a small one.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from headwater.jobs.harvest.sources import Estate
from headwater.jobs.harvest.units import Script

DIALECTS = (("snowflake", 0.5), ("postgres", 0.4), ("bigquery", 0.1))
_WORDS = ("order", "customer", "item", "payment", "visit", "ticket", "product", "stock", "price", "campaign")
_MEASURES = ("amount", "quantity", "price", "discount", "tax", "score")
_LABELS = ("status", "country", "channel", "note", "code")
_LAYERS = 6
_RAW = 0.04  # tables that are given, to a statement
_MADE = {"cleaned": 2, "joined": 3, "windowed": 3}  # of fifty statements, those that make a table …
_KEPT_UP = {"reload": 20, "insert": 7, "merge": 7, "update": 7}  # … and those that keep one up
_KINDS = {"broken": 1} | _MADE | _KEPT_UP


@dataclass
class _Table:
    name: str
    columns: list[str]
    query: str = ""  # that fills it; a view has none


@dataclass
class _Part:
    """The part of an estate that is in one dialect, as far as it has been made."""

    dialect: str
    chance: random.Random
    kinds: Iterator[str]
    layers: list[list[_Table]]


def generate(statements: int, *, seed: int = 1, changed: float = 0.0) -> Estate:
    """An estate of about so many statements; of these, a share is changed against the estate of the same seed."""
    scripts: list[Script] = []
    for dialect, share in DIALECTS:
        scripts += _dialect(dialect, round(statements * share), seed, changed)
    return Estate(tuple(scripts), tuple(dialect for dialect, _ in DIALECTS))


def _dialect(dialect: str, count: int, seed: int, changed: float) -> list[Script]:
    chance = random.Random(f"{seed} {dialect}")
    raw = _raw_tables(chance, max(4, round(count * _RAW)), dialect)
    part = _Part(dialect, chance, _dealt(chance), [raw])
    made: list[tuple[str, list[str]]] = [("00_raw", [_ddl(table, dialect) for table in raw])]
    left = count - len(raw)
    for layer in range(1, _LAYERS):
        here = left // (_LAYERS - layer)
        left -= here
        part.layers.append([])
        made += _layer(part, layer, here)
    edit = random.Random(f"{seed} edit")
    scripts = []
    for name, texts in made:
        if not name.startswith("00"):
            texts = [_edited(text) if edit.random() < changed else text for text in texts]
        scripts.append(Script(f"{dialect}/{name}.sql", ";\n\n".join(texts) + ";\n", dialect, dialect))
    return scripts


def _dealt(chance: random.Random) -> Iterator[str]:
    """Kinds of statements in random order, in every fifty each as often as it should be: so small estates are no
    harder or easier than large ones."""
    cards = [kind for kind, count in _KINDS.items() for _ in range(count)]
    while True:
        yield from chance.sample(cards, len(cards))


def _edited(text: str) -> str:
    return text.replace("WHERE", "WHERE 1 = 1 AND", 1) if "WHERE" in text else f"/* edited */ {text}"


def _raw_tables(chance: random.Random, count: int, dialect: str) -> list[_Table]:
    tables = []
    for number in range(count):
        columns = ["id", "parent_id", *chance.sample(_MEASURES, 4), *chance.sample(_LABELS, 3), "day"]
        tables.append(_Table(f"raw.{chance.choice(_WORDS)}_{dialect[:2]}{number}", columns))
    return tables


def _ddl(table: _Table, dialect: str) -> str:
    number, text = ("INT64", "STRING") if dialect == "bigquery" else ("INT", "VARCHAR(100)")
    kinds = {"day": "DATE", **dict.fromkeys(_LABELS, text)}
    columns = ",\n  ".join(f"{name} {kinds.get(name, number)}" for name in table.columns)
    return f"CREATE TABLE {table.name} (\n  {columns}\n)"


def _layer(part: _Part, layer: int, count: int) -> list[tuple[str, list[str]]]:
    scripts: list[tuple[str, list[str]]] = []
    done = 0
    while done < count:
        texts: list[str] = []
        for _ in range(min(count - done, part.chance.choice((1, 2, 3, 3, 4, 5)))):
            texts.append(_statement(part, layer))
        scripts.append((f"{layer:02}_{len(scripts):05}", texts))
        done += len(texts)
    return scripts


def _statement(part: _Part, layer: int) -> str:
    chance, here, kind = part.chance, part.layers[layer], next(part.kinds)
    if kind == "broken":
        return "SELEC broken FROM nowhere WHERE ("
    source = chance.choice(part.layers[layer - 1])
    tables = [table for table in here if table.query]
    if kind in _KEPT_UP and tables:
        return _dml(kind, chance.choice(tables), source)
    made = _Table(f"l{layer}.t_{part.dialect[:2]}{len(here)}", [])
    here.append(made)
    write = {"cleaned": _cleaned, "windowed": _windowed}.get(kind, _joined)
    return write(chance, made, source, chance.choice(part.layers[0]))


def _pick(chance: random.Random, table: _Table, names: tuple[str, ...], count: int) -> list[str]:
    there = [name for name in table.columns if name in names]
    return chance.sample(there, min(count, len(there)))


def _cleaned(chance: random.Random, made: _Table, source: _Table, other: _Table) -> str:
    measures = _pick(chance, source, _MEASURES, 3)
    labels = _pick(chance, source, _LABELS, 2)
    made.columns = ["id", "parent_id", *measures, *labels, "day"]
    lines = [f"  COALESCE({name}, 0) * 100 AS {name}" for name in measures]
    lines += [f"  CASE WHEN {name} = '' THEN NULL ELSE LOWER(TRIM({name})) END AS {name}" for name in labels]
    body = ",\n".join(["  id", "  parent_id", *lines, "  day"])
    return f"CREATE VIEW {made.name} AS\nSELECT\n{body}\nFROM {source.name}\nWHERE id IS NOT NULL AND parent_id > 0"


def _joined(chance: random.Random, made: _Table, source: _Table, other: _Table) -> str:
    measures = _pick(chance, source, _MEASURES, 3)
    label = _pick(chance, other, _LABELS, 1)[0]
    made.columns = ["id", "parent_id", *measures, label, "day"]
    sums = ",\n".join(f"    SUM(s.{name}) AS {name}" for name in measures)
    kept = ",\n".join(f"  a.{name}" for name in measures)
    tail = f"WHERE o.{label} <> 'test'\nGROUP BY 1, 2, 3"
    made.query = (
        f"WITH base AS (\n  SELECT * FROM {source.name} WHERE day >= '2026-01-01'\n),\n"
        f"agg AS (\n  SELECT s.id, s.parent_id, s.day{',' if sums else ''}\n{sums}\n  FROM base s\n"
        f"  GROUP BY s.id, s.parent_id, s.day\n)\n"
        f"SELECT a.id, a.parent_id,{'' if not kept else chr(10) + kept + ','}\n  MAX(o.{label}) AS {label}, a.day\n"
        f"FROM agg a\nLEFT JOIN {other.name} o ON o.id = a.parent_id\n"
        + tail.replace("1, 2, 3", ", ".join(["a.id", "a.parent_id", *(f"a.{name}" for name in measures), "a.day"]))
    )
    return f"CREATE TABLE {made.name} AS\n{made.query}"


def _windowed(chance: random.Random, made: _Table, source: _Table, other: _Table) -> str:
    measures = _pick(chance, source, _MEASURES, 2)
    made.columns = ["id", "parent_id", *measures, "rank_no", "day"]
    kept = "".join(f"    {name},\n" for name in measures)
    wanted = "".join(name + ", " for name in measures)
    made.query = (
        f"WITH ranked AS (\n  SELECT\n    id,\n    parent_id,\n{kept}    day,\n"
        f"    ROW_NUMBER() OVER (PARTITION BY parent_id ORDER BY day DESC, id) AS rank_no\n  FROM {source.name}\n),\n"
        f"kept AS (\n  SELECT * FROM ranked WHERE rank_no <= 10 AND id IN (SELECT id FROM {other.name})\n)\n"
        f"SELECT id, parent_id, {wanted}rank_no, day FROM kept WHERE day IS NOT NULL"
    )
    return f"CREATE TABLE {made.name} AS\n{made.query}"


def _dml(kind: str, target: _Table, source: _Table) -> str:
    if kind == "reload":
        return f"INSERT INTO {target.name} ({', '.join(target.columns)})\n{target.query}"
    shared = [name for name in target.columns if name in source.columns and name != "id"] or ["parent_id"]
    names = ", ".join(["id", *shared])
    if kind == "insert":
        return f"INSERT INTO {target.name} ({names})\nSELECT {names} FROM {source.name} WHERE id > 100"
    if kind == "update":
        column = shared[0]
        return f"UPDATE {target.name} SET {column} = {column} WHERE id = 0"
    updates = ", ".join(f"{name} = s.{name}" for name in shared)
    values = ", ".join(f"s.{name}" for name in ["id", *shared])
    return (
        f"MERGE INTO {target.name} t\nUSING (SELECT {names} FROM {source.name} WHERE id > 0) s\nON t.id = s.id\n"
        f"WHEN MATCHED THEN UPDATE SET {updates}\nWHEN NOT MATCHED THEN INSERT ({names}) VALUES ({values})"
    )
