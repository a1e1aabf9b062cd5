"""The edges of a generated estate of layers: each column is made of two or three of the layer before it."""

import numpy as np
import pyarrow as pa

COLUMNS = 20
LAYERS = 10


def make_edges(count: int, changed: int, prefix: str = "") -> pa.Table:
    """Rows of the edge table; of those, the first so many in another way, or all when it is 0."""
    from headwater.graph.store import arrow_schema
    from headwater.graph.tables import EDGES

    chance = np.random.default_rng(1)
    per_layer = count // LAYERS
    tables = max(1, per_layer // (COLUMNS * 3))
    layer = np.repeat(np.arange(1, LAYERS + 1), per_layer)
    table = np.tile(np.repeat(np.arange(tables), -(-per_layer // tables))[:per_layer], LAYERS)
    column = np.tile(np.arange(per_layer) % COLUMNS, LAYERS)
    source_table = (table + chance.integers(0, 3, len(table))) % tables
    source_column = chance.integers(0, COLUMNS, len(table))
    if changed:
        layer, table, column = layer[:changed], table[:changed], column[:changed]
        source_table, source_column = source_table[:changed], source_column[:changed]
    made = [f"{prefix}l{a}.t{b}" for a, b in zip(layer, table)]
    rows = {
        "statement": [f"sql/{name}.sql#0" for name in made],
        "target": made,
        "target_column": [f"c{each}" for each in column],
        "source": [f"{prefix}l{a - 1}.t{b}" for a, b in zip(layer, source_table)],
        "source_column": [f"c{each}" for each in source_column],
        "kind": ["TRANSFORMATION"] * len(made),
        "expression": [f"c{each} * {2 if changed else 1}" for each in source_column],
        "file": [f"sql/{name}.sql" for name in made],
        "masking": [False] * len(made),
        "line": [3] * len(made),
        "observed": [False] * len(made),
    }
    schema = arrow_schema(EDGES)
    return pa.table(
        [
            pa.array(rows[each.name], each.type) if each.name in rows else pa.nulls(len(made), each.type)
            for each in schema
        ],
        schema=schema,
    )
