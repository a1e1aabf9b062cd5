"""Files of others in and out."""

from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest

from headwater.errors import InputError, UsageError
from headwater.lake.tables.exchange import file_schema, read_file, write_file

ROWS = pa.table(
    {
        "id": pa.array([1, 2, 3]),
        "name": pa.array(["Ada", None, "naïve, quoted"]),
        "day": pa.array([date(2026, 11, 1), None, date(1969, 7, 20)]),
        "amount": pa.array([Decimal("1.50"), Decimal("-2.25"), None], pa.decimal128(10, 2)),
    }
)


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl", "arrow"])
def test_rows_come_back_as_they_went(tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    assert write_file(path, ROWS.to_batches(max_chunksize=2), ROWS.schema) == 3
    back = pa.Table.from_batches(list(read_file(path, ROWS.schema)))
    assert back.select(ROWS.column_names).cast(ROWS.schema).to_pylist() == ROWS.to_pylist()
    assert file_schema(path).names == ROWS.column_names


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"not parquet")
    (tmp_path / "empty.csv").write_text("a,b\n")
    (tmp_path / "wrong.csv").write_text("id\nx\n")
    with pytest.raises(InputError, match=r"bad\.parquet cannot be read"):
        list(read_file(tmp_path / "bad.parquet"))
    with pytest.raises(InputError, match="there is no file"):
        list(read_file(tmp_path / "none.json"))
    with pytest.raises(InputError, match=r"wrong\.csv cannot be read"):
        list(read_file(tmp_path / "wrong.csv", ROWS.schema))
    with pytest.raises(InputError, match="no rows to tell"):
        file_schema(tmp_path / "empty.csv")
    with pytest.raises(UsageError) as caught:
        write_file(tmp_path / "x.parqet", [], ROWS.schema)
    assert caught.value.hint == "did you mean `.parquet`?"
    with pytest.raises(InputError, match="cannot be written"):
        write_file(tmp_path / "no" / "folder.csv", [], ROWS.schema)
