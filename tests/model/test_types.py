import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import SchemaError
from headwater.model import types
from headwater.model.types import Array, Decimal, Foreign, Map, Member, Struct, parse_type

primitives = st.sampled_from(list(types.PRIMITIVES.values()))
decimals = st.integers(1, 38).flatmap(lambda p: st.builds(Decimal, st.just(p), st.integers(0, p)))
names = st.text(alphabet="abz_ 9é`:<·", min_size=1, max_size=6)


def nest(children):
    members = st.lists(st.builds(Member, names, children), max_size=3).map(tuple)
    return st.builds(Array, children) | st.builds(Map, children, children) | st.builds(Struct, members)


@given(st.recursive(primitives | decimals, nest, max_leaves=8))
def test_text_and_value_round_trip(data_type):
    assert parse_type(str(data_type)) == data_type


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bigint", types.BIGINT),
        ("INT64", types.BIGINT),
        ("varchar(20)", types.STRING),
        ("double precision", types.DOUBLE),
        ("timestamp without time zone", types.TIMESTAMP),
        ("timestamp with time zone", types.TIMESTAMP_LTZ),
        ("numeric(10,2)", Decimal(10, 2)),
        ("decimal", Decimal(38, 0)),
        ("row(a int, b text)", Struct((Member("a", types.INT), Member("b", types.STRING)))),
    ],
)
def test_spellings_of_other_engines(text, expected):
    assert parse_type(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "strng", "array<int", "map<int>", "decimal(0)", "decimal(10,11)", "decimal(a)", "int int", "int)", "?"],
)
def test_what_is_not_a_type(text):
    with pytest.raises(SchemaError):
        parse_type(text)


def test_did_you_mean():
    with pytest.raises(SchemaError) as caught:
        parse_type("strng")
    assert caught.value.hint == "did you mean STRING?"


def test_depth_is_bounded():
    with pytest.raises(SchemaError, match="nested deeper"):
        parse_type("array<" * 5000 + "int" + ">" * 5000)


def test_foreign_types_are_carried():
    assert parse_type("array<geography>", foreign=True) == Array(Foreign("GEOGRAPHY"))
