import pytest

import headwater


@pytest.fixture
def session(tmp_path):
    with headwater.connect(tmp_path / "warehouse") as opened:
        yield opened


@pytest.fixture
def shop(session):
    """A session with orders (keyed) and events (not keyed)."""
    session.sql("""
        CREATE TABLE orders (id BIGINT PRIMARY KEY, customer STRING DEFAULT 'nobody', amount DECIMAL(10,2), day DATE);
        INSERT INTO orders VALUES
          (1, 'ann', 10.50, DATE '2026-01-01'), (2, DEFAULT, 20, '2026-01-02'), (3, 'bob', NULL, NULL);
        CREATE TABLE events (happened TIMESTAMP, kind STRING, size INT);
        INSERT INTO events VALUES ('2026-01-01 09:00', 'open', 3), ('2026-01-01 10:00', 'close', NULL)
    """)
    return session
