"""SQL on a warehouse in an object store."""

import uuid

import headwater
from headwater import Warehouse


def test_a_whole_life_of_a_table_on_s3(s3_options, bucket):
    warehouse = Warehouse(f"s3://{bucket}/{uuid.uuid4().hex}", s3_options)
    with headwater.connect(warehouse) as session:
        session.sql("""
            CREATE DATABASE shop; USE shop;
            CREATE TABLE orders (id BIGINT PRIMARY KEY, customer STRING, amount DECIMAL(10, 2));
            INSERT INTO orders SELECT i, 'c' || i % 7, i / 4 FROM range(1000) r(i);
            UPDATE orders SET amount = amount + 1 WHERE id < 10;
            DELETE FROM orders WHERE id >= 990;
            MERGE INTO orders USING (SELECT 5 AS id UNION ALL SELECT 5000) s ON orders.id = s.id
              WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id, customer) VALUES (s.id, 'new');
            CREATE TABLE totals AS SELECT customer, sum(amount) AS total FROM orders GROUP BY customer;
            CREATE OR REPLACE TABLE totals AS SELECT customer, count(*) AS orders FROM orders GROUP BY customer;
            ALTER TABLE orders ADD COLUMN note STRING DEFAULT 'none';
            ALTER TABLE orders CREATE TAG loaded AS OF VERSION 1;
        """)
        assert session.sql("SELECT count(*), min(note) FROM orders").fetchall() == [(990, "none")]
        assert session.sql("SELECT count(*) FROM orders VERSION AS OF 'loaded'").scalar() == 1000
        assert session.sql("SELECT sum(orders) FROM totals").scalar() == 990
        operations = session.sql("SELECT operation FROM orders$snapshots ORDER BY snapshot_id").fetchall()
        assert [each for (each,) in operations if each != "COMPACT"] == ["INSERT", "UPDATE", "DELETE", "MERGE"]
        assert session.table("shop.orders").remove_orphans(older_than=-10).files == ()
        assert warehouse.remove_orphans(older_than=-10).files == ()
        session.sql("DROP DATABASE shop CASCADE")
    assert warehouse.files.list("", deep=True) == []
