from dataclasses import replace

import pytest

from headwater.errors import AlreadyExistsError, CorruptFileError, NotFoundError, SchemaChangeError, SchemaError
from headwater.files import MemoryFiles
from headwater.lake.engine.layout import PathFactory
from headwater.lake.metadata.schema_change import (
    AddColumn,
    DescribeColumn,
    DropColumn,
    MoveColumn,
    RelaxColumn,
    RenameColumn,
    SetComment,
    SetOption,
    WidenColumn,
)
from headwater.lake.metadata.schemas import SchemaManager, encode_schema
from headwater.model.schema import Field, Schema
from headwater.model.types import BIGINT, INT, STRING, Decimal, parse_type

ID = Field(0, "id", BIGINT, nullable=False)
NAME = Field(1, "name", STRING)
AGE = Field(2, "age", INT, nullable=False)
PEOPLE = Schema((ID, NAME, AGE), primary_keys=("id",), options={"bucket": "2"}, comment="people")


@pytest.fixture
def files():
    return MemoryFiles()


@pytest.fixture
def manager(files):
    manager = SchemaManager(files, PathFactory("db/people"))
    manager.create_schema(PEOPLE)
    return manager


def reopened(files):
    return SchemaManager(files, PathFactory("db/people"))


def test_a_schema_reads_back_as_it_was_written(files, manager):
    rich = Field(9, "x", parse_type("ARRAY<STRUCT<a: INT, b: DECIMAL(10, 2)>>"), True, "it's", None)
    manager.alter(AddColumn("x", rich.type, description="it's"), SetComment("more"))
    again = reopened(files).latest()
    assert again == manager.latest()
    assert again.field("x") == replace(rich, id=3)
    assert (again.comment, again.options, again.primary_keys) == ("more", {"bucket": "2"}, ("id",))


def test_fields_are_numbered_in_order(files):
    scrambled = Schema((replace(ID, id=7), replace(NAME, id=3)), primary_keys=("id",))
    created = reopened(files).create_schema(scrambled)
    assert [field.id for field in created.fields] == [0, 1]
    assert (created.id, created.highest_field_id) == (0, 1)


def test_a_table_is_created_once(manager):
    with pytest.raises(AlreadyExistsError):
        manager.create_schema(PEOPLE)


def test_versions_are_listed_and_kept(files, manager):
    manager.alter(AddColumn("a", INT))
    manager.alter(AddColumn("b", INT))
    assert reopened(files).list_schemas() == [0, 1, 2]
    assert reopened(files).get_schema(1).names == ("id", "name", "age", "a")
    with pytest.raises(NotFoundError):
        manager.get_schema(9)


@pytest.mark.parametrize("hint", [b"0", b"77", b"rubbish", None])
def test_the_hint_may_be_wrong(files, manager, hint):
    manager.alter(AddColumn("a", INT))
    path = PathFactory("db/people").latest_schema
    files.delete(path) if hint is None else files.put(path, hint)
    assert reopened(files).latest().id == 1


def test_no_table(files):
    with pytest.raises(NotFoundError, match="db/people"):
        reopened(files).latest()


def test_ids_of_dropped_columns_never_return(manager):
    manager.alter(AddColumn("a", INT))
    manager.alter(DropColumn("a"))
    assert manager.alter(AddColumn("a", INT)).field("a").id == 4


def test_named_changes(manager):
    schema = manager.alter(
        RenameColumn("id", "key"),
        WidenColumn("age", BIGINT),
        RelaxColumn("age"),
        MoveColumn("age", ""),
        AddColumn("city", STRING, nullable=False, default="?", after="key"),
        DescribeColumn("name", "full name"),
        SetOption("user.note", "x"),
        SetOption("user.note", None),
    )
    assert schema.names == ("age", "key", "city", "name")
    assert schema.primary_keys == ("key",)
    assert schema.field("key").id == 0
    assert schema.field("age") == Field(2, "age", BIGINT)
    assert schema.field("name").description == "full name"
    assert schema.options == {"bucket": "2"}


def test_a_change_that_changes_nothing_makes_no_version(manager):
    assert manager.alter(SetComment("people")).id == 0


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (AddColumn("name", INT), "there is a column `name` already"),
        (AddColumn("x", INT, nullable=False), "must be nullable or have a default"),
        (AddColumn("x", INT, after="nowhere"), "no column `nowhere`"),
        (DropColumn("id"), "part of the primary key"),
        (RelaxColumn("id"), "part of the primary key"),
        (DropColumn("nmae"), "no column `nmae`"),
        (RenameColumn("age", "name"), "column `name` is there twice"),
        (WidenColumn("name", INT), "cannot become INT"),
        (WidenColumn("age", parse_type("SMALLINT")), "not every INT fits"),
        (WidenColumn("age", Decimal(9, 0)), "not every INT fits"),
        (WidenColumn("id", Decimal(20, 0)), "part of the primary key"),
        (SetOption("bucket", "4"), "cannot change while the table has rows"),
        (MoveColumn("age", "nowhere"), "no column `nowhere`"),
    ],
)
def test_changes_that_are_refused(manager, change, problem):
    with pytest.raises(SchemaError, match=problem):
        manager.alter(change)
    assert manager.list_schemas() == [0]


@pytest.mark.parametrize(
    ("old", "new", "fits"),
    [
        ("INT", "DECIMAL(10, 0)", True),
        ("INT", "DECIMAL(10, 1)", False),
        ("DECIMAL(10, 2)", "DECIMAL(12, 2)", True),
        ("DECIMAL(10, 2)", "DECIMAL(12, 5)", False),
        ("DECIMAL(10, 2)", "DECIMAL(13, 5)", True),
        ("FLOAT", "DOUBLE", True),
        ("DOUBLE", "FLOAT", False),
        ("STRING", "BINARY", False),
        ("ARRAY<INT>", "ARRAY<BIGINT>", False),
    ],
)
def test_what_is_a_widening(files, old, new, fits):
    manager = reopened(files)
    manager.create_schema(Schema((Field(0, "x", parse_type(old)),)))
    if fits:
        assert manager.alter(WidenColumn("x", parse_type(new))).field("x").type == parse_type(new)
    else:
        with pytest.raises(SchemaChangeError):
            manager.alter(WidenColumn("x", parse_type(new)))


NEW = Field(-1, "new", STRING)
STRICT = {
    "primary key": (replace(PEOPLE, primary_keys=("id", "age")), "the primary key cannot change"),
    "partition key": (
        replace(PEOPLE, primary_keys=("id",), partition_keys=("id",)),
        "the partition key cannot change",
    ),
    "drop": (replace(PEOPLE, fields=(ID, AGE)), "column `name` cannot be dropped"),
    "type": (replace(PEOPLE, fields=(ID, replace(NAME, type=INT), AGE)), "the type of `name` cannot change"),
    "id": (replace(PEOPLE, fields=(ID, replace(NAME, id=8), AGE)), "the id of `name` cannot change"),
    "not null": (replace(PEOPLE, fields=(ID, replace(NAME, nullable=False), AGE)), "cannot become NOT NULL"),
    "added": (replace(PEOPLE, fields=(ID, NAME, AGE, replace(NEW, nullable=False))), "nullable or have a default"),
    "option": (replace(PEOPLE, options={"bucket": "3"}), "option `bucket` cannot be changed"),
}


@pytest.mark.parametrize("rule", STRICT)
def test_the_strict_rules(manager, rule):
    schema, problem = STRICT[rule]
    with pytest.raises(SchemaChangeError, match=problem):
        manager.commit_schema(schema, 0)


def test_what_the_strict_rules_allow(manager):
    described = replace(NAME, description="full name")
    wanted = replace(
        PEOPLE, fields=(ID, described, AGE, NEW), comment="all people", options={"bucket": "2", "user.note": "x"}
    )
    committed = manager.commit_schema(wanted, 0)
    assert (committed.id, committed.field("new").id, committed.highest_field_id) == (1, 3, 3)


def test_a_commit_on_an_old_schema_is_refused(manager):
    manager.alter(AddColumn("a", INT))
    with pytest.raises(SchemaChangeError, match="changed by somebody else"):
        manager.commit_schema(replace(PEOPLE, comment="x"), 0)


def test_concurrent_alters_are_all_kept(files, manager):
    others = [reopened(files) for _ in range(5)]
    for number, other in enumerate(others):
        other.alter(AddColumn(f"c{number}", Decimal(10, 2)))
    assert set(manager.latest().names) >= {f"c{number}" for number in range(5)}


def test_a_later_format_is_refused_with_a_reason(files, manager):
    data = encode_schema(PEOPLE).replace(b'"version": 1', b'"version": 99')
    files.put("db/people/schema/schema-1", data)
    with pytest.raises(CorruptFileError, match="format version 99"):
        reopened(files).latest()
