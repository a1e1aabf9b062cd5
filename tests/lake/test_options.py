"""Options of tables: every name is known, or refused at every door."""

import pyarrow as pa
import pytest

import headwater
from headwater import Warehouse
from headwater.errors import SchemaError
from headwater.lake import LSMTree
from headwater.lake.engine.options import all_options, check_option_name, storage_options
from headwater.lake.engine.types import schema_of
from headwater.lake.metadata.schema_change import SetOption

MISTAKES = {"merge-enginge": "merge-engine", "wal.sync": "wal.fsync", "file.fromat": "file.format"}


@pytest.mark.parametrize(("wrong", "right"), MISTAKES.items())
def test_an_unknown_option_is_refused_with_the_nearest_name(tmp_path, wrong, right):
    warehouse = Warehouse(tmp_path)
    known = warehouse.create_table("known", {"k": "INT"}, primary_key="k")
    message = f"there is no option `{wrong}`"
    with pytest.raises(SchemaError, match=message) as refused:
        warehouse.create_table("t", {"k": "INT"}, primary_key="k", options={wrong: "x"})
    assert f"did you mean `{right}`" in refused.value.hint
    with pytest.raises(SchemaError, match=message):
        known.alter(SetOption(wrong, "x"))
    with headwater.connect(warehouse) as session, pytest.raises(SchemaError, match=message):
        session.sql(f"CREATE TABLE t (k INT PRIMARY KEY) WITH ('{wrong}' = 'x')")
    with headwater.connect(warehouse) as session, pytest.raises(SchemaError, match=message):
        session.sql(f"ALTER TABLE known SET ('{wrong}' = 'x')")
    schema = schema_of(pa.schema([pa.field("k", pa.int64(), nullable=False)]), ("k",))
    with pytest.raises(SchemaError, match=message):
        LSMTree(tmp_path / "tree", type(schema)(schema.fields, ("k",), options={wrong: "x"}))
    assert warehouse.list_tables() == ["known"]


def test_names_of_the_users_own_are_kept(tmp_path):
    table = Warehouse(tmp_path).create_table("t", {"k": "INT"}, options={"user.team": "billing"})
    table.alter(SetOption("user.contact", "ann"))
    assert table.schema.options == {"user.team": "billing", "user.contact": "ann"}


def test_an_option_that_is_no_longer_known_can_be_removed(tmp_path):
    table = Warehouse(tmp_path).create_table("t", {"k": "INT"}, options={"user.x": "1"})
    table.alter(SetOption("gone.long-ago", None))
    assert table.schema.options == {"user.x": "1"}


def test_every_option_is_known_and_its_default_can_be_written():
    for option in all_options():
        check_option_name(option.name.replace("<column>", "c"))
        if option.default and "<" not in option.name:
            storage_options({option.name: option.default})
    defaults = {option.name: option.default for option in all_options()}
    assert storage_options(defaults) == storage_options({})
