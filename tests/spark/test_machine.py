"""Tables against one dictionary per snapshot, through Spark, SQL and Python in one run."""

import pytest
from tests.lake.checker.checker import Shape
from tests.lake.checker.doors import SqlDoor
from tests.lake.checker.run import run
from tests.lake.checker.spark_door import SparkDoor

from headwater import Warehouse

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.property]
SHAPES = {
    "keyed": Shape(("STRING", "BIGINT"), 1, "deduplicate", "sst", 2),
    "parquet": Shape(("DATE", "DECIMAL(38, 0)"), 0, "deduplicate", "parquet", 1, "leveled"),
    "sums": Shape(("BIGINT",), 0, "aggregation", "orc", 2, rotation=4),
    "appended": Shape((), 1, "deduplicate", "json"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_table_is_one_dictionary_per_snapshot_on_spark_too(lake, shape):
    def doors(warehouse):
        return [SqlDoor(warehouse), SparkDoor(lake), SparkDoor(lake)]

    run(SHAPES[shape], seed=1, warehouse=Warehouse(lake.warehouse.url), doors=doors)
