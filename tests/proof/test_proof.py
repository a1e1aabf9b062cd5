"""A short proof inside the normal tests, always the same queries; `make proof` goes on from there."""

import json
import shutil
import sys
from collections import Counter
from contextlib import ExitStack

import pytest

from headwater.model.edges import InfluenceClass
from tests.effort import THOROUGH
from tests.proof import __main__ as command
from tests.proof.account import Account
from tests.proof.clauses import CLAUSES, WRITES, missing
from tests.proof.engines import prove_in_engine
from tests.proof.generated import Worlds, made_query, prove_generated, prove_writes
from tests.proof.judge import shake
from tests.proof.run import Progress, prove_slices, slices
from tests.proof.shapes import generated
from tests.proof.sources import folder_queries, prove_text, tpc_queries, tpc_schema
from tests.proof.writes import generated_write


@pytest.mark.property
def test_generated_queries_have_no_unexplained_change():
    account = Account()
    number = 250 if THOROUGH else 100
    prove_generated(account, 7, range(number))
    assert account.findings == []
    assert account.queries > 0.95 * number
    assert account.share(InfluenceClass.VALUE) > 0.95


@pytest.mark.property
def test_generated_writes_have_no_unexplained_change():
    account = Account()
    number = 40 if THOROUGH else 20
    prove_writes(account, 7, range(number))
    assert account.findings == []
    assert account.queries > 0.85 * number


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


@pytest.mark.property
def test_queries_of_sqlite_have_no_unexplained_change():
    account = Account()
    number = 200 if THOROUGH else 80
    prove_in_engine("sqlite", account, 7, range(number))
    assert account.findings == []
    assert account.queries > 0.2 * number
    assert account.share(InfluenceClass.VALUE) > 0.95


def test_a_missing_engine_is_said_to_be_missing(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["proof", "--engine", "postgres"])
    monkeypatch.setattr("tests.proof.postgres._binaries", lambda: None)
    assert command.main() == 2
    assert "postgres is missing, nothing was proven in it" in capsys.readouterr().err


def test_variants_that_run_at_once_give_the_rows_that_each_gives_alone():
    same = 0
    with ExitStack() as stack:
        (world,) = Worlds(stack, "7/0").first(1)
        variants = [world.changed("t", "a", "other"), world.changed("u", "k", "null")]
        for number in range(40):
            query = made_query(f"7:{number}")
            base = query.run(world)
            runs = query.run_together(world, base, variants) if base is not None else None
            if runs is None or shake(query.sql, 0) is not None:
                continue  # chance decides among ties
            for variant, found in zip(variants, runs[1:], strict=True):
                assert Counter(found.rows) == Counter(query.run(world, variant).rows), query.sql
            same += 1
    assert same > 25


def test_slices_are_the_whole_run():
    parts = slices(1, 0, 2500, 3)
    assert [len(part.numbers) for part in parts] == [1000, 1000, 500, 250]
    assert [part.writes for part in parts] == [False, False, False, True]
    account = Account()
    prove_slices(slices(7, 0, 10, 2), 1, Progress(11, account))
    assert account.queries + account.refused == 11


def test_the_summary_is_json(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["proof", "--only", "7:3", "--json"])
    assert command.main() == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["proof"], told["queries"], told["findings"]) == ("ok", 1, [])


def test_a_folder_of_queries(tmp_path):
    (tmp_path / "tables.sql").write_text("CREATE TABLE t (id INTEGER, a INTEGER, b VARCHAR);")
    (tmp_path / "one.sql").write_text("SELECT b, sum(a) AS s FROM t GROUP BY b; SELECT id FROM t WHERE a > 1;")
    queries, schema = folder_queries(tmp_path)
    assert list(queries) == ["one.sql#1", "one.sql#2"]
    account = Account()
    for sql in queries.values():
        prove_text(sql, schema, account, seed=1, worlds=2)
    assert (account.queries, account.findings) == (2, [])


def test_a_folder_with_a_schema_beside_it(tmp_path):
    folder = tmp_path / "queries"
    folder.mkdir()
    (tmp_path / "tables.sql").write_text("CREATE TABLE T (Id INTEGER, a INTEGER);")
    (folder / "one.sql").write_text("SELECT id FROM t WHERE A > 1;")
    queries, schema = folder_queries(folder, tmp_path / "tables.sql")
    account = Account()
    for sql in queries.values():
        prove_text(sql, schema, account, seed=1, worlds=2)
    assert (account.queries, account.findings) == (1, [])
    assert sum(account.witnessed.values()) == 2


def test_a_query_that_does_not_end_is_reported(monkeypatch):
    monkeypatch.setattr("tests.proof.prover.SECONDS", 0.3)
    endless = "SELECT t.a, count(*) AS c FROM t, range(1000000000) AS r(i), range(1000000000) AS q(j) GROUP BY t.a"
    account = Account()
    prove_text(endless, {"t": {"a": "INTEGER"}}, account, name="endless", seed=1, worlds=2)
    assert (account.slow, account.queries, account.refused) == (["endless"], 0, 0)


def test_a_query_that_breaks_the_engine_is_reported_and_the_others_go_on():
    account = Account()
    prove_generated(account, 20261119, range(46364, 46367), worlds=2)
    assert account.queries + account.refused + len(account.broken) == 3
    assert account.queries >= 1
    assert account.findings == []
