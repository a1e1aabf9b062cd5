import pytest

import headwater
from headwater.errors import SchemaError
from headwater.lake.tables import Warehouse


@pytest.fixture
def warehouse(tmp_path):
    warehouse = Warehouse(tmp_path / "lake")
    warehouse.create_database("shop")
    columns = {"id": "BIGINT", "amount": "DECIMAL(10, 2)", "tags": "ARRAY<STRUCT<name: STRING, n: INT>>"}
    warehouse.create_table("shop.orders", columns, primary_key="id")
    return warehouse


@pytest.mark.parametrize("dialect", ["bigquery", "spark"])
def test_a_warehouse_is_a_schema(warehouse, dialect):
    result = headwater.analyze("SELECT * FROM shop.orders", dialect, schema=warehouse.url)
    assert [str(edge.source) for edge in result.edges] == [
        "shop.orders.id",
        "shop.orders.amount",
        "shop.orders.tags",
    ]
    assert result.statements[0].status.value == "resolved"
    assert result.issues == ()


def test_nested_types_reach_zetasql(warehouse):
    sql = "SELECT tag.name FROM shop.orders AS o, UNNEST(o.tags) AS tag WHERE tag.n > 1"
    result = headwater.analyze(sql, "bigquery", schema=warehouse.url, engine="zetasql")
    assert [str(edge.source) for edge in result.edges] == [
        "shop.orders.tags[].name",
        "shop.orders.tags[].n",
        "shop.orders.tags",
    ]


def test_a_folder_without_tables_is_no_schema(tmp_path):
    with pytest.raises(SchemaError, match="describes tables"):
        headwater.analyze("SELECT 1", schema=tmp_path)
