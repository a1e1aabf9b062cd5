"""Both sides come out of git, and git is left as it was."""

import concurrent.futures
import json
import os
import subprocess
import sys
import time

from tests.program import headwater
from tests.review.history import SHOP, History

STAGING = "sql/1_staging.sql"


def test_the_base_is_where_the_head_left_it(shop):
    shop.git("checkout", "-qb", "topic")
    shop.replace(STAGING, "o.state FROM", "o.state, o.placed FROM")
    shop.commit("topic")
    shop.git("checkout", "-q", "main")
    shop.replace(STAGING, "email, ", "")
    shop.commit("main goes on")
    shop.git("checkout", "-q", "topic")
    assert shop.changes("--head", "topic", base="main") == {("column added", "stg.orders.placed", "additive")}


def test_the_work_tree_counts_with_new_files_and_without_ignored_ones(shop):
    shop.write({".gitignore": "target/\n"})
    shop.commit("ignore")
    shop.write(
        {"target/x.sql": "CREATE TABLE ignored AS SELECT 1 AS a;", "n.sql": "CREATE TABLE n AS SELECT 1 AS a;"}
    )
    assert shop.changes() == {("table added", "n", "additive")}


def test_a_change_of_the_same_size_in_the_second_of_the_commit_counts(tmp_path):
    time.sleep(1 - time.time() % 1)  # so that the next two steps lie in one second, and the review in another
    shop = History(tmp_path / "r", {"a.sql": "CREATE TABLE d AS SELECT x AS c FROM t;"})
    shop.replace("a.sql", "SELECT x", "SELECT y")
    time.sleep(1 - time.time() % 1)
    assert shop.changes() == {("computed differently", "d.c", "possibly")}


def test_nothing_of_the_repository_is_written(shop):
    shop.replace(STAGING, "o.state <> 'test'", "true")
    shop.write({"n.sql": "CREATE TABLE n AS SELECT 1 AS a;"})
    everything = sorted((path, path.read_bytes()) for path in shop.folder.rglob("*") if path.is_file())
    assert shop.run().returncode == 0
    assert sorted((path, path.read_bytes()) for path in shop.folder.rglob("*") if path.is_file()) == everything


def test_only_what_changed_and_what_depends_on_it_is_analysed(shop):
    shop.write({"sql/0_other.sql": "CREATE TABLE other AS SELECT 1 AS one;"})
    shop.commit("another")
    assert shop.review()["analysed"] == {"base": 5, "head": 0, "units": 5}
    shop.replace("sql/2_mart.sql", "SELECT country, revenue", "SELECT revenue")
    assert shop.review()["analysed"] == {"base": 0, "head": 1, "units": 5}
    assert shop.review()["analysed"] == {"base": 0, "head": 0, "units": 5}
    shop.replace(STAGING, "o.amount AS total, ", "")  # who reads it is analysed again
    assert shop.review()["analysed"]["head"] == 4


def test_a_kept_analysis_gives_the_same_answer(shop):
    shop.replace(STAGING, "o.amount AS total", "o.amount + 1 AS total")
    shop.replace("sql/2_mart.sql", "GROUP BY", "WHERE o.id > 3 GROUP BY")
    first = shop.review()
    again = shop.review()
    cold = History(shop.folder.parent / "elsewhere")
    cold.write({name: (shop.folder / name).read_text() for name in SHOP})
    for name in ("changes", "findings", "rebuild"):
        assert first[name] == again[name] == cold.review()[name]


def test_a_damaged_cache_is_made_again(shop):
    first = shop.review()
    for file in shop.cache.rglob("*.side"):
        file.write_bytes(b"nonsense")
    again = shop.review()
    assert again["changes"] == first["changes"]
    assert again["analysed"]["base"] == 4


def test_several_processes_share_a_cache(shop):
    shop.replace(STAGING, "o.amount AS total", "2 * o.amount AS total")

    def once(_):
        command = [sys.executable, "-m", "headwater", "pr", "--base", "HEAD", "--format", "json"]
        env = os.environ | {"HEADWATER_CACHE": str(shop.cache)}
        done = subprocess.run(command, cwd=shop.folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["changes"]

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(once, range(3)))
    assert answers[0] == answers[1] == answers[2] != []


def test_names_that_git_quotes(tmp_path):
    there = History(tmp_path / "r", {"für alle/a b.sql": "CREATE TABLE a AS SELECT x FROM t;"})
    there.write({"für alle/a b.sql": "CREATE TABLE a AS SELECT x, y FROM t;"})
    (change,) = there.review()["changes"]
    assert (change["kind"], change["file"]) == ("column added", "für alle/a b.sql")


def test_a_schema_file_is_read_as_each_side_has_it(tmp_path):
    files = {
        "schema.sql": "CREATE TABLE raw.t (a INT, b INT);",
        "sql/v.sql": "CREATE VIEW v AS SELECT * FROM raw.t;",
    }
    there = History(tmp_path / "r", files)
    there.write({"schema.sql": "CREATE TABLE raw.t (a INT, b INT, c INT);"})
    assert ("column added", "v.c", "additive") in there.changes("--schema", "schema.sql", "sql")


def test_refusals(shop, tmp_path):
    unknown = shop.run(base="nowhere")
    assert unknown.returncode == 2
    assert "git knows no commit `nowhere`" in unknown.stderr
    assert "fetch-depth: 0" in unknown.stderr
    outside = shop.run(str(tmp_path))
    assert outside.returncode == 2
    assert "is not in the repository" in outside.stderr
    (tmp_path / "bare").mkdir()
    none = headwater("pr", "--base", "main", cwd=tmp_path / "bare", env={"GIT_CEILING_DIRECTORIES": str(tmp_path)})
    assert none.returncode == 2
    assert "is not in the work tree of a git repository" in none.stderr
    assert shop.run("--fail-on", "anything").returncode == 2
