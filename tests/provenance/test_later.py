"""What happens to tables after a pipeline of three ran twice: every answer is the same as before, or says why not."""

import pytest

from headwater.provenance.bisect import bisect
from headwater.provenance.replay import replay
from headwater.provenance.why import why_rows

NIGHTS = """
CREATE TABLE a (id BIGINT PRIMARY KEY, v INT); INSERT INTO a VALUES (1, 10), (2, 20);
CREATE TABLE b (id BIGINT PRIMARY KEY, w INT); INSERT INTO b SELECT id, v * 2 FROM a;
CREATE TABLE c AS SELECT sum(w) AS s FROM b;
INSERT INTO a VALUES (3, 30); INSERT OVERWRITE b SELECT id, v * 2 FROM a; INSERT OVERWRITE c SELECT sum(w) FROM b;
"""
ANEW = "INSERT OVERWRITE b SELECT id, v FROM a; INSERT OVERWRITE c SELECT sum(w) FROM b"


def expire(*names):
    return lambda session: [session.table(name).expire_snapshots(keep_min=1, older_than=0) for name in names]


def sql(text):
    return lambda session: session.sql(text)


GONE = "default.a was read, and has been dropped since"
LATER = {
    "an input expired": (expire("a"), {"default.a@1 was read, and has expired"}),
    "everything expired": (expire("a", "b", "c"), {"default.a@1 was read, and has expired"}),
    "an input was dropped": (sql("DROP TABLE a"), {GONE}),
    "an input was replaced": (
        sql("DROP TABLE b; CREATE TABLE b (id BIGINT, w INT); INSERT INTO b VALUES (1, 1)"),
        {"default.b was read, and another table has its name since"},
    ),
    "a table was renamed": (sql("ALTER TABLE b RENAME TO bb"), set()),
    "a renamed table's name is taken": (sql("ALTER TABLE b RENAME TO bb; CREATE TABLE b (x INT)"), set()),
    "a column was renamed": (sql("ALTER TABLE a RENAME COLUMN v TO vv"), set()),
    "a column of the result was renamed": (sql("ALTER TABLE c RENAME COLUMN s TO ss"), set()),
    "a column was dropped": (sql("ALTER TABLE a DROP COLUMN v"), set()),
    "a column was added": (
        sql(f"ALTER TABLE b ADD COLUMN x INT; UPDATE b SET x = 1; {ANEW.replace('v F', 'v, 1 F')}"),
        set(),
    ),
    "a type was changed": (sql(f"ALTER TABLE b ALTER COLUMN w TYPE BIGINT; {ANEW}"), set()),
    "a column has the name that another had": (
        sql(
            f"ALTER TABLE a RENAME COLUMN v TO old; ALTER TABLE a ADD COLUMN v INT; UPDATE a SET v = old + 1; {ANEW}"
        ),
        set(),
    ),
    "a table was rolled back": (lambda session: session.table("b").rollback(1), set()),
}


@pytest.mark.parametrize("kind", LATER)
def test_every_answer_is_the_same_or_says_why_not(session, kind):
    session.sql(NIGHTS)
    change, reasons = LATER[kind]
    change(session)
    said = set()
    for name in session.warehouse.list_tables("default"):
        for snapshot in session.table(name).snapshots():
            (found,) = replay(session.warehouse, f"default.{name}", snapshot.snapshot_id)
            assert found.identical or found.comparison is None, found
            said |= set(found.reasons)
    assert said == reasons
    hops = why_rows(session.warehouse, "default.c", where="true")
    assert hops[0].verified or hops[0].reason in reasons
    assert all(hop.verified or hop.reason for hop in hops)
    (column,) = session.table("c").schema.names
    if kind != "everything expired":
        assert bisect(session.warehouse, "default.c", f"sum({column})")[0].after == 120
