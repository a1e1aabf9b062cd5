"""A lake table in a page: upserts, snapshots, time travel, and every version of one key.

python examples/lake_table.py [WAREHOUSE]
"""

import sys
import tempfile

import pyarrow as pa

from headwater import Warehouse


def main(folder: str) -> None:
    warehouse = Warehouse(folder)
    warehouse.create_database("shop", if_not_exists=True)
    orders = warehouse.create_table(
        "shop.orders",
        {"id": "BIGINT", "status": "STRING", "amount": "DOUBLE"},
        primary_key="id",
        options={"bucket": "2"},
        if_not_exists=True,
    )

    count = 100_000
    placed = {"id": range(count), "status": ["placed"] * count, "amount": [n % 500 / 2 for n in range(count)]}
    orders.write(pa.table(placed))
    orders.create_tag("monday")
    orders.write(pa.table({"id": [7, 8], "status": ["shipped", "cancelled"], "amount": [3.5, None]}))
    orders.delete([9])

    print("now     ", orders.get(7), orders.get(9))
    print("monday  ", orders.get(7, at="monday"), orders.get(9, at="monday"))
    for version in orders.history(7):
        print("history ", f"snapshot {version.snapshot_id}:", version.row)
    orders.compact()
    for snapshot in orders.snapshots():
        print(
            "snapshot", snapshot.snapshot_id, snapshot.operation.value, f"{snapshot.summary.total_records:,} records"
        )


if __name__ == "__main__":
    main(*sys.argv[1:] or [tempfile.mkdtemp()])
