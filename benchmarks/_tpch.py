"""Tables in the shape of TPC-H, from a seed: the columns, sizes and value ranges that the 22 queries look at."""

import datetime
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

KEYS = {
    "region": ["r_regionkey"],
    "nation": ["n_nationkey"],
    "supplier": ["s_suppkey"],
    "customer": ["c_custkey"],
    "part": ["p_partkey"],
    "partsupp": ["ps_partkey", "ps_suppkey"],
    "orders": ["o_orderkey"],
    "lineitem": ["l_orderkey", "l_linenumber"],
}
_NATIONS = (
    ("ALGERIA", 0), ("ARGENTINA", 1), ("BRAZIL", 1), ("CANADA", 1), ("EGYPT", 4), ("ETHIOPIA", 0), ("FRANCE", 3),
    ("GERMANY", 3), ("INDIA", 2), ("INDONESIA", 2), ("IRAN", 4), ("IRAQ", 4), ("JAPAN", 2), ("JORDAN", 4),
    ("KENYA", 0), ("MOROCCO", 0), ("MOZAMBIQUE", 0), ("PERU", 1), ("CHINA", 2), ("ROMANIA", 3),
    ("SAUDI ARABIA", 4), ("VIETNAM", 2), ("RUSSIA", 3), ("UNITED KINGDOM", 3), ("UNITED STATES", 1),
)  # fmt: skip
_REGIONS = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"]
_SEGMENTS = ["AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"]
_PRIORITIES = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"]
_MODES = ["AIR", "AIR REG", "FOB", "MAIL", "RAIL", "SHIP", "TRUCK"]
_INSTRUCTIONS = ["COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN"]
_TYPES = [
    f"{a} {b} {c}"
    for a in ("ECONOMY", "LARGE", "MEDIUM", "PROMO", "SMALL", "STANDARD")
    for b in ("ANODIZED", "BRUSHED", "BURNISHED", "PLATED", "POLISHED")
    for c in ("BRASS", "COPPER", "NICKEL", "STEEL", "TIN")
]
_CONTAINERS = [
    f"{a} {b}" for a in ("JUMBO", "LG", "MED", "SM", "WRAP") for b in ("BAG", "BOX", "CASE", "PACK", "PKG")
]
_BRANDS = [f"Brand#{a}{b}" for a in range(1, 6) for b in range(1, 6)]
_WORDS = ["forest", "green", "almond", "navy", "rose", "linen", "metallic", "special", "requests", "Customer"]
_WORDS += ["Complaints", "carefully", "final", "deposits", "blithely", "ironic", "packages", "sleep", "quickly"]
_BEGIN = (datetime.date(1992, 1, 1) - datetime.date(1970, 1, 1)).days
_TODAY = (datetime.date(1995, 6, 17) - datetime.date(1970, 1, 1)).days


class Generator:
    """Columns of random values. The same seed gives the same tables."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def pick(self, values: list[str], count: int) -> pa.Array:
        codes = pa.array(self.random.integers(0, len(values), count, dtype=np.int32))
        return pa.DictionaryArray.from_arrays(codes, pa.array(values)).dictionary_decode()

    def words(self, count: int, number: int = 4) -> pa.Array:
        return pc.binary_join_element_wise(*[self.pick(_WORDS, count) for _ in range(number)], " ")

    def money(self, low: int, high: int, count: int) -> pa.Array:
        return cents(self.random.integers(low * 100, high * 100, count))


def cents(values: np.ndarray) -> pa.Array:
    whole = pa.array(values.astype(np.int64)).cast(pa.decimal128(19, 0)).cast(pa.decimal128(21, 2))
    return pc.divide(whole, pa.scalar(100, pa.decimal128(3, 0))).cast(pa.decimal128(15, 2), safe=False)


def days(values: np.ndarray) -> pa.Array:
    return pa.array(values.astype(np.int32)).cast(pa.date32())


def named(prefix: str, keys: np.ndarray) -> pa.Array:
    return pa.array([f"{prefix}#{key:09d}" for key in keys])


def tables(scale: float, seed: int = 7) -> dict[str, pa.Table]:
    """All eight tables; `scale` 1 has six million lines."""
    make = Generator(seed)
    suppliers, customers = max(20, int(10_000 * scale)), max(50, int(150_000 * scale))
    parts, orders = max(40, int(200_000 * scale)), max(200, int(1_500_000 * scale))
    made = {
        "region": pa.table(
            {"r_regionkey": pa.array(range(5), pa.int32()), "r_name": _REGIONS, "r_comment": _REGIONS}
        ),
        "nation": pa.table(
            {
                "n_nationkey": pa.array(range(25), pa.int32()),
                "n_name": [name for name, _ in _NATIONS],
                "n_regionkey": pa.array([region for _, region in _NATIONS], pa.int32()),
                "n_comment": make.words(25),
            }
        ),
        "supplier": _people(make, "s", "Supplier", suppliers),
        "customer": _people(make, "c", "Customer", customers),
        "part": _parts(make, parts),
        "partsupp": _offers(make, parts, suppliers),
    }
    made["orders"], made["lineitem"] = _sales(make, orders, customers, (parts, suppliers))
    return made


def _people(make: Generator, letter: str, title: str, count: int) -> pa.Table:
    keys = np.arange(1, count + 1)
    nations = make.random.integers(0, 25, count)
    phones = [f"{nation + 10}-{a}-{b}" for nation, a, b in zip(nations, *make.random.integers(100, 999, (2, count)))]
    columns = {
        f"{letter}_{'supp' if letter == 's' else 'cust'}key": pa.array(keys, pa.int64()),
        f"{letter}_name": named(title, keys),
        f"{letter}_address": make.words(count, 2),
        f"{letter}_nationkey": pa.array(nations, pa.int32()),
        f"{letter}_phone": pa.array(phones),
        f"{letter}_acctbal": make.money(-999, 9999, count),
    }
    if letter == "c":
        columns["c_mktsegment"] = make.pick(_SEGMENTS, count)
    columns[f"{letter}_comment"] = make.words(count)
    return pa.table(columns)


def _parts(make: Generator, count: int) -> pa.Table:
    keys = np.arange(1, count + 1)
    return pa.table(
        {
            "p_partkey": pa.array(keys, pa.int64()),
            "p_name": make.words(count, 5),
            "p_mfgr": make.pick([f"Manufacturer#{n}" for n in range(1, 6)], count),
            "p_brand": make.pick(_BRANDS, count),
            "p_type": make.pick(_TYPES, count),
            "p_size": pa.array(make.random.integers(1, 51, count), pa.int32()),
            "p_container": make.pick(_CONTAINERS, count),
            "p_retailprice": make.money(900, 2000, count),
            "p_comment": make.words(count, 2),
        }
    )


def supplier_of(part: np.ndarray, place: np.ndarray, suppliers: int) -> np.ndarray:
    """Each part has four different suppliers; the same ones wherever it is sold."""
    step = suppliers // 4 + (part - 1) // suppliers % max(1, suppliers // 3 - suppliers // 4)
    return (part + place * step) % suppliers + 1


def _offers(make: Generator, parts: int, suppliers: int) -> pa.Table:
    part = np.repeat(np.arange(1, parts + 1), 4)
    supplier = supplier_of(part, np.tile(np.arange(4), parts), suppliers)
    count = len(part)
    return pa.table(
        {
            "ps_partkey": pa.array(part, pa.int64()),
            "ps_suppkey": pa.array(supplier, pa.int64()),
            "ps_availqty": pa.array(make.random.integers(1, 10_000, count), pa.int64()),
            "ps_supplycost": make.money(1, 1000, count),
            "ps_comment": make.words(count),
        }
    )


def _sales(make: Generator, count: int, customers: int, sold: tuple[int, int]) -> tuple[pa.Table, pa.Table]:
    random = make.random
    keys = np.arange(1, count + 1) * 4 - random.integers(0, 3, count)
    ordered = _BEGIN + random.integers(0, 2406, count)
    lines = random.integers(1, 8, count)
    of = np.repeat(np.arange(count), lines)
    number = np.arange(len(of)) - np.repeat(np.cumsum(lines) - lines, lines) + 1
    lineitem = _lines(make, (keys[of], ordered[of], number), sold)
    open_lines = pc.equal(lineitem.column("l_linestatus"), "O").to_numpy().astype(int)
    opened = np.add.reduceat(open_lines, np.cumsum(lines) - lines)
    status = np.where(opened == lines, "O", np.where(opened == 0, "F", "P"))
    orders = pa.table(
        {
            "o_orderkey": pa.array(keys, pa.int64()),
            "o_custkey": pa.array(random.integers(1, customers + 1, count) // 3 * 3 + 1, pa.int64()),
            "o_orderstatus": pa.array(status),
            "o_totalprice": make.money(900, 500_000, count),
            "o_orderdate": days(ordered),
            "o_orderpriority": make.pick(_PRIORITIES, count),
            "o_clerk": make.pick([f"Clerk#{n:09d}" for n in range(1, 1001)], count),
            "o_shippriority": pa.array(np.zeros(count), pa.int32()),
            "o_comment": make.words(count, 5),
        }
    )
    return orders, lineitem


def _lines(make: Generator, order: tuple[np.ndarray, np.ndarray, np.ndarray], sold: tuple[int, int]) -> pa.Table:
    random, (keys, ordered, number), (parts, suppliers) = make.random, order, sold
    count = len(keys)
    part = random.integers(1, parts + 1, count)
    quantity = random.integers(1, 51, count)
    shipped = ordered + random.integers(1, 122, count)
    received = shipped + random.integers(1, 31, count)
    returned = np.where(received <= _TODAY, np.where(random.random(count) < 0.5, "R", "A"), "N")
    return pa.table(
        {
            "l_orderkey": pa.array(keys, pa.int64()),
            "l_partkey": pa.array(part, pa.int64()),
            "l_suppkey": pa.array(supplier_of(part, random.integers(0, 4, count), suppliers), pa.int64()),
            "l_linenumber": pa.array(number, pa.int64()),
            "l_quantity": cents(quantity * 100),
            "l_extendedprice": cents(quantity * (90_000 + part % 20_000 * 10)),
            "l_discount": cents(random.integers(0, 11, count)),
            "l_tax": cents(random.integers(0, 9, count)),
            "l_returnflag": pa.array(returned),
            "l_linestatus": pa.array(np.where(shipped > _TODAY, "O", "F")),
            "l_shipdate": days(shipped),
            "l_commitdate": days(ordered + random.integers(30, 91, count)),
            "l_receiptdate": days(received),
            "l_shipinstruct": make.pick(_INSTRUCTIONS, count),
            "l_shipmode": make.pick(_MODES, count),
            "l_comment": make.words(count, 3),
        }
    )


def queries() -> dict[str, str]:
    """The 22 queries by name."""
    text = (Path(__file__).parent / "data" / "tpch.sql").read_text(encoding="utf-8")
    parts = re.split(r"^-- (tpch-\d+)\n", text, flags=re.MULTILINE)[1:]
    return {name: body.strip().rstrip(";") for name, body in zip(parts[::2], parts[1::2])}
