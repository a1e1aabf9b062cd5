"""Types as GoogleSQL spells them."""

from headwater.model.types import Array, DataType, Decimal, Map, Primitive, Struct

_GOOGLE_SQL = {
    "BOOLEAN": "BOOL",
    "TINYINT": "INT64",
    "SMALLINT": "INT64",
    "INT": "INT64",
    "BIGINT": "INT64",
    "FLOAT": "FLOAT64",
    "DOUBLE": "FLOAT64",
    "BINARY": "BYTES",
    "TIMESTAMP": "DATETIME",
    "TIMESTAMP_LTZ": "TIMESTAMP",
}


def google_type(type: DataType) -> str:
    """A type as GoogleSQL spells it; a map, which it does not have, is an array of pairs.

    >>> google_type(Array(Primitive("DOUBLE")))
    'ARRAY<FLOAT64>'
    """
    match type:
        case Primitive(name):
            return _GOOGLE_SQL.get(name, name)
        case Decimal(precision, scale):
            return "NUMERIC" if precision - scale <= 29 and scale <= 9 else "BIGNUMERIC"
        case Array(element):
            return f"ARRAY<{google_type(element)}>"
        case Map(key, value):
            return f"ARRAY<STRUCT<key {google_type(key)}, value {google_type(value)}>>"
        case Struct(members):
            return f"STRUCT<{', '.join(f'`{member.name}` {google_type(member.type)}' for member in members)}>"
        case _:
            return str(type)
