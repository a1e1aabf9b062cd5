"""A short proof inside the normal tests, always the same queries; `make proof` goes on from there."""

from collections import Counter
from random import Random

import pytest

from headwater.lineage import values
from headwater.lineage.bindings import Bindings
from headwater.lineage.sources import KINDS
from headwater.lineage.trace import _Tracer
from headwater.model.edges import InfluenceClass
from headwater.model.relation import Case
from tests.proof.account import Account
from tests.proof.clauses import CLAUSES, WRITES, missing
from tests.proof.engine import DuckWorld
from tests.proof.expressions import SCHEMA as GENERATED
from tests.proof.generated import prove_generated, prove_writes
from tests.proof.identity import identify
from tests.proof.prover import Proof
from tests.proof.shapes import generated
from tests.proof.sources import folder_queries, prove_text, tpc_queries, tpc_schema
from tests.proof.tables import make_tables
from tests.proof.writes import Write, generated_write

SCHEMA = {"t": {"id": "INTEGER", "a": "INTEGER", "b": "INTEGER"}, "u": {"k": "INTEGER", "x": "INTEGER"}}


def proof(sql, seed=1, **options):
    account = Account(**options)
    prove_text(sql, SCHEMA, account, seed=seed, worlds=4)
    assert account.queries == 1
    return account


def proof_of_write(sql):
    account = Account()
    with DuckWorld(make_tables(GENERATED, Random(1), rows=9), "1") as world:
        Proof(Write(sql), account, least=3).through([world])
    assert account.queries == 1
    return account


def rules(account):
    return {finding.rule for finding in account.findings}


@pytest.mark.property
def test_generated_queries_have_no_unexplained_change():
    account = Account()
    prove_generated(account, 7, range(250))
    assert account.findings == []
    assert account.queries > 240
    assert account.share(InfluenceClass.VALUE) > 0.95


@pytest.mark.property
def test_generated_writes_have_no_unexplained_change():
    account = Account()
    prove_writes(account, 7, range(40))
    assert account.findings == []
    assert account.queries > 35


def test_the_generator_covers_all_clauses():
    assert missing(CLAUSES, [generated(1, number) for number in range(1000)]) == []
    assert missing(WRITES, [generated_write(1, number) for number in range(100)]) == []


def test_a_query_is_the_same_whenever_its_seed_is():
    assert generated(3, 17) == generated(3, 17) != generated(3, 18)


@pytest.mark.property
@pytest.mark.parametrize("name", ["tpch-01", "tpch-05", "tpch-18", "tpcds-22", "tpcds-70"])
def test_tpc_queries_have_no_unexplained_change(name):
    account = Account()
    prove_text(tpc_queries()[name], tpc_schema(), account, seed=1, worlds=1)
    assert account.findings == []
    assert account.queries == 1
    assert sum(account.witnessed.values()) > 0


# The proof can fail: with a rule of the lineage taken out it must find the hole.

CASE = "SELECT id, CASE WHEN a > 2 THEN b ELSE 0 END AS c FROM t"


def test_a_lost_condition_of_case_is_noticed(monkeypatch):
    assert proof(CASE).findings == []
    whole = values.Values._case
    monkeypatch.setitem(
        values._BY_TYPE, Case, lambda self, case, path: _without(whole(self, case, path), InfluenceClass.CONDITION)
    )
    assert rules(proof(CASE)) == {"column", "rows", "stayed"}


def test_a_lost_condition_is_noticed_in_rows_that_stayed_though_the_column_filters_too(monkeypatch):
    sql = "SELECT id, CASE WHEN a > 2 THEN b ELSE 0 END AS c FROM t WHERE a > 1"
    assert proof(sql).findings == []
    whole = values.Values._case
    monkeypatch.setitem(
        values._BY_TYPE, Case, lambda self, case, path: _without(whole(self, case, path), InfluenceClass.CONDITION)
    )
    assert rules(proof(sql)) == {"stayed"}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT t.b, u.x FROM t JOIN u ON t.a = u.k",
        "SELECT b FROM t WHERE a > 1",
        "SELECT count(*) AS n FROM t GROUP BY a",
        "SELECT b FROM t EXCEPT SELECT x FROM u WHERE k > 1",
    ],
)
def test_lost_row_edges_are_noticed(monkeypatch, sql):
    assert proof(sql).findings == []
    monkeypatch.setattr(Bindings, "conditions", lambda self, scope: iter(()))
    assert {"column", "rows"} <= rules(proof(sql))


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM t WHERE b > 2",
        "UPDATE t SET a = 0 WHERE b > 2",
        "MERGE INTO t USING (SELECT DISTINCT x FROM u) AS g ON t.b = g.x WHEN MATCHED THEN DELETE",
    ],
)
def test_lost_row_edges_of_writes_are_noticed(monkeypatch, sql):
    assert proof_of_write(sql).findings == []
    monkeypatch.setattr(_Tracer, "_row_edges", lambda self: iter(()))
    assert "column" in rules(proof_of_write(sql))


def test_a_query_that_depends_on_the_order_of_stored_rows_proves_nothing(monkeypatch):
    monkeypatch.setattr(Bindings, "conditions", lambda self, scope: iter(()))
    account = proof("SELECT b FROM t WHERE a > 1 LIMIT 2")
    assert (account.unstable, account.findings) == (1, [])


def test_an_edge_without_effect_is_not_witnessed():
    account = proof("SELECT COALESCE(a * 0, 0) + b AS c FROM t")
    assert Counter(key[0] for _, key in account.unwitnessed) == {"t.a": 1}


@pytest.mark.parametrize(
    ("sql", "added"),
    [
        ("SELECT a FROM t", '"t".rowid'),
        ("SELECT a, count(*) FROM t GROUP BY a", "LIST_SORT"),
        ("WITH c AS (SELECT a FROM t) SELECT c.a FROM c", '"c".__made_of'),
        ("SELECT a FROM t UNION ALL SELECT x FROM u", "'1' ||"),
    ],
)
def test_identity_is_added(sql, added):
    found = identify(sql)
    assert found is not None
    assert added in found.sql


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT DISTINCT a FROM t",
        "SELECT a FROM t UNION SELECT x FROM u",
        "SELECT a, sum(b) OVER () AS s FROM t LIMIT 2",
        "SELECT s FROM (SELECT sum(b) OVER () AS s FROM t) AS z",
        "SELECT lag(a) OVER (ORDER BY b) AS s FROM t",
        "WITH c(m, n) AS (SELECT * FROM t) SELECT n FROM c",  # the names leave out a column
    ],
)
def test_no_identity_where_rows_beside_a_row_decide(sql):
    assert identify(sql) is None


def test_a_folder_of_queries(tmp_path):
    (tmp_path / "tables.sql").write_text("CREATE TABLE t (id INTEGER, a INTEGER, b VARCHAR);")
    (tmp_path / "one.sql").write_text("SELECT b, sum(a) AS s FROM t GROUP BY b; SELECT id FROM t WHERE a > 1;")
    queries, schema = folder_queries(tmp_path)
    assert list(queries) == ["one.sql#1", "one.sql#2"]
    account = Account()
    for sql in queries.values():
        prove_text(sql, schema, account, seed=1, worlds=2)
    assert (account.queries, account.findings) == (2, [])


def _without(sources, influence):
    return {key: way for key, way in sources.items() if KINDS[key[1]].influence is not influence}
