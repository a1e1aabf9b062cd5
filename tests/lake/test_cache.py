"""The block cache: how much it holds, counted in memory."""

import pyarrow as pa

from headwater import Warehouse
from headwater.lake.engine.cache import BlockCache, default_capacity, shared_cache


class Sized:
    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes


def test_the_least_recently_used_leave_first() -> None:
    cache = BlockCache(100)
    cache.put("a", Sized(40))
    cache.put("b", Sized(40))
    assert cache.get("a") is not None
    cache.put("c", Sized(40))
    assert [cache.get(name) is not None for name in "abc"] == [True, False, True]
    assert cache.stats.bytes == 80


def test_a_block_larger_than_the_cache_is_not_kept() -> None:
    cache = BlockCache(100)
    cache.put("a", Sized(101))
    assert cache.stats.blocks == 0


def test_the_shared_cache_is_bounded() -> None:
    assert 256 << 20 <= default_capacity() <= 1 << 30


def test_strings_that_compress_well_count_with_the_memory_they_take(tmp_path) -> None:  # type: ignore[no-untyped-def]
    table = Warehouse(tmp_path).create_table(
        "t", {"id": "BIGINT", "s": "STRING"}, primary_key="id", options={"cache.size": "64 MB"}
    )
    table.write(pa.table({"id": range(4000), "s": ["x" * 1000] * 4000}))
    assert sum(entry.file.size for entry in table.store.latest().entries) < 100_000
    assert table.get(7)["s"] == "x" * 1000
    cache = table.store.shelf(table.store.shape()).cache
    assert cache.stats.bytes > 4000 * 1000


def test_a_table_with_a_cache_size_has_a_cache_of_its_own(tmp_path) -> None:  # type: ignore[no-untyped-def]
    warehouse = Warehouse(tmp_path)
    small = warehouse.create_table("a", {"id": "BIGINT"}, primary_key="id", options={"cache.size": "1 MB"})
    other = warehouse.create_table("b", {"id": "BIGINT"}, primary_key="id")
    for table in (small, other):
        table.write(pa.table({"id": range(10)}))
        assert table.get(3) is not None
    assert small.store.shelf(small.store.shape()).cache.capacity == 1 << 20
    assert small.store.shelf(small.store.shape()).cache.stats.blocks == 1
    assert other.store.shelf(other.store.shape()).cache is shared_cache
