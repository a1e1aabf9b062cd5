"""A generated SQL estate: seeded, layered, three dialects, with what estates have.

Statements come in scripts of about three: raw tables defined by DDL, views that clean them, tables with CTEs and
windows, tables that join and aggregate, DML that keeps them up (INSERT, MERGE, UPDATE), and two in a hundred that do
not parse. Half of the estate is Snowflake, four in ten Postgres, one in ten BigQuery, which goes through ZetaSQL and
costs ten times the others.
"""

import random
from dataclasses import dataclass

from headwater.jobs.harvest.sources import Estate
from headwater.jobs.harvest.units import Script

DIALECTS = (("snowflake", 0.5), ("postgres", 0.4), ("bigquery", 0.1))
_WORDS = ("order", "customer", "item", "payment", "visit", "ticket", "product", "stock", "price", "campaign")
_MEASURES = ("amount", "quantity", "price", "discount", "tax", "score")
_LABELS = ("status", "country", "channel", "note", "code")
_LAYERS = 6


@dataclass
class _Table:
    name: str
    columns: list[str]


def generate(statements: int, *, seed: int = 1, changed: float = 0.0) -> Estate:
    """An estate of about so many statements; of these, a share is changed against the estate of the same seed."""
    scripts: list[Script] = []
    for dialect, share in DIALECTS:
        scripts += _dialect(dialect, round(statements * share), seed, changed)
    return Estate(tuple(scripts), tuple(dialect for dialect, _ in DIALECTS))


def _dialect(dialect: str, count: int, seed: int, changed: float) -> list[Script]:
    chance = random.Random(f"{seed} {dialect}")
    layers: list[list[_Table]] = [_raw_tables(chance, max(4, count // 25), dialect)]
    made: list[tuple[str, list[str]]] = [("00_raw", [_ddl(table, dialect) for table in layers[0]])]
    left = count - len(layers[0])
    for layer in range(1, _LAYERS):
        here = left // (_LAYERS - layer)
        left -= here
        layers.append([])
        made += _layer(chance, layer, here, layers, dialect)
    edit = random.Random(f"{seed} edit")
    scripts = []
    for name, texts in made:
        if not name.startswith("00"):
            texts = [_edited(text) if edit.random() < changed else text for text in texts]
        scripts.append(Script(f"{dialect}/{name}.sql", ";\n\n".join(texts) + ";\n", dialect, dialect))
    return scripts


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


def _layer(
    chance: random.Random, layer: int, count: int, layers: list[list[_Table]], dialect: str
) -> list[tuple[str, list[str]]]:
    scripts: list[tuple[str, list[str]]] = []
    done = 0
    while done < count:
        texts: list[str] = []
        for _ in range(min(count - done, chance.choice((1, 2, 3, 3, 4, 5)))):
            texts.append(_statement(chance, layer, layers, dialect))
        scripts.append((f"{layer:02}_{len(scripts):05}", texts))
        done += len(texts)
    return scripts


def _statement(chance: random.Random, layer: int, layers: list[list[_Table]], dialect: str) -> str:
    draw = chance.random()
    if draw < 0.02:
        return "SELEC broken FROM nowhere WHERE ("
    source = chance.choice(layers[layer - 1] or layers[0])
    if draw < 0.30 and layers[layer]:
        return _dml(chance, chance.choice(layers[layer]), source)
    other = chance.choice(layers[0])
    made = _Table(f"l{layer}.t_{dialect[:2]}{len(layers[layer])}", [])
    text = chance.choice((_cleaned, _joined, _windowed))(chance, made, source, other)
    layers[layer].append(made)
    return text


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
    return (
        f"CREATE TABLE {made.name} AS\nWITH base AS (\n  SELECT * FROM {source.name} WHERE day >= '2026-01-01'\n),\n"
        f"agg AS (\n  SELECT s.id, s.parent_id, s.day{',' if sums else ''}\n{sums}\n  FROM base s\n"
        f"  GROUP BY s.id, s.parent_id, s.day\n)\n"
        f"SELECT a.id, a.parent_id,{'' if not kept else chr(10) + kept + ','}\n  MAX(o.{label}) AS {label}, a.day\n"
        f"FROM agg a\nLEFT JOIN {other.name} o ON o.id = a.parent_id\n"
        + tail.replace("1, 2, 3", ", ".join(["a.id", "a.parent_id", *(f"a.{name}" for name in measures), "a.day"]))
    )


def _windowed(chance: random.Random, made: _Table, source: _Table, other: _Table) -> str:
    measures = _pick(chance, source, _MEASURES, 2)
    made.columns = ["id", "parent_id", *measures, "rank_no", "day"]
    kept = "".join(f"    {name},\n" for name in measures)
    wanted = "".join(name + ", " for name in measures)
    return (
        f"CREATE TABLE {made.name} AS\nWITH ranked AS (\n  SELECT\n    id,\n    parent_id,\n{kept}    day,\n"
        f"    ROW_NUMBER() OVER (PARTITION BY parent_id ORDER BY day DESC, id) AS rank_no\n  FROM {source.name}\n),\n"
        f"kept AS (\n  SELECT * FROM ranked WHERE rank_no <= 10 AND id IN (SELECT id FROM {other.name})\n)\n"
        f"SELECT id, parent_id, {wanted}rank_no, day FROM kept WHERE day IS NOT NULL"
    )


def _dml(chance: random.Random, target: _Table, source: _Table) -> str:
    shared = [name for name in target.columns if name in source.columns and name != "id"] or ["parent_id"]
    names = ", ".join(["id", *shared])
    kind = chance.choice(("insert", "merge", "update"))
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
