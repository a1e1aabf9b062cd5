"""The statement that SHOW CREATE TABLE prints makes the same table, whatever the table is."""

import datetime
import decimal
import math
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.effort import examples

import headwater
from headwater import Warehouse
from headwater.errors import HeadwaterError, SchemaError, SqlError
from headwater.files import MemoryFiles
from headwater.lake.engine.merge import can_aggregate
from headwater.lake.engine.merge.aggregates import AGGREGATES
from headwater.lake.engine.options import FileFormat, Fsync
from headwater.lake.metadata.schema_change import RESERVED, AddColumn
from headwater.model.schema import Field, Schema
from headwater.model.types import INT, PRIMITIVES, Array, Decimal, Map, Member, Primitive, Struct

texts = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=8)
names = st.sampled_from(["id", "order", "select", "group", "a b", 'say "hi"', "it's", "`", "Ü", "x.y", "#1"]) | texts
names = names.filter(lambda name: name and name not in RESERVED)
decimals = st.integers(1, 38).flatmap(lambda digits: st.builds(Decimal, st.just(digits), st.integers(0, digits)))
scalars = st.sampled_from(list(PRIMITIVES.values())) | decimals


def distinct(found, key):
    return st.lists(found, min_size=1, max_size=4, unique_by=lambda each: key(each).casefold())


def nested(inner):
    members = distinct(st.builds(Member, names, inner), lambda member: member.name)
    return st.builds(Array, inner) | st.builds(Map, scalars, inner) | st.builds(Struct, members.map(tuple))


types = st.recursive(scalars, nested, max_leaves=4)


def integers(bits):
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


PLAIN = {
    "BOOLEAN": st.booleans(),
    "TINYINT": integers(8),
    "SMALLINT": integers(16),
    "INT": integers(32),
    "BIGINT": integers(64),
    "FLOAT": st.floats(width=32),
    "DOUBLE": st.floats(),
    "STRING": texts,
    "BINARY": st.binary(max_size=5),
    "DATE": st.dates(),
    "TIMESTAMP": st.datetimes(),
    "TIMESTAMP_LTZ": st.datetimes(timezones=st.just(datetime.UTC)),
}


def values(type):
    """Values that a default of a type can have."""
    match type:
        case Primitive(name):
            return PLAIN[name]
        case Decimal(precision, scale):
            most = 10**precision - 1
            exact = decimal.Context(prec=80)
            return st.integers(-most, most).map(lambda digits: decimal.Decimal(digits).scaleb(-scale, exact))
        case Array(element):
            return st.lists(st.none() | values(element), max_size=3)
        case Map(key, value):
            keys = values(key).filter(lambda each: each == each)
            return st.dictionaries(keys, st.none() | values(value), max_size=3)
        case Struct(members):
            return st.fixed_dictionaries({each.name: st.none() | values(each.type) for each in members})


@st.composite
def columns(draw):
    type = draw(types)
    default = draw(st.none() | values(type))
    return Field(0, draw(names), type, draw(st.booleans()), draw(st.none() | texts), default)


options = st.fixed_dictionaries(
    {},
    optional={
        "bucket": st.sampled_from(["1", "3", "-1"]),
        "file.format": st.sampled_from([each.value for each in FileFormat]),
        "wal.fsync": st.sampled_from([each.value for each in Fsync]),
        "target-file-size": st.just("1 MB"),
        "write-only": st.sampled_from(["true", "false"]),
        "user.note": texts,
        "user.it's": texts,
    },
)


@st.composite
def schemas(draw):
    fields = draw(distinct(columns(), lambda field: field.name))
    keyed = [field for field in fields if isinstance(field.type, Primitive | Decimal)]
    keys = draw(st.lists(st.sampled_from(keyed), max_size=2, unique=True)) if keyed else []
    fields = tuple(
        replace(field, id=at, nullable=field.nullable and field not in keys) for at, field in enumerate(fields)
    )
    key = tuple(field.name for field in keys)
    parts = [f for f in keys if str(f.type) not in ("FLOAT", "DOUBLE", "BINARY")][:1] if len(fields) > 1 else []
    partitions = tuple(field.name for field in parts if draw(st.booleans()))
    chosen = draw(options) | (draw(merging(fields, key)) if key else {})
    return Schema(fields, key, partitions, chosen, draw(st.none() | texts))


@st.composite
def merging(draw, fields, key):
    """Merge engines; with `aggregation`, functions that the types of the columns have."""
    engine = draw(st.sampled_from(["deduplicate", "partial-update", "aggregation", "first-row", "aggregation"]))
    functions = {
        f"fields.{field.name}.aggregate-function": draw(
            st.sampled_from([name for name in AGGREGATES if can_aggregate(name, field.type)])
        )
        for field in fields
        if engine == "aggregation" and field.name not in key and draw(st.booleans())
    }
    return {"merge-engine": engine, **functions}


def ordered(value):
    """A value with the entries of its dictionaries in one order."""
    if isinstance(value, dict):
        return {key: ordered(value[key]) for key in sorted(value, key=repr)}
    return [ordered(each) for each in value] if isinstance(value, list) else value


def shown(schema):
    """A schema without what two tables of one shape may differ in; NaN as text, which equals itself."""
    fields = tuple(replace(field, default=ordered(field.default)) for field in schema.fields)
    schema = replace(schema, fields=fields, options=ordered(schema.options))
    return repr(replace(schema, time_millis=0, highest_field_id=-1)).replace("-0.0", "0.0")


@pytest.mark.property
@settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(schemas(), st.sampled_from(["t", "order", "a-b", "1st", "Ünï"]), st.sampled_from(["default", "select", "d-1"]))
def test_what_show_create_prints_makes_the_same_table(schema, table, database):
    warehouse = Warehouse(MemoryFiles())
    warehouse.create_database(database, if_not_exists=True)
    made = warehouse.create_table(f"{database}.{table}", schema)
    with headwater.connect(warehouse) as session:
        text = session.sql(f'SHOW CREATE TABLE "{database}"."{table}"').scalar()
        session.sql(f'DROP TABLE "{database}"."{table}"')
        session.sql(text)
        again = session.sql(f'SHOW CREATE TABLE "{database}"."{table}"').scalar()
    reopened = Warehouse(warehouse.files).table(f"{database}.{table}").schema
    assert shown(reopened) == shown(made.schema)
    assert again == text


@pytest.fixture
def session():
    with headwater.connect(Warehouse(MemoryFiles())) as opened:
        yield opened


def test_a_struct_is_read_as_describe_prints_it(session):
    session.sql("CREATE TABLE e (id INT, n STRUCT<a: INT>)")
    session.sql("CREATE TABLE f (id INT, n ARRAY<STRUCT<a: INT, b: MAP<STRING, ARRAY<STRUCT<x: DECIMAL(10,2)>>>>>)")
    session.sql("ALTER TABLE e ADD COLUMN m STRUCT<b: STRUCT<c: STRING>>")
    assert [row[1] for row in session.sql("DESCRIBE e")] == ["INT", "STRUCT<a: INT>", "STRUCT<b: STRUCT<c: STRING>>"]
    assert str(session.table("f").schema.field("n").type).endswith("ARRAY<STRUCT<x: DECIMAL(10, 2)>>>>>")
    with pytest.raises(SqlError, match="is not a type"):
        session.sql("CREATE TABLE g (n STRUCT<a>)")


def test_defaults_are_inserted_as_they_are(session):
    session.sql("""
        CREATE TABLE t (id INT, b BLOB DEFAULT '\\xAA\\x00', f DOUBLE DEFAULT 'nan',
          m MAP(INT, INT) DEFAULT MAP {1: 2},
          s STRUCT(a INT[]) DEFAULT {'a': [1, NULL]}, d DOUBLE DEFAULT 0.30000000000000004);
        INSERT INTO t (id) VALUES (1);
        INSERT INTO t VALUES (2, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT)
    """)
    session.table("t").write([{"id": 3}])
    for row in session.sql("SELECT * FROM t"):
        assert row[1] == b"\xaa\x00"
        assert math.isnan(row[2])
        assert row[3:] == ([(1, 2)], {"a": [1, None]}, 0.30000000000000004)


def test_options_may_be_written_as_numbers_and_words(session):
    session.sql("CREATE TABLE t (id INT) WITH (bucket = -1, 'write-only' = true)")
    assert session.table("t").schema.options == {"bucket": "-1", "write-only": "true"}
    session.sql("ALTER TABLE t SET ('write-only' = false)")
    assert session.table("t").schema.options["write-only"] == "false"


@pytest.mark.parametrize("default", ["x", 2**31, 1.5, [1], datetime.date(2020, 1, 1)])
def test_a_default_of_another_type_is_refused_and_the_table_stays(session, default):
    session.sql("CREATE TABLE t (id INT)")
    with pytest.raises(SchemaError, match="column `n` cannot have the default"):
        session.table("t").alter(AddColumn("n", INT, default=default))
    assert Warehouse(session.warehouse.files).table("t").schema.names == ("id",)


@pytest.mark.parametrize("default", ["DATE '10000-01-01'", "DATE 'infinity'", "DATE '0044-03-15 (BC)'"])
def test_a_default_that_python_cannot_show_is_refused(session, default):
    with pytest.raises(HeadwaterError, match="default"):
        session.sql(f"CREATE TABLE t (id INT, d DATE DEFAULT {default})")
