"""Every aggregate function with every type: refused when the table is made, or right in whatever steps rows merge."""

import datetime
import decimal
import math

import pyarrow as pa
import pytest
from tests.effort import one_in

import headwater
from headwater import Warehouse
from headwater.errors import HeadwaterError, SchemaError
from headwater.files import MemoryFiles
from headwater.lake.engine.merge import can_aggregate
from headwater.lake.engine.merge.aggregates import AGGREGATES
from headwater.lake.engine.types import arrow_type
from headwater.lake.metadata.schema_change import SetOption, WidenColumn
from headwater.lake.tables.shape import check_new
from headwater.model.schema import Field, Schema
from headwater.model.types import BIGINT, PRIMITIVES, Array, Decimal, Map, Member, Struct, parse_type

MOMENT = datetime.datetime(2024, 3, 31, 1, 30, 0, 123456)
DAY = datetime.timedelta(days=1)
VALUES = {
    "BOOLEAN": [True, None, False, True, False],
    "TINYINT": [5, None, -3, 2, 1],
    "SMALLINT": [50, None, -30, 2, 1],
    "INT": [500, None, -30, 20, 1],
    "BIGINT": [2**40, None, -30, 20, 1],
    "FLOAT": [0.5, None, -2.0, 4.25, 0.0],
    "DOUBLE": [0.5, None, -2.0, 4.25, 1e300],
    "STRING": ["b", None, "", "ä,b", "a"],
    "BINARY": [b"b", None, b"", b"\0\xff", b"a"],
    "DATE": [MOMENT.date(), None, datetime.date(1, 1, 1), datetime.date(9999, 12, 31), (MOMENT - DAY).date()],
    "TIMESTAMP": [MOMENT, None, datetime.datetime(1, 1, 1), MOMENT + DAY, MOMENT - DAY],
    "TIMESTAMP_LTZ": [each and each.replace(tzinfo=datetime.UTC) for each in (MOMENT, None, MOMENT - DAY, MOMENT)],
    "DECIMAL(5, 2)": [decimal.Decimal(text) for text in ("1.25", "-3.00", "99.99", "0.01")],
    "DECIMAL(38, 0)": [decimal.Decimal(10**29 + 1), None, decimal.Decimal(-3), decimal.Decimal(10**8)],
    "DECIMAL(38, 38)": [decimal.Decimal(1).scaleb(-38), None, decimal.Decimal("-0.5")],
}
SCALARS = {**PRIMITIVES, **{text: parse_type(text) for text in VALUES if text.startswith("DECIMAL")}}
TYPES = {
    **SCALARS,
    **{f"ARRAY<{text}>": Array(type) for text, type in SCALARS.items()},
    "MAP<STRING, INT>": Map(PRIMITIVES["STRING"], PRIMITIVES["INT"]),
    "STRUCT<a: INT>": Struct((Member("a", PRIMITIVES["INT"]),)),
    "ARRAY<ARRAY<INT>>": Array(Array(PRIMITIVES["INT"])),
}


def values_of(text):
    type = TYPES[text]
    if text in VALUES:
        plain = VALUES[text]
    elif isinstance(type, Array):
        inner = values_of(str(type.element))
        plain = [inner[:2], None, [], [None], inner]
    else:
        plain = [{"a": 1}, None, {"a": None}, {"a": 3}]
    return pa.array(plain, arrow_type(type)).to_pylist()


def model(function, values):
    present = [value for value in values if value is not None]
    if function in ("first", "last"):
        return values[0 if function == "first" else -1]
    if not present:
        return None
    with decimal.localcontext(prec=80):
        return {
            "first_non_null": lambda: present[0],
            "last_non_null": lambda: present[-1],
            "sum": lambda: sum(present),
            "product": lambda: math.prod(present),
            "min": lambda: min(present),
            "max": lambda: max(present),
            "bool_or": lambda: any(present),
            "bool_and": lambda: all(present),
            "listagg": lambda: ",".join(present),
            "collect": lambda: [item for value in present for item in value],
        }[function]()


def options(function):
    return {"merge-engine": "aggregation", "fields.v.aggregate-function": function, "compaction.auto": "false"}


def create(warehouse, text, function):
    columns = {"k": "INT", "v": text}
    return warehouse.create_table("t", columns, primary_key="k", options=options(function))


def shown(table):
    return {row["k"]: row["v"] for row in table.to_arrow().to_pylist()}


def check(warehouse, expected):
    """A table, opened anew, against the model: by scan and by key, before and after each way to compact."""
    for compaction in (None, False, True):
        if compaction is not None:
            warehouse.table("t").compact(full=compaction)
        table = Warehouse(warehouse.files).table("t")
        assert shown(table) == expected
        for key, value in expected.items():
            found = table.get(key)["v"]
            assert found == (dict(value) if isinstance(found, dict) else value)


@pytest.mark.parametrize("text", one_in(4, TYPES))
@pytest.mark.parametrize("function", AGGREGATES)
def test_every_pair_is_refused_or_right(function, text):
    warehouse = Warehouse(MemoryFiles())
    if not can_aggregate(function, TYPES[text]):
        with pytest.raises(SchemaError, match=f"which has no `{function}`"):
            create(warehouse, text, function)
        return
    table = create(warehouse, text, function)
    values = values_of(text)
    column = arrow_type(TYPES[text])
    history = {1: values, 2: [None] * (len(values) - 1) + [values[0], values[-1]], 3: values[::-1]}
    schema = pa.schema([("k", pa.int32()), ("v", column)])
    table.write(pa.table([[3] * len(values), values[::-1]], schema=schema))
    for value in values[:-1]:
        table.write(pa.table([[1, 2], [value, None]], schema=schema))
    first, last = (dict(each) if text.startswith("MAP") else each for each in (values[0], values[-1]))
    with table.writer() as writer:
        writer.put((1, last))
        writer.put((2, first))
        writer.put((2, last))
    check(warehouse, {key: model(function, each) for key, each in history.items()})


def test_the_pairs_that_work_are_those_that_ought_to():
    works = {name: [text for text in SCALARS if can_aggregate(name, TYPES[text])] for name in AGGREGATES}
    numbers = ["TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE"]
    assert works["sum"] == [*numbers, "DECIMAL(5, 2)", "DECIMAL(38, 0)", "DECIMAL(38, 38)"]
    assert works["product"] == [*numbers, "DECIMAL(38, 0)"]
    assert works["min"] == works["max"] == works["first"] == works["last_non_null"] == list(SCALARS)
    assert works["bool_or"] == works["bool_and"] == ["BOOLEAN"]
    assert works["listagg"] == ["STRING"]
    assert [text for text in TYPES if can_aggregate("collect", TYPES[text])] == [
        text for text in TYPES if text.startswith("ARRAY")
    ]


@pytest.mark.parametrize("function", AGGREGATES)
def test_sql_refuses_the_same_pairs(function):
    session = headwater.connect(MemoryFiles())
    for at, (text, type) in enumerate(TYPES.items()):
        made = f"CREATE TABLE made{at} (k INT PRIMARY KEY, v {text})"
        with_function = "'fields.v.aggregate-function' = '" + function + "'"
        session.sql(f"CREATE TABLE altered{at} (k INT PRIMARY KEY, v {text}) WITH ('merge-engine' = 'aggregation')")
        for statement in (
            f"{made} WITH ('merge-engine' = 'aggregation', {with_function})",
            f"ALTER TABLE altered{at} SET ({with_function})",
        ):
            if can_aggregate(function, type):
                session.sql(statement)
            else:
                with pytest.raises(HeadwaterError, match=f"which has no `{function}`"):
                    session.sql(statement)


def test_a_wider_type_needs_the_function_too():
    table = create(Warehouse(MemoryFiles()), "DECIMAL(5, 0)", "product")
    with pytest.raises(SchemaError, match="no `product`"):
        table.alter(WidenColumn("v", Decimal(9, 2)))
    table.alter(WidenColumn("v", Decimal(9, 0)))
    with pytest.raises(SchemaError, match="no `listagg`"):
        table.alter(SetOption("fields.v.aggregate-function", "listagg"))


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ({"merge-engine": "aggregation"}, "needs a primary key"),
        ({"fields.v.aggregate-function": "sum"}, "does not aggregate"),
        ({"merge-engine": "partial-update", "fields.v.aggregate-function": "sum"}, "does not aggregate"),
    ],
)
def test_options_that_would_do_nothing_are_refused(made, message):
    keys = () if message == "needs a primary key" else ("k",)
    schema = Schema((Field(1, "k", BIGINT, nullable=False), Field(2, "v", BIGINT)), keys, options=made)
    with pytest.raises(SchemaError, match=message):
        check_new(schema)


@pytest.mark.parametrize(("text", "function"), [("STRING", "sum"), ("INT", "bool_or"), ("TIMESTAMP_LTZ", "listagg")])
def test_a_table_from_before_the_check_says_what_to_do(monkeypatch, text, function):
    warehouse = Warehouse(MemoryFiles())
    with monkeypatch.context() as before:
        before.setattr("headwater.lake.tables.shape.check_new_rule", lambda schema: None)
        table = create(warehouse, text, function)
    values = [value for value in values_of(text) if value is not None]
    schema = pa.schema([("k", pa.int32()), ("v", arrow_type(TYPES[text]))])
    for value in values:
        table.write(pa.table([[1], [value]], schema=schema))
    for read in (table.to_arrow, lambda: table.get(1), table.compact):
        with pytest.raises(SchemaError, match=f"`{function}` does not work") as err:
            read()
        assert "ALTER TABLE" in err.value.hint
    table.alter(SetOption("compaction.auto", "true"))  # another change is not held up by it
    headwater.connect(warehouse.files).sql("ALTER TABLE t SET ('fields.v.aggregate-function' = 'last')")
    check(warehouse, {1: values[-1]})
