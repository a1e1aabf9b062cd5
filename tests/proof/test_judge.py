"""The judge of the proof can fail: with an edge or a rule of the lineage taken out, it must find the hole."""

from random import Random

import pytest

from headwater.lineage import values
from headwater.lineage.bindings import Bindings
from headwater.lineage.sources import KINDS
from headwater.lineage.trace import _Tracer
from headwater.model.edges import InfluenceClass, Kind
from headwater.model.relation import Case
from tests.effort import one_in
from tests.proof.account import Account
from tests.proof.engine import DuckWorld
from tests.proof.expressions import SCHEMA as GENERATED
from tests.proof.identity import identify
from tests.proof.prover import Proof
from tests.proof.sources import prove_text
from tests.proof.tables import make_tables
from tests.proof.writes import Write

SCHEMA = {
    "t": {"id": "INTEGER", "a": "INTEGER", "b": "INTEGER", "l": "INTEGER[]"},
    "u": {"k": "INTEGER", "x": "INTEGER"},
}


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


BY_KIND = {
    Kind.IDENTITY: "SELECT a FROM t",
    Kind.TRANSFORMATION: "SELECT id, a + 1 AS c FROM t",
    Kind.AGGREGATION: "SELECT sum(a) AS c FROM t GROUP BY b",
    Kind.CONDITIONAL: "SELECT CASE WHEN a > 2 THEN b ELSE 0 END AS c FROM t",
    Kind.WINDOW: "SELECT id, rank() OVER (ORDER BY a) AS c FROM t",
    Kind.FILTER: "SELECT b FROM t WHERE a > 1",
    Kind.JOIN: "SELECT t.b, u.x FROM t JOIN u ON t.a = u.k",
    Kind.GROUP_BY: "SELECT count(*) AS c FROM t GROUP BY a",
    Kind.SORT: "SELECT b FROM t ORDER BY a, b LIMIT 3",
    Kind.MERGE: "MERGE INTO t USING (SELECT DISTINCT x FROM u) AS g ON t.b = g.x WHEN MATCHED THEN DELETE",
}


def test_each_kind_of_edge_is_tried():
    assert BY_KIND.keys() == set(Kind)


@pytest.mark.parametrize("kind", one_in(2, BY_KIND))
def test_a_lost_edge_is_noticed(monkeypatch, kind):
    prove = proof_of_write if kind is Kind.MERGE else proof
    assert prove(BY_KIND[kind]).findings == []
    whole = _Tracer.edges
    monkeypatch.setattr(_Tracer, "edges", lambda self: (edge for edge in whole(self) if edge.kind is not kind))
    assert prove(BY_KIND[kind]).findings != []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a FROM t, UNNEST(t.l)",
        "SELECT a FROM t LEFT JOIN UNNEST(t.l) AS z(e) ON true",
        "SELECT a, unnest(l) AS e FROM t",
        "SELECT t.a FROM t, generate_series(1, t.b) AS g(n)",
    ],
)
def test_a_lost_edge_of_an_array_is_noticed(monkeypatch, sql):
    assert proof(sql).findings == []
    monkeypatch.setattr(Bindings, "conditions", lambda self, scope: iter(()))
    assert "column" in rules(proof(sql))


def test_a_counterexample_is_shrunk(monkeypatch):
    sql = "SELECT id, CASE WHEN a > 2 THEN b ELSE 0 END AS c FROM t WHERE b > 1 AND id > 0 ORDER BY id"
    whole = values.ValueSources._case
    monkeypatch.setitem(
        values._BY_TYPE, Case, lambda self, case, path: _without(whole(self, case, path), InfluenceClass.CONDITION)
    )
    first = proof(sql, shrinks=True).findings[0]
    query, *rows, edges = first.shrunk.splitlines()
    assert query in (f"  shrunk: SELECT CASE WHEN a{more} THEN b END AS c FROM t" for more in ("", " > 2"))
    assert len([row for row in rows if "=> a = " in row]) == 1
    assert edges == "    edges: t.b -> c TRANSFORMATION"


CASE = "SELECT id, CASE WHEN a > 2 THEN b ELSE 0 END AS c FROM t"


def test_a_lost_condition_of_case_is_noticed(monkeypatch):
    assert proof(CASE).findings == []
    whole = values.ValueSources._case
    monkeypatch.setitem(
        values._BY_TYPE, Case, lambda self, case, path: _without(whole(self, case, path), InfluenceClass.CONDITION)
    )
    assert rules(proof(CASE)) == {"column", "rows", "stayed"}


def test_a_lost_condition_is_noticed_in_rows_that_stayed_though_the_column_filters_too(monkeypatch):
    sql = "SELECT id, CASE WHEN a > 2 THEN b ELSE 0 END AS c FROM t WHERE a > 1"
    assert proof(sql).findings == []
    whole = values.ValueSources._case
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
    assert {key[0] for _, key in account.unwitnessed} == {"t.a"}


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
        "SELECT a, count(*) AS n FROM t GROUP BY GROUPING SETS ((a), ())",
        "SELECT a, count(*) AS n FROM t GROUP BY ROLLUP (a)",
        "SELECT a, count(*) AS n FROM t GROUP BY CUBE (a)",
        "SELECT a, b FROM t UNION ALL BY NAME SELECT x AS b, k AS c FROM u",
        "SELECT a FROM t UNION SELECT x FROM u",
        "SELECT a, sum(b) OVER () AS s FROM t LIMIT 2",
        "SELECT s FROM (SELECT sum(b) OVER () AS s FROM t) AS z",
        "SELECT lag(a) OVER (ORDER BY b) AS s FROM t",
        "WITH c(m, n) AS (SELECT * FROM t) SELECT n FROM c",  # the names leave out a column
    ],
)
def test_no_identity_where_rows_beside_a_row_decide(sql):
    assert identify(sql) is None


def _without(sources, influence):
    return {key: way for key, way in sources.items() if KINDS[key[1]].influence is not influence}


def test_the_elements_of_an_array_are_not_one_row():
    """Of two rows that an array makes, a join may keep one or the other: neither has stayed and changed."""
    sql = "SELECT x.c FROM (SELECT unnest(t.l) AS c FROM t) AS x SEMI JOIN u ON x.c = u.k"
    assert identify(sql) is None
    assert [proof(sql, seed).findings for seed in range(1, 4)] == [[], [], []]
