"""Schema resolution: precedence, conflicts, position, names; and the forms a schema can come in."""

import msgspec
import pytest

from headwater.errors import IssueCode, SchemaError, Severity
from headwater.lineage import SchemaMetadata, SchemaResolver
from headwater.lineage.effects import (
    AlterColumns,
    ColumnDefinition,
    CopyTable,
    CreateTable,
    DropTable,
    RenameTable,
    SwapTables,
    UseColumns,
)
from headwater.lineage.imports import schema_of_csv, schema_of_json, schema_of_mapping
from headwater.lineage.schema import CaseSensitivity, SchemaNamespaceHint
from headwater.model.names import TableName, parse_table_name
from headwater.model.relation import Resolution


def columns(*names: str, **typed: str) -> tuple[ColumnDefinition, ...]:
    return tuple(ColumnDefinition(name) for name in names) + tuple(
        ColumnDefinition(name, type) for name, type in typed.items()
    )


def resolver(tables: dict | None = None, dialect: str | None = None, **options) -> SchemaResolver:
    schema = msgspec.structs.replace(schema_of_mapping(tables or {}), **options)
    return SchemaResolver(schema, dialect=dialect, now=lambda: "2026-01-01T00:00:00Z")


def known(names: SchemaResolver, name: str) -> tuple[str, ...]:
    return tuple(column.name for column in names.resolve(parse_table_name(name)).columns)


T = TableName.of("t")


def test_imported_wins_over_implied_and_implied_fills_gaps():
    names = resolver({"t": ["a"]})
    names.apply(CreateTable(T, columns("a", "b")))
    names.apply(CreateTable(TableName.of("u"), columns("x")), statement_index=3)
    assert known(names, "t") == ("a",)
    assert known(names, "u") == ("x",)
    assert [names.resolve(TableName.of(name)).resolution for name in "tuv"] == [
        Resolution.IMPORTED,
        Resolution.IMPLIED,
        Resolution.UNKNOWN,
    ]


def test_a_conflict_names_columns_and_types_and_puts_them_in_doubt():
    names = resolver({"t": {"id": "INT", "amount": "DECIMAL(10,2)", "old": "INT"}})
    (issue,) = names.apply(CreateTable(T, columns(id="INTEGER", amount="STRING", new="INT")))
    assert (issue.code, issue.severity) == (IssueCode.SCHEMA_CONFLICT, Severity.WARNING)
    for part in ("lacks `old`", "lacks `new`", "`amount` is DECIMAL(10,2)", "STRING in the DDL"):
        assert part in issue.message
    table = names.resolve(T)
    assert set(table.doubts) == {"amount", "old", "new"}
    assert [column.name for column in table.disputed] == ["new"]


def test_the_same_types_spelt_differently_do_not_conflict():
    names = resolver({"t": {"id": "INT", "name": "STRING"}})
    assert names.apply(CreateTable(T, columns(ID="INTEGER", NAME="varchar"))) == []


def test_ddl_evolves_the_implied_schema():
    names = resolver()
    names.apply(CreateTable(T, columns("a", "b")))
    names.apply(AlterColumns(T, add=columns("c"), drop=("a",), rename=(("b", "z"),)))
    assert known(names, "t") == ("z", "c")
    names.apply(CopyTable(TableName.of("u"), T))
    names.apply(RenameTable(T, TableName.of("v")))
    assert known(names, "u") == known(names, "v") == ("z", "c")
    assert names.resolve(T).resolution is Resolution.UNKNOWN
    names.apply(CreateTable(T, columns("q")))
    names.apply(SwapTables(T, TableName.of("v")))
    assert (known(names, "t"), known(names, "v")) == (("z", "c"), ("q",))
    names.apply(DropTable(T))
    assert names.resolve(T).resolution is Resolution.UNKNOWN


def test_create_if_not_exists_keeps_what_is_there():
    names = resolver()
    names.apply(CreateTable(T, columns("a")))
    names.apply(CreateTable(T, columns("b"), keeps_existing=True))
    assert known(names, "t") == ("a",)
    names.apply(CreateTable(T, columns("b")))
    assert known(names, "t") == ("b",)


def test_imported_tables_can_be_renamed_and_swapped_but_not_dropped():
    names = resolver({"s.t": ["a"], "s.u": ["b"]})
    names.apply(SwapTables(parse_table_name("s.t"), parse_table_name("s.u")))
    assert (known(names, "s.t"), known(names, "s.u")) == (("b",), ("a",))
    names.apply(RenameTable(parse_table_name("s.t"), TableName.of("w")))
    assert known(names, "s.w") == ("b",)
    assert names.resolve(parse_table_name("s.t")).resolution is Resolution.UNKNOWN
    names.apply(DropTable(parse_table_name("s.u")))
    assert known(names, "s.u") == ("a",)


def test_the_name_of_an_imported_table_can_be_taken_by_another():
    names = resolver({"t": ["a"]})
    names.apply(RenameTable(T, TableName.of("t_old")))
    names.apply(CreateTable(T, columns("b")))
    assert (known(names, "t"), known(names, "t_old")) == (("b",), ("a",))
    names.apply(AlterColumns(T, rename=(("b", "c"),)))
    assert known(names, "t") == ("c",)
    names.apply(DropTable(T))
    assert names.resolve(T).resolution is Resolution.UNKNOWN
    names.apply(CreateTable(TableName.of("t_new"), columns("z")))
    names.apply(RenameTable(TableName.of("t_new"), T))
    assert known(names, "t") == ("z",)


def test_a_table_in_the_schema_of_the_engine_is_found_with_and_without_it():
    names = resolver(dialect="tsql")
    names.apply(CreateTable(T, columns("a")))
    assert known(names, "dbo.t") == ("a",)
    names.apply(CreateTable(TableName.of("u"), columns("b"), temporary=True))
    assert names.resolve(parse_table_name("dbo.u")).resolution is Resolution.UNKNOWN


def test_altering_an_imported_table_that_already_has_the_column_is_no_conflict():
    names = resolver({"t": ["a", "b"]})
    assert names.apply(AlterColumns(T, add=columns("b"))) == []
    (issue,) = names.apply(AlterColumns(T, add=columns("c")))
    assert issue.code is IssueCode.SCHEMA_CONFLICT
    assert "`c`" in issue.message


def test_use_gives_unknown_tables_columns_but_no_certainty():
    names = resolver()
    names.apply(UseColumns(T, ("a", "b")))
    names.apply(UseColumns(T, ("b", "c")))
    table = names.resolve(T)
    assert known(names, "t") == ("a", "b", "c")
    assert not table.complete
    assert table.approximate == "some columns of `t` are not known"
    assert names.resolved().tables[0].complete is False


def test_implied_can_be_turned_off():
    names = resolver(allow_implied=False)
    names.apply(CreateTable(T, columns("a")))
    assert names.resolve(T).resolution is Resolution.UNKNOWN
    assert names.resolved().tables == ()


def test_defaults_and_search_path_qualify_names():
    names = resolver(
        {"shop.orders": ["a"], "c.crm.people": ["b"], "raw.orders": ["c"], "raw.logs": ["d"]},
        default_schema="shop",
        search_path=(SchemaNamespaceHint(schema="raw"), SchemaNamespaceHint(schema="crm", catalog="c")),
    )
    assert known(names, "orders") == ("a",)
    assert known(names, "logs") == ("d",)
    assert known(names, "people") == ("b",)
    assert str(names.resolve(TableName.of("nope")).name) == "shop.nope"
    assert known(names, "anycatalog.shop.orders") == ("a",)


def test_a_temporary_table_shadows_an_imported_one():
    names = resolver({"shop.t": ["a"]}, default_schema="shop")
    names.apply(CreateTable(T, columns("x"), temporary=True))
    assert known(names, "t") == ("x",)
    assert known(names, "shop.t") == ("a",)
    names.apply(DropTable(T))
    assert known(names, "t") == ("a",)


@pytest.mark.parametrize(
    ("dialect", "sensitivity", "given", "written", "quoted", "found"),
    [
        ("postgres", "dialect", "orders", "ORDERS", False, True),
        ("postgres", "dialect", "orders", "ORDERS", True, False),
        ("postgres", "dialect", "Orders", "Orders", True, True),
        ("snowflake", "dialect", "orders", "Orders", False, True),
        ("bigquery", "dialect", "orders", "Orders", False, False),
        ("spark", "dialect", "orders", "ORDERS", True, True),
        ("spark", "exact", "orders", "ORDERS", False, False),
        ("bigquery", "lower", "orders", "ORDERS", False, True),
        ("bigquery", "upper", "orders", "ORDERS", True, True),
    ],
)
def test_case(dialect, sensitivity, given, written, quoted, found):
    names = resolver({given: ["a"]}, dialect, case_sensitivity=CaseSensitivity(sensitivity))
    table = names.resolve(TableName.of(written), quoted=(quoted,))
    assert (table.resolution is Resolution.IMPORTED) is found


def test_resolved_schema_goes_on_the_wire_in_camel_case():
    names = resolver({"shop.t": {"a": "INT"}})
    names.apply(CreateTable(TableName.of("u"), columns("x"), temporary=True), statement_index=2)
    wire = msgspec.json.decode(msgspec.json.encode(names.resolved()))
    assert wire["tables"] == [
        {
            "schema": "shop",
            "name": "t",
            "columns": [{"name": "a", "dataType": "INT", "origin": "imported"}],
            "origin": "imported",
            "updatedAt": "2026-01-01T00:00:00Z",
        },
        {
            "name": "u",
            "columns": [{"name": "x", "origin": "implied"}],
            "origin": "implied",
            "sourceStatementIndex": 2,
            "updatedAt": "2026-01-01T00:00:00Z",
            "temporary": True,
        },
    ]


def test_the_wire_format_is_read_back():
    schema = schema_of_json(
        b'{"defaultCatalog": "c", "searchPath": [{"schema": "s"}], "caseSensitivity": "exact", "allowImplied": false,'
        b' "tables": [{"name": "t", "columns": [{"name": "a", "dataType": "INT", "isPrimaryKey": true}]}]}'
    )
    assert schema.default_catalog == "c"
    assert schema.tables[0].columns[0].is_primary_key
    assert schema_of_json(msgspec.json.encode(schema)) == schema


def test_dumps_of_information_schema():
    text = "TABLE_SCHEMA,TABLE_NAME,COLUMN_NAME,ORDINAL_POSITION,DATA_TYPE\ns,t,b,2,TEXT\ns,t,a,1,INT\n"
    table = schema_of_csv(text).tables[0]
    assert [(column.name, column.data_type) for column in table.columns] == [("a", "INT"), ("b", "TEXT")]
    rows = '[{"table_schema": "s", "table_name": "t", "column_name": "a", "data_type": "INT"}]'
    assert schema_of_json(rows).tables[0].schema == "s"


@pytest.mark.parametrize(
    "text",
    [
        '{"tables": [{"columns": []}]}',
        '{"tables": 3}',
        "nonsense",
        "[1]",
        '[{"table_name": "t"}]',
        '{"t": 3}',
        '{"t": [1]}',
        '{"tables": [], "typo": 1}',
        '{"caseSensitivity": "sometimes"}',
        "3",
    ],
)
def test_a_malformed_schema_is_a_clear_error(text):
    with pytest.raises(SchemaError) as caught:
        schema_of_json(text)
    assert caught.value.message


def test_a_csv_without_the_right_header_is_a_clear_error():
    with pytest.raises(SchemaError, match="column_name"):
        schema_of_csv("a,b\n1,2\n")


def test_an_unknown_table_has_a_hint_and_is_a_remark_without_any_schema():
    names = resolver({"orders": ["a"]})
    issue = names.unknown_table(names.resolve(TableName.of("ordres")))
    assert (issue.severity, issue.hint) == (Severity.WARNING, "did you mean `orders`?")
    assert SchemaResolver(SchemaMetadata()).unknown_table(names.resolve(T)).severity is Severity.INFO
