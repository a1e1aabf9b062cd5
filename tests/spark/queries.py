"""Twenty questions that every way to ask SQL must answer alike, and the tables they are about."""

import datetime
import decimal
import json
import subprocess
import sys

import pyarrow as pa

DAYS = [datetime.date(2026, 1, 1) + datetime.timedelta(days=each) for each in range(60)]

QUERIES = [
    "SELECT count(*) FROM db.orders",
    "SELECT id, amount FROM db.orders WHERE id = 77",
    "SELECT id FROM db.orders WHERE id BETWEEN 10 AND 14 AND region = 'eu'",
    "SELECT region, count(*), sum(amount) FROM db.orders GROUP BY region",
    "SELECT region, avg(x) FROM db.orders WHERE x IS NOT NULL GROUP BY region HAVING count(*) > 10",
    "SELECT max(day), min(day) FROM db.orders WHERE customer IN (3, 5, 7)",
    "SELECT c.name, sum(o.amount) FROM db.orders o JOIN db.customers c ON o.customer = c.id GROUP BY c.name",
    "SELECT c.id FROM db.customers c LEFT JOIN db.orders o ON o.customer = c.id WHERE o.id IS NULL",
    "SELECT count(DISTINCT customer) FROM db.orders WHERE day >= DATE '2026-02-01'",
    "SELECT region, day, count(*) FROM db.orders WHERE day < DATE '2026-01-04' GROUP BY region, day",
    "WITH big AS (SELECT * FROM db.orders WHERE amount > 90) SELECT region, count(*) FROM big GROUP BY region",
    "SELECT id, row_number() OVER (PARTITION BY region ORDER BY id) FROM db.orders WHERE id < 20",
    "SELECT CASE WHEN amount > 50 THEN 'high' ELSE 'low' END AS level, count(*) FROM db.orders GROUP BY 1",
    "SELECT id FROM db.orders WHERE note LIKE 'n7%' AND note IS NOT NULL",
    "SELECT count(*) FROM db.orders WHERE note IS NULL OR region = 'us'",
    "SELECT name FROM db.customers WHERE id IN (SELECT customer FROM db.orders WHERE amount > 98)",
    "SELECT region FROM db.orders UNION SELECT 'none' AS region",
    "SELECT coalesce(note, '-'), id FROM db.orders WHERE id < 5",
    "SELECT sum(amount) FROM db.orders o WHERE EXISTS (SELECT 1 FROM db.customers c WHERE c.id = o.customer)",
    "SELECT upper(name), length(name) FROM db.customers WHERE id % 2 = 0 AND id < 9",
]


def fill(warehouse):
    """Make the tables: one with a key, partitions, buckets and several runs, with deletes; one without a key."""
    warehouse.create_database("db", if_not_exists=True)
    orders = warehouse.create_table(
        "db.orders",
        {
            "id": "BIGINT NOT NULL",
            "region": "STRING NOT NULL",
            "customer": "INT",
            "amount": "DECIMAL(10, 2)",
            "x": "DOUBLE",
            "day": "DATE",
            "note": "STRING",
        },
        primary_key=("id", "region"),
        partition_by="region",
        options={"bucket": "2"},
    )
    orders.write([_order(each) for each in range(1000)])
    orders.write([_order(each, shift=1) for each in range(0, 1000, 7)])
    orders.delete([(each, _order(each)["region"]) for each in range(0, 1000, 50)])
    customers = warehouse.create_table("db.customers", {"id": "INT", "name": "STRING"})
    customers.write(pa.table({"id": pa.array(range(30), pa.int32()), "name": [f"name-{each}" for each in range(30)]}))


def _order(id, shift=0):
    return {
        "id": id,
        "region": ("eu", "us", "ap")[id % 3],
        "customer": id % 25,
        "amount": decimal.Decimal((id * 37 + shift) % 10_000).scaleb(-2),
        "x": None if id % 11 == 0 else id / 8,
        "day": DAYS[(id + shift) % len(DAYS)],
        "note": None if id % 5 == 0 else f"n{id}",
    }


def plain(rows):
    """Rows in a form in which the answers of engines and commands can be compared: sorted, and exact."""
    return sorted(([_value(value) for value in row] for row in rows), key=repr)


def _value(value):
    if isinstance(value, float):
        return round(value, 9)
    return str(value) if isinstance(value, decimal.Decimal | datetime.date) else value


def by_command(warehouse):
    """What `headwater sql` answers."""
    command = [sys.executable, "-m", "headwater", "sql", "--json", "--warehouse", str(warehouse), "-e"]
    text = subprocess.run([*command, ";\n".join(QUERIES)], check=True, capture_output=True, text=True).stdout
    answers, at = [], 0
    while at < len(text.rstrip()):
        rows, at = json.JSONDecoder().raw_decode(text, at)
        answers.append(plain(row.values() for row in rows))
        at += 1
    return answers
