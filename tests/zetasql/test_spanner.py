"""Spanner's DDL: tables, columns and keys are known to what follows; what concerns no rows is no error."""

import pytest

import headwater
from headwater.lineage import Status
from headwater.zetasql.spanner import respell, type_without_rows

SHOP = """\
CREATE SEQUENCE order_ids OPTIONS (sequence_kind = 'bit_reversed_positive');
CREATE TABLE customers (
  customer_id STRING(36) NOT NULL DEFAULT (GENERATE_UUID()),
  first STRING(MAX),  -- the name; with a ) in the comment
  last STRING(MAX) NOT NULL OPTIONS (allow_commit_timestamp = null),
  full_name STRING(MAX) NOT NULL AS (CONCAT(first, " (", last, ")")) STORED,
  score FLOAT32,
  words TOKENLIST AS (TOKENIZE_FULLTEXT(last)) HIDDEN,
) PRIMARY KEY (customer_id DESC);
CREATE TABLE IF NOT EXISTS orders (
  customer_id STRING(36) NOT NULL,
  order_id INT64 NOT NULL DEFAULT (GET_NEXT_SEQUENCE_VALUE(SEQUENCE order_ids)),
  tags ARRAY<STRING(20)>,
  embedding ARRAY<FLOAT32>(vector_length=>8),
  changed TIMESTAMP NOT NULL OPTIONS (allow_commit_timestamp = true),
  CONSTRAINT positive CHECK (order_id > 0),
  FOREIGN KEY (customer_id) REFERENCES customers (customer_id) ON DELETE CASCADE NOT ENFORCED,
) PRIMARY KEY(customer_id, order_id),
  INTERLEAVE IN PARENT customers ON DELETE CASCADE,
  ROW DELETION POLICY (OLDER_THAN(changed, INTERVAL 30 DAY));
CREATE UNIQUE NULL_FILTERED INDEX by_change ON orders (changed DESC) STORING (tags), INTERLEAVE IN customers;
CREATE CHANGE STREAM everything FOR ALL OPTIONS (retention_period = '36h');
ALTER TABLE orders ADD COLUMN number INT64 NOT NULL DEFAULT (0);
ALTER TABLE orders ALTER COLUMN number STRING(MAX);
ALTER TABLE orders REPLACE ROW DELETION POLICY (OLDER_THAN(changed, INTERVAL 9 DAY));
GRANT SELECT(customer_id), INSERT ON TABLE orders, customers TO ROLE reader, writer;
CREATE VIEW named SQL SECURITY INVOKER AS
  SELECT o.order_id, c.full_name, o.number FROM orders AS o JOIN customers AS c ON c.customer_id = o.customer_id;
INSERT INTO orders (customer_id, order_id, tags, changed) SELECT customer_id, 1, [first], PENDING_COMMIT_TIMESTAMP()
  FROM customers;
"""


@pytest.fixture(scope="module")
def shop():
    return headwater.analyze(SHOP, dialect="spanner")


def test_every_statement_is_resolved(shop):
    assert [
        (each.statement_type, each.status) for each in shop.statements if each.status is not Status.RESOLVED
    ] == []
    assert [issue.message for issue in shop.issues] == []
    assert [each.statement_type for each in shop.statements] == [
        *("CREATE_SEQUENCE", "CREATE_TABLE", "CREATE_TABLE", "CREATE_INDEX", "CREATE_CHANGE_STREAM"),
        *("ALTER_TABLE", "ALTER_TABLE", "ALTER_TABLE", "GRANT", "CREATE_VIEW", "INSERT"),
    ]


def test_columns_and_keys_are_known(shop):
    tables = {table.name: table for table in shop.resolved_schema.tables}
    types = {column.name: column.data_type for column in tables["orders"].columns}
    assert types == {
        "customer_id": "STRING",
        "order_id": "INT64",
        "tags": "ARRAY<STRING>",
        "embedding": "ARRAY<FLOAT64>",
        "changed": "TIMESTAMP",
        "number": "INT64",
    }
    keys = {name: [each.name for each in table.columns if each.is_primary_key] for name, table in tables.items()}
    assert keys == {"customers": ["customer_id"], "orders": ["customer_id", "order_id"], "named": []}
    [refers] = [each for each in tables["orders"].constraints if each.referenced_table]
    assert (refers.columns, refers.referenced_table) == (("customer_id",), "customers")


def test_edges_of_what_follows(shop):
    edges = {(str(edge.source), str(edge.target)) for edge in shop.edges if edge.kind.is_direct}
    assert edges == {
        ("orders.order_id", "named.order_id"),
        ("customers.full_name", "named.full_name"),
        ("orders.number", "named.number"),
        ("customers.customer_id", "orders.customer_id"),
        ("customers.first", "orders.tags"),
    }


def test_places_are_those_of_the_text(shop):
    [view] = [each for each in shop.statements if each.statement_type == "CREATE_VIEW"]
    assert SHOP[view.span.start :].startswith("CREATE VIEW named")
    [edge] = [edge for edge in shop.edges if str(edge.target) == "named.number"]
    assert SHOP[edge.source_span.start : edge.source_span.end] in ("number", "o.number")
    wrong = headwater.analyze(SHOP + "SELECT nothing FROM orders;", dialect="spanner")
    [issue] = [issue for issue in wrong.issues if "nothing" in issue.message]
    assert issue.span.line == SHOP.count("\n") + 1


def test_a_schema_file_of_spanner(tmp_path):
    (tmp_path / "schema.sql").write_text(SHOP.split("CREATE VIEW")[0])
    found = headwater.analyze(
        "SELECT o.number, o.tags FROM orders AS o", dialect="spanner", schema=str(tmp_path / "schema.sql")
    )
    assert [each.status for each in found.statements] == [Status.RESOLVED]
    assert {str(edge.source) for edge in found.edges} == {"orders.number", "orders.tags"}


@pytest.mark.parametrize(
    "tail",
    [
        ") PRIMARY KEY (a)",
        ")PRIMARY KEY (a)",
        ") PRIMARY KEY(a)",
        ")\n  PRIMARY  KEY ( a ASC, )",
        ") PRIMARY KEY (a),\n INTERLEAVE IN p",
        ", PRIMARY KEY (a)), INTERLEAVE IN PARENT p ON DELETE NO ACTION",
        ", PRIMARY KEY (a))",
        ",) PRIMARY KEY (a), ROW DELETION POLICY (OLDER_THAN(t, INTERVAL 1 DAY))",
    ],
)
def test_keys_wherever_they_stand(tail):
    text = (
        f"CREATE TABLE `x` (a INT64 AUTO_INCREMENT, b STRING(MAX) DEFAULT (')'), t TIMESTAMP{tail};\nSELECT a FROM x;"
    )
    assert len(respell(text)) == len(text)
    assert [at for at, char in enumerate(text) if char == "\n"] == [
        at for at, char in enumerate(respell(text)) if char == "\n"
    ]
    found = headwater.analyze(text, dialect="spanner")
    assert [each.status for each in found.statements] == [Status.RESOLVED] * 2, found.issues
    [table] = found.resolved_schema.tables
    assert [(column.name, column.is_primary_key) for column in table.columns] == [
        ("a", True),
        ("b", None),
        ("t", None),
    ]


def test_other_texts_stay_as_they_are():
    for text in (
        "SELECT 'CREATE TABLE t (a INT64) PRIMARY KEY (a)'",
        "-- CREATE TABLE t (a INT64) PRIMARY KEY (a)\nSELECT 1;",
        "CREATE TABLE t (a INT64",
        "CREATE TABLE t (a INT64)PRIMARY KEY(a)",
        "CREATE TABLE t AS SELECT 1 AS a",
        "",
    ):
        assert respell(text) == text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("CREATE OR REPLACE MODEL m INPUT (a INT64) OUTPUT (b INT64) REMOTE", "CREATE_MODEL"),
        ("drop change stream s", "DROP_CHANGE_STREAM"),
        ("ALTER PROTO BUNDLE INSERT (a.b)", "ALTER_PROTO_BUNDLE"),
        ("REVOKE ROLE a FROM ROLE b", "REVOKE"),
        ("CREATE VECTOR INDEX i ON t (e) OPTIONS (x = 1)", "CREATE_INDEX"),
        ("ALTER TABLE t SET INTERLEAVE IN p", "ALTER_TABLE"),
        ("ALTER TABLE t ADD COLUMN c INT64", None),
        ("ALTER TABLE t RENAME TO u", None),
        ("CREATE TABLE role (a INT64) PRIMARY KEY (a)", None),
        ("CREATE VIEW v AS SELECT 1", None),
    ],
)
def test_statements_without_rows(text, found):
    assert type_without_rows(text) == found
