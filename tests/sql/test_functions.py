"""Every function that a dialect's parser knows, called with columns, has all of them on its edges."""

import pytest
from sqlglot import exp

from headwater.lineage import SchemaResolver
from headwater.lineage.imports import schema_of_mapping
from headwater.lineage.script import analyze_script
from headwater.sql.dialects import dialect_names, sqlglot_dialect
from headwater.sql.frontend import SqlFrontEnd
from headwater.text import Source

COLUMNS = ("c0", "c1", "c2")
SCHEMA = schema_of_mapping({"t": list(COLUMNS)})
NO_VALUES = {  # arguments that are no values of the row: of a class, those after so many
    **dict.fromkeys((exp.Explode, exp.Posexplode, exp.PosexplodeOuter, exp.Collate), 1),
    exp.NextValueFor: 0,
    exp.JSONBExtractScalar: 2,
    exp.JSONCast: 0,
}


def own_functions(dialect: str) -> list[str]:
    """The functions that a dialect reads in its own way; of the generic one, all."""
    known, common = sqlglot_dialect(dialect).parser_class.FUNCTIONS, sqlglot_dialect("").parser_class.FUNCTIONS
    return [name for name, build in known.items() if not dialect or build is not common.get(name)]


def parsed(sql: str, dialect: str) -> exp.Expr | None:
    known = sqlglot_dialect(dialect)
    try:
        (tree,) = known.parser().parse(known.tokenize(sql), sql)
    except Exception:  # so many arguments are too many, or too few
        return None
    item = tree.expressions[0] if isinstance(tree, exp.Select) else None
    return item.this if isinstance(item, exp.Alias) and not isinstance(item.this, exp.Anonymous) else None


@pytest.mark.parametrize("dialect", ["", *dialect_names()])
def test_every_function_keeps_its_columns(dialect):
    tried = 0
    for name in own_functions(dialect):
        for count in range(1, len(COLUMNS) + 1):
            sql = f"SELECT {name}({', '.join(COLUMNS[:count])}) AS x FROM t"
            node = parsed(sql, dialect)
            if node is None:
                continue
            values = next((most for kind, most in NO_VALUES.items() if isinstance(node, kind)), count)
            wanted = {each.name.lower() for each in node.find_all(exp.Column)} & set(COLUMNS[:values])
            (lineage,) = analyze_script(Source(sql), SqlFrontEnd(dialect), SchemaResolver(SCHEMA, dialect=dialect))
            assert wanted <= {edge.source.column for edge in lineage.edges}, sql
            tried += 1
    assert tried or dialect in ("dax", "prql") or not own_functions(dialect)
