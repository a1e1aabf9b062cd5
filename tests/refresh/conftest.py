import pytest

import headwater


@pytest.fixture
def session(tmp_path):
    with headwater.connect(tmp_path / "warehouse") as opened:
        opened.sql("""
            CREATE TABLE orders (id INT PRIMARY KEY, customer INT, amount DECIMAL(10,2), note STRING);
            CREATE TABLE customers (id INT PRIMARY KEY, name STRING);
            INSERT INTO customers VALUES (1, 'ann'), (2, 'bob'), (3, 'eve');
            INSERT INTO orders VALUES (1, 1, 10.5, ''), (2, 1, 2.5, ''), (3, 2, 1, ''), (4, 2, 7, '')
        """)
        yield opened
