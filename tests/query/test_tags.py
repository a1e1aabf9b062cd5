"""Tags in SQL."""

import pytest

from headwater.errors import AlreadyExistsError, NotFoundError, SqlError


def test_a_tag_keeps_a_snapshot(shop):
    shop.sql("UPDATE orders SET customer = 'eve' WHERE id = 1")
    shop.sql('ALTER TABLE orders CREATE TAG v1 AS OF VERSION 1; ALTER TABLE orders CREATE TAG "now"')
    shop.sql("alter table orders create tag old version as of '@-1'; ALTER TABLE orders CREATE TAG IF NOT EXISTS v1")
    assert shop.sql("SHOW TAGS FROM orders").fetchall() == [("now", 2), ("old", 1), ("v1", 1)]
    assert shop.sql("SELECT customer FROM orders VERSION AS OF 'v1' WHERE id = 1").scalar() == "ann"
    shop.sql("ALTER TABLE orders DROP TAG v1; ALTER TABLE orders DROP TAG IF EXISTS v1")
    assert [tag for tag, _ in shop.sql("SHOW TAGS FROM orders")] == ["now", "old"]


def test_mistakes_with_tags(shop):
    shop.sql("ALTER TABLE orders CREATE TAG v1; ALTER TABLE orders CREATE TAG release")
    with pytest.raises(AlreadyExistsError, match="has a tag `v1` already"):
        shop.sql("ALTER TABLE orders CREATE TAG v1")
    with pytest.raises(NotFoundError, match="no tag `relase`") as caught:
        shop.sql("ALTER TABLE orders DROP TAG relase")
    assert caught.value.hint == "did you mean `release`?"
    with pytest.raises(NotFoundError, match="no snapshot 9"):
        shop.sql("ALTER TABLE orders CREATE TAG v9 AS OF VERSION 9")
    with pytest.raises(SqlError, match="cannot be read"):
        shop.sql("ALTER TABLE orders CREATE TAG a b c")
