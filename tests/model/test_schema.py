import pytest

from headwater.errors import SchemaError
from headwater.model.schema import Field, Schema, check_schema
from headwater.model.types import BIGINT, STRING

ID = Field(0, "id", BIGINT, nullable=False)
NAME = Field(1, "name", STRING)


def test_a_sound_schema_learns_its_highest_id():
    assert check_schema(Schema((ID, NAME), primary_keys=("id",))).highest_field_id == 1


def test_ids_of_dropped_fields_stay_taken():
    assert check_schema(Schema((ID,), highest_field_id=7)).highest_field_id == 7


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        (Schema(()), "at least one column"),
        (Schema((ID, Field(5, "id", STRING))), "column `id` is there twice"),
        (Schema((ID, Field(0, "x", STRING))), "field id `0` is there twice"),
        (Schema((ID,), primary_keys=("idd",)), "no column `idd`"),
        (Schema((ID, NAME), primary_keys=("name",)), "must be NOT NULL"),
        (Schema((ID,), primary_keys=("id", "id")), "primary key column `id` is there twice"),
        (Schema((ID, NAME), primary_keys=("id",), partition_keys=("name",)), "not part of the primary key"),
    ],
)
def test_each_rule_has_its_error(schema, problem):
    with pytest.raises(SchemaError, match=problem):
        check_schema(schema)


def test_unknown_field_suggests():
    with pytest.raises(SchemaError) as caught:
        Schema((ID, NAME)).field("nmae")
    assert caught.value.hint == "did you mean `name`?"
