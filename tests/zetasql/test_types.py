"""BigQuery's types, as text and as ZetaSQL's messages."""

import pytest

from headwater.errors import SchemaError
from headwater.zetasql.types import parse_type, type_text


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("INT64", "INT64"),
        ("int", "INT64"),
        ("float", "FLOAT64"),
        ("DOUBLE PRECISION", "FLOAT64"),
        ("NUMERIC(10, 2)", "NUMERIC"),
        ("STRING(20)", "STRING"),
        ("varchar(255)", "STRING"),
        ("TIMESTAMP WITH TIME ZONE", "TIMESTAMP"),
        ("timestamp without time zone", "DATETIME"),
        ("RANGE<DATE>", "RANGE<DATE>"),
        ("INT[]", "ARRAY<INT64>"),
        ("ARRAY<STRUCT<sku STRING, price NUMERIC(10, 2)>>", "ARRAY<STRUCT<sku STRING, price NUMERIC>>"),
        (
            "STRUCT<a INT64 NOT NULL, b STRUCT<c DATE OPTIONS (description = 'x')>>",
            "STRUCT<a INT64, b STRUCT<c DATE>>",
        ),
        ("struct<a:int,b:array<string>>", "STRUCT<a INT64, b ARRAY<STRING>>"),
        ("STRUCT<INT64, STRING>", "STRUCT<INT64, STRING>"),
        ("map<varchar, bigint>", "ARRAY<STRUCT<key STRING, value INT64>>"),
        ("STRUCT<`odd name` INT64>", "STRUCT<`odd name` INT64>"),
        ("JSON", "JSON"),
        ("GEOGRAPHY", "GEOGRAPHY"),
        ("INTERVAL", "INTERVAL"),
    ],
)
def test_types_are_read(written: str, read: str) -> None:
    assert type_text(parse_type(written)) == read
    assert type_text(parse_type(read)) == read


@pytest.mark.parametrize(
    "text", ["", "NOPE", "ARRAY<", "STRUCT<a INT64", "INT64 >", "ARRAY<" * 50 + "INT64" + ">" * 50]
)
def test_what_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(SchemaError, match="is not a type"):
        parse_type(text)
