"""Types of Paimon's schema files: what they become, and what is refused in our own words."""

import pytest

from headwater.errors import SchemaError
from headwater.lake.paimon.types import model_type_of
from headwater.model.types import INT, STRING, Array, Map, Member, Struct


def test_nested_types():
    array = {"type": "ARRAY NOT NULL", "element": "INT NOT NULL"}
    row = {"type": "ROW", "fields": [{"id": 7, "name": "n", "type": array}]}
    assert model_type_of({"type": "MAP", "key": "STRING", "value": row}, "c") == (
        Map(STRING, Struct((Member("n", Array(INT)),))),
        True,
    )
    assert model_type_of(array, "c") == (Array(INT), False)
    assert model_type_of(array | {"nullable": True}, "c") == (Array(INT), True)


@pytest.mark.parametrize(
    "type",
    [
        7,
        None,
        [],
        {},
        {"type": 3},
        {"element": "INT"},
        {"type": "ARRAY"},
        {"type": "ARRAY", "element": 1},
        {"type": "ARRAY", "element": "INT", "nullable": "x"},
        {"type": "MAP", "key": "INT"},
        {"type": "ROW"},
        {"type": "ROW", "fields": 3},
        {"type": "ROW", "fields": ["x"]},
        {"type": "ROW", "fields": [{"type": "INT"}]},
        {"type": "ROW", "fields": [{"name": "n"}]},
    ],
    ids=str,
)
def test_a_type_that_is_not_whole_is_refused(type):
    with pytest.raises(SchemaError, match="column `c`"):
        model_type_of(type, "c")


def test_a_type_without_end_is_refused():
    type = "INT"
    for _ in range(900):
        type = {"type": "ARRAY", "element": type}
    with pytest.raises(SchemaError, match="levels"):
        model_type_of(type, "c")
