"""Questions asked after tables and columns got other names, were dropped or replaced, or from another folder."""

import pytest

from headwater.cli.main import run
from headwater.errors import UsageError
from headwater.provenance.bisect import bisect
from headwater.provenance.commits import find_commit
from headwater.provenance.replay import replay
from headwater.provenance.why import why_rows
from tests.provenance.conftest import REFRESH, ids

RENAMES = """ALTER TABLE gold RENAME COLUMN revenue TO rev; ALTER TABLE gold RENAME COLUMN country TO land;
ALTER TABLE gold RENAME COLUMN rev TO turnover; ALTER TABLE gold RENAME COLUMN newest TO revenue"""


def test_a_renamed_column_goes_by_its_name_of_now(hops):
    hops.sql(RENAMES)
    (first, *_) = why_rows(hops.warehouse, "default.gold", where="land = 'DE'", column="turnover")
    assert ids(first) == [1, 2]
    (first, *_) = why_rows(hops.warehouse, "default.gold", where="land = 'DE'", column="revenue")
    assert ids(first) == [2]
    with pytest.raises(UsageError, match="`newest` is not a column"):
        why_rows(hops.warehouse, "default.gold", where="true", column="newest")


def test_a_moment_has_the_names_of_then(hops):
    hops.sql(RENAMES)
    (first, *_) = why_rows(hops.warehouse, "default.gold", 1, where="country = 'DE'", column="newest")
    assert ids(first) == [2]
    with pytest.raises(UsageError, match="`land` is not a column"):
        why_rows(hops.warehouse, "default.gold", 1, where="country = 'DE'", column="land")


@pytest.mark.parametrize(("table", "row"), [("default.gold", "DE"), ("gold", "land=DE"), ("gold@1", "DE")])
def test_a_key_is_asked_for_by_its_name(hops, capsys, table, row):
    hops.sql("ALTER TABLE gold RENAME COLUMN country TO land")
    assert run(["why", table, "--row", row, "--warehouse", hops.warehouse.url]) == 0
    assert "made of 2 rows of default.clean" in capsys.readouterr().out


def test_rows_of_before_a_rename_are_found(hops):
    hops.sql("ALTER TABLE raw RENAME COLUMN country TO land; INSERT INTO raw VALUES (4, 'IT', 40)")
    hops.table("raw").write([{"id": 5, "land": "IT", "amount": 50}])
    found = why_rows(hops.warehouse, "default.raw", where="id IN (1, 5)")
    assert [(each.snapshot_id, each.rows.num_rows, each.reason) for each in found] == [(4, 1, None), (1, 1, None)]


def test_a_figure_has_the_names_of_now(hops):
    hops.sql(RENAMES)
    (move,) = bisect(hops.warehouse, "default.gold", "sum(turnover)", where="land = 'DE'")
    assert (move.before, move.after) == (30, 35)
    (cause,) = move.causes
    assert (cause.dataset, cause.share, cause.causes[0].dataset) == ("default.clean", 5, "default.raw")
    (share,) = cause.causes[0].rows
    assert share.change.columns == ("amount",)


def test_bisect_follows_a_renamed_input(hops):
    hops.sql("ALTER TABLE clean RENAME TO cleaned; ALTER TABLE raw RENAME TO loaded")
    (move,) = bisect(hops.warehouse, "default.gold", "sum(revenue)")
    assert move.reason is None
    assert [each.dataset for each in move.causes] == ["default.cleaned"]
    assert [each.dataset for each in move.causes[0].causes] == ["default.loaded"]


def test_bisect_says_which_input_is_gone(hops):
    hops.sql("DROP TABLE clean")
    (move,) = bisect(hops.warehouse, "default.gold", "sum(revenue)")
    assert move.reason == "default.clean was read, and has been dropped since"
    assert len(move.rows) == 1


def test_bisect_tells_an_input_from_its_namesake(hops):
    hops.sql(f"""DROP TABLE clean; CREATE TABLE clean (id INT PRIMARY KEY, country STRING, amount INT);
        INSERT INTO clean VALUES (9, 'IT', 1); INSERT INTO clean VALUES (8, 'IT', 1);
        INSERT INTO raw VALUES (4, 'IT', 40); {REFRESH}""")
    *_, move = bisect(hops.warehouse, "default.gold", "sum(revenue)")
    assert (move.after, move.causes) == (105, ())
    assert move.reason == "default.clean was another table when default.gold@2 read it"


def test_deep_replay_follows_names_that_changed(hops):
    hops.sql("ALTER TABLE clean RENAME TO cleaned; CREATE TABLE clean AS SELECT 1 AS x")
    found = replay(hops.warehouse, "default.gold", deep=True)
    assert [f"{each.dataset}@{each.snapshot_id}" for each in found][:2] == ["default.gold@2", "default.cleaned@2"]
    assert all(each.identical for each in found[:2])


def test_deep_replay_leaves_out_a_namesake(hops):
    hops.sql("DROP TABLE clean; CREATE TABLE clean AS SELECT 1 AS x")
    (found,) = replay(hops.warehouse, "default.gold", 1, deep=True)
    assert found.reasons == ("default.clean was read, and another table has its name since",)


def test_files_are_looked_for_where_they_were(session, tmp_path, monkeypatch):
    for name, value in (("here", 1), ("there", 2), ("nowhere", None)):
        (tmp_path / name).mkdir()
        if value is not None:
            (tmp_path / name / "in.csv").write_text(f"id\n{value}\n")
    monkeypatch.chdir(tmp_path / "here")
    session.sql("CREATE TABLE t AS SELECT * FROM read_csv('in.csv')")
    assert replay(session.warehouse, "default.t")[0].identical
    for folder in ("there", "nowhere"):
        monkeypatch.chdir(tmp_path / folder)
        (found,) = replay(session.warehouse, "default.t")
        assert found.comparison is None
        assert found.reasons == ("default.t@1 read in.csv in another folder than this one",)
        assert found.hint == f"run this in {tmp_path / 'here'}/"
        assert find_commit(session.warehouse, "default.t").recipe.files[0].path == str(tmp_path / "here" / "in.csv")
        (hop,) = why_rows(session.warehouse, "default.t", where="id = 1")
        assert hop.reason == found.reasons[0]
