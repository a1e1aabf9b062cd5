import pytest

import headwater


@pytest.fixture
def session(tmp_path):
    with headwater.connect(tmp_path / "warehouse") as opened:
        yield opened


@pytest.fixture
def shop(session):
    """Orders (keyed), rates (without a key), and a table made of both."""
    session.sql("""
        CREATE TABLE orders (id BIGINT PRIMARY KEY, customer STRING, amount DOUBLE);
        INSERT INTO orders VALUES (1, 'ann', 1.5), (2, 'bob', 2.5), (3, 'ann', 4);
        CREATE TABLE rates (customer STRING, rate INT);
        INSERT INTO rates VALUES ('ann', 1), ('ann', 2), ('cid', 3);
        CREATE TABLE gold AS
          SELECT o.customer, sum(o.amount * r.rate) AS total, count(*) AS n
          FROM orders o LEFT JOIN rates r USING (customer) GROUP BY o.customer
    """)
    return session


REFRESH = """INSERT OVERWRITE clean SELECT * FROM raw;
INSERT OVERWRITE gold SELECT country, sum(amount), max(id) FROM clean GROUP BY country"""


@pytest.fixture
def hops(session):
    session.sql(f"""CREATE TABLE raw (id INT PRIMARY KEY, country STRING, amount INT);
        CREATE TABLE clean (id INT PRIMARY KEY, country STRING, amount INT);
        CREATE TABLE gold (country STRING PRIMARY KEY, revenue BIGINT, newest INT);
        INSERT INTO raw VALUES (1, 'DE', 10), (2, 'DE', 20), (3, 'FR', 30); {REFRESH};
        UPDATE raw SET amount = 25 WHERE id = 2; {REFRESH}""")
    return session


def ids(hop):
    return sorted(row["id"] for each in hop.inputs for row in each.rows.to_pylist())
