"""Policies: what they forbid and ask for, by `check` and by `pr`."""

import json

import pytest
from tests.program import headwater
from tests.review.history import History

from headwater.errors import ConfigError, UnknownSettingError
from headwater.review.policy import read_policy

POLICY = """\
[tags]
pii = ["raw.*.email", "raw.*.phone"]

[masking]
functions = ["vault.tokenize"]

[[flows]]
tag = "pii"
to = ["mart.*"]
except = ["mart.contacts.*"]

[[owners]]
tables = ["mart.sales*"]
owner = "sales"

[require]
owner = ["mart.*"]
"""
STAGING = "CREATE TABLE stg.users AS SELECT id, lower(email) AS mail, phone FROM raw.users;\n"


def check(folder, sql, policy=POLICY, dialect="duckdb"):
    """The violations in a text: code, line and way."""
    (folder / "a.sql").write_text(sql)
    (folder / "headwater.policy.toml").write_text(policy)
    done = headwater("check", "a.sql", "--dialect", dialect, "--json", cwd=folder)
    issues = json.loads(done.stdout)["issues"]
    found = [each for each in issues if each["code"].startswith(("FORBIDDEN", "NO_", "TOO_"))]
    assert done.returncode == int(any(each["severity"] != "info" for each in issues))
    return {(each["code"], each["span"]["line"]): each for each in found}


def test_a_forbidden_flow_says_the_way_it_took(tmp_path):
    found = check(tmp_path, STAGING + "CREATE TABLE mart.sales AS SELECT id, mail AS contact FROM stg.users;")
    assert list(found) == [("FORBIDDEN_FLOW", 2)]
    issue = found["FORBIDDEN_FLOW", 2]
    assert issue["message"] == "values of `raw.users.email` (pii) reach `mart.sales.contact` unmasked"
    assert issue["hint"] == "the way: raw.users.email → stg.users.mail (a.sql:1) → mart.sales.contact (a.sql:2)"


@pytest.mark.parametrize(
    ("value", "is_forbidden"),
    [
        ("mail", True),
        ("upper(mail)", True),
        ("sha256(mail)", False),
        ("count(mail)", False),
        ("vault.tokenize(phone)", False),
        ("vault.tokenize(phone) || phone", True),
        ("other.tokenize(phone)", True),
        ("CASE WHEN phone IS NULL THEN 'none' ELSE 'some' END", False),
        ("id", False),
    ],
)
def test_what_masks(tmp_path, value, is_forbidden):
    found = check(tmp_path, STAGING + f"CREATE TABLE mart.sales AS SELECT {value} AS v FROM stg.users GROUP BY ALL;")
    assert (("FORBIDDEN_FLOW", 2) in found) == is_forbidden


def test_exempt_tables(tmp_path):
    sql = STAGING + "CREATE TABLE mart.contacts AS SELECT mail FROM stg.users;"
    assert set(check(tmp_path, sql)) == {("NO_OWNER", 2)}


def test_an_intermediate_column_with_the_tag_is_no_second_source(tmp_path):
    policy = POLICY.replace('"raw.*.phone"', '"*.mail"')
    sql = STAGING + "CREATE TABLE mart.sales AS SELECT mail FROM stg.users;"
    (issue,) = check(tmp_path, sql, policy).values()
    assert "`raw.users.email`" in issue["message"]


@pytest.mark.parametrize(
    ("query", "is_forbidden"),
    [
        ("SELECT * FROM stg.users", True),
        ("SELECT u.* FROM stg.users AS u JOIN raw.x AS x ON u.id = x.id", True),
        ("WITH a AS (SELECT * FROM stg.users) SELECT * FROM a", True),
        ("WITH a AS (SELECT id FROM stg.users) SELECT * FROM a", False),
        ("SELECT * FROM (SELECT id FROM stg.users) AS s", False),
        ("SELECT id FROM stg.users UNION ALL SELECT * FROM raw.ids", True),
        ("SELECT count(*) AS n FROM stg.users", False),
    ],
)
def test_stars(tmp_path, query, is_forbidden):
    policy = '[stars]\nforbidden = ["gold.*"]\n'
    found = check(tmp_path, STAGING + f"CREATE TABLE gold.t AS {query};", policy)
    assert (("FORBIDDEN_STAR", 2) in found) == is_forbidden


def test_depth_names_the_first_table_that_is_too_deep(tmp_path):
    chain = "".join(f"CREATE TABLE t{n} AS SELECT x FROM t{n - 1};\n" for n in range(1, 7))
    found = check(tmp_path, chain, "[depth]\nmost = 4\n")
    assert [(key, each["hint"]) for key, each in found.items()] == [
        (("TOO_DEEP", 4), "the way: t0 → t1 → t2 → t3 → t4")
    ]


def test_descriptions_come_from_the_project(tmp_path):
    files = {
        "dbt_project.yml": "name: shop\n",
        "models/said.sql": "select 1 as one",
        "models/silent.sql": "select 1 as one",
        "models/m.yml": "models: [{name: said, description: One.}]\n",
        "headwater.policy.toml": '[require]\ndescription = ["*"]\n',
    }
    there = History(tmp_path / "r", {"README.md": "nothing yet"})
    there.write(files)
    found = there.review("--dialect", "postgres")["violations"]
    assert [(each["code"], each["message"]) for each in found] == [("NO_DESCRIPTION", "`silent` has no description")]


def test_a_review_says_only_what_is_new(tmp_path):
    before = STAGING + "CREATE TABLE mart.sales AS SELECT mail FROM stg.users;\n"
    there = History(tmp_path / "r", {"a.sql": before, "headwater.policy.toml": POLICY})
    there.write({"a.sql": "-- moved down\n" + before + "CREATE TABLE mart.sales_2 AS SELECT phone FROM stg.users;\n"})
    found = there.review()
    assert [each["message"] for each in found["violations"]] == [
        "values of `raw.users.phone` (pii) reach `mart.sales_2.phone` unmasked"
    ]
    assert found["violations"][0]["line"] == 4
    assert [(each["target"], each["forbidden"]) for each in found["flows"]] == [("mart.sales_2.phone", True)]
    assert there.run("--fail-on", "pii").returncode == 1
    assert there.run("--fail-on", "new-issues").returncode == 1
    assert there.run("--fail-on", "breaking").returncode == 0


def test_without_rules_every_new_flow_counts(tmp_path):
    there = History(tmp_path / "r", {"a.sql": STAGING, "headwater.policy.toml": '[tags]\npii = ["raw.*.email"]\n'})
    assert there.run("--fail-on", "pii").returncode == 0
    there.write({"a.sql": STAGING + "CREATE TABLE any.t AS SELECT mail FROM stg.users;\n"})
    assert there.run("--fail-on", "pii").returncode == 1


@pytest.mark.parametrize(
    ("text", "error", "hint"),
    [
        ("[flow]\n", UnknownSettingError, "did you mean `flows`?"),
        (
            '[[flows]]\ntag = "pii"\nto = ["a"]\nexcpet = []\n[tags]\npii = []\n',
            UnknownSettingError,
            "did you mean `except`?",
        ),
        ('[[flows]]\ntag = "pi"\nto = ["a"]\n[tags]\npii = []\n', ConfigError, "did you mean `pii`?"),
        ("[depth]\nmost = 'many'\n", ConfigError, None),
        ("[[owners]]\ntables = ['a']\n", ConfigError, None),
        ("tags = [\n", ConfigError, None),
    ],
)
def test_refusals(tmp_path, text, error, hint):
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(error) as caught:
        read_policy(tmp_path / "p.toml")
    assert caught.value.hint == hint
    assert "p.toml" in str(caught.value) + str(caught.value.place)
