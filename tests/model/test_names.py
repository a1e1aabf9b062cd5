import pytest

from headwater.errors import InputError
from headwater.model.edges import ELEMENT, ColumnRef
from headwater.model.names import CaseFolding, TableName, case_rule, fold, parse_parts, parse_table_name


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("t", ("t",)),
        ("db.t", ("db", "t")),
        ("p.d.INFORMATION_SCHEMA.TABLES", ("p", "d", "INFORMATION_SCHEMA", "TABLES")),
        ('"a.b"."c""d"', ("a.b", 'c"d')),
        ("[my db].dbo.[t 1]", ("my db", "dbo", "t 1")),
        ("`p-1`.d.t", ("p-1", "d", "t")),
        (" a . b ", ("a", "b")),
        ("데이터.주문", ("데이터", "주문")),
    ],
)
def test_parts(text, parts):
    assert parse_parts(text) == parts


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", '"open', "a b"])
def test_what_is_not_a_name(text):
    with pytest.raises(InputError):
        parse_parts(text)


def test_catalog_schema_and_name():
    name = parse_table_name("p.d.t")
    assert (name.catalog, name.schema, name.name) == ("p", "d", "t")
    assert (TableName.of("t").catalog, TableName.of("t").schema) == (None, None)


def test_dialects_differ_in_case():
    assert fold("Id", case_rule("snowflake").columns) == "ID"
    assert fold("Id", case_rule("postgres").columns, quoted=True) == "Id"
    assert fold("Orders", case_rule("bigquery").tables) == "Orders"
    assert fold("Orders", case_rule("bigquery").columns) == "orders"
    assert fold("X", case_rule("spark").columns, quoted=True) == "x"
    assert fold("X", CaseFolding.EXACT) == "X"


def test_column_refs_show_their_path():
    ref = ColumnRef(TableName.of("d", "t"), "a", (ELEMENT, "b", "c"))
    assert str(ref) == "d.t.a[].b.c"
    assert ref.collapse() == ColumnRef(TableName.of("d", "t"), "a")
    assert str(ColumnRef(TableName.of("t"), None)) == "t.*"
