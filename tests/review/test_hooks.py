"""`action.yml` and `.pre-commit-hooks.yaml`: their steps are run, on a history that git made."""

import json
import os
import shlex
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import yaml
from tests.pages import ROOT

STAGING, MART = "sql/1_staging.sql", "sql/2_mart.sql"


@pytest.fixture
def host():
    """A server with the comments of one pull request, as GitHub's API serves them."""
    comments = [{"id": number, "body": f"comment {number}"} for number in range(130)]
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def _answer(self, value):
            data = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _body(self):
            seen.append((self.command, self.path, self.headers["Authorization"]))
            return json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]

        def do_GET(self):
            page = int(self.path.rpartition("page=")[2])
            self._answer(comments[(page - 1) * 100 : page * 100])

        def do_POST(self):
            comments.append({"id": 1000 + len(comments), "body": self._body()})
            self._answer(comments[-1])

        def do_PATCH(self):
            body = self._body()
            (mine,) = [each for each in comments if str(each["id"]) == self.path.rpartition("/")[2]]
            mine["body"] = body
            self._answer(mine)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", comments, seen
    server.shutdown()
    thread.join()
    server.server_close()


class Action:
    """The steps of `action.yml`, run one after the other by bash."""

    def __init__(self, shop, api):
        self.steps = {
            step["name"]: step for step in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
        }
        self.shop = shop
        self.folder = shop.folder.parent / "runner"
        self.folder.mkdir(exist_ok=True)
        bin = self.folder / "bin"
        bin.mkdir(exist_ok=True)
        if not (bin / "python").exists():
            (bin / "python").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
            (bin / "python").chmod(0o755)
        self.env = os.environ | {
            "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}",
            "HEADWATER_CACHE": str(shop.cache),
            "RUNNER_TEMP": str(self.folder),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
            "GITHUB_API_URL": api,
            "GITHUB_REPOSITORY": "some/where",
            "no_proxy": "127.0.0.1",
        }

    def step(self, name, **env):
        step = self.steps[name]
        assert set(env) == set(step["env"])
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        return subprocess.run(
            command, cwd=self.shop.folder, env=self.env | env, capture_output=True, text=True, check=False
        )

    def run(self, arguments=""):
        """The last step of a run, after all steps before it."""
        (self.folder / "output").write_text("")
        done = self.step("Compare both sides", BASE="origin/main", ARGUMENTS=arguments)
        assert done.returncode == 0, done.stderr
        outputs = dict(line.split("=", 1) for line in (self.folder / "output").read_text().splitlines())
        done = self.step("Write the comment", TOKEN="secret", NUMBER="7", COMMENT=outputs["comment"])
        assert done.returncode == 0, done.stderr
        return self.step("Fail if asked to", CODE=outputs["code"]), outputs


@pytest.fixture
def topic(shop):
    """A branch that breaks something, with its base as CI has it."""
    shop.git("update-ref", "refs/remotes/origin/main", "HEAD")
    shop.git("checkout", "-qb", "topic")
    shop.replace(STAGING, "o.amount AS total, ", "")
    shop.commit("drop a column")
    return shop


@pytest.mark.slow
def test_the_action_writes_one_comment_and_writes_it_anew(topic, host):
    api, comments, seen = host
    action = Action(topic, api)
    last, outputs = action.run("--fail-on breaking")
    assert last.returncode == 1
    (mine,) = [each for each in comments if each["body"].startswith("<!-- headwater-pr -->")]
    assert "1 breaking" in mine["body"]
    assert seen == [("POST", "/repos/some/where/issues/7/comments", "Bearer secret")]
    with open(outputs["sarif"]) as file:
        assert [each["ruleId"] for each in json.load(file)["runs"][0]["results"]] == [
            "column-removed",
            "UNKNOWN_COLUMN",
        ]
    topic.replace(STAGING, "o.customer, o.state", "o.customer, o.amount AS total, o.state")
    topic.commit("bring it back")
    last, _ = action.run("--fail-on breaking")
    assert last.returncode == 0
    (mine,) = [each for each in comments if each["body"].startswith("<!-- headwater-pr -->")]
    assert "no change of lineage" in mine["body"]
    assert seen[1:] == [("PATCH", f"/repos/some/where/issues/comments/{mine['id']}", "Bearer secret")]
    assert all(each["body"] == f"comment {each['id']}" for each in comments if each["id"] < 1000)


def test_the_action_stops_when_the_command_cannot_run(shop, host):
    done = Action(shop, host[0]).step("Compare both sides", BASE="nowhere", ARGUMENTS="")
    assert done.returncode == 2
    assert "git knows no commit" in done.stderr


@pytest.mark.slow
def test_the_action_installs_what_it_is_told(shop, host, tmp_path):
    action = Action(shop, host[0])
    action.env |= {
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",
        "PIP_TARGET": str(tmp_path / "there"),
        "PIP_NO_INDEX": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    done = action.step("Install Headwater", PACKAGE=str(ROOT))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "there" / "headwater" / "review" / "review.py").is_file()


def hooks():
    return {each["id"]: each for each in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}


def run_hook(shop, id, *files):
    """A hook as pre-commit runs it: its entry, its arguments, and the files if it takes them."""
    hook = hooks()[id]
    name, *words = shlex.split(hook["entry"])
    assert name == "headwater"
    given = files if hook.get("pass_filenames", True) else ()
    command = [sys.executable, "-m", "headwater", *words, *hook.get("args", ()), *given]
    env = os.environ | {"HEADWATER_CACHE": str(shop.cache)}
    return subprocess.run(command, cwd=shop.folder, env=env, capture_output=True, text=True, check=False)


def test_the_hook_of_check(shop):
    assert run_hook(shop, "headwater-check", STAGING, MART).returncode == 0
    shop.replace(MART, "SELECT country, revenue", "SELECT country, revenues")
    done = run_hook(shop, "headwater-check", STAGING, MART)
    assert done.returncode == 1
    assert "revenues" in done.stdout


def test_the_hook_of_pr(shop):
    assert run_hook(shop, "headwater-pr").returncode == 0
    shop.replace(STAGING, "o.amount AS total, ", "")
    shop.git("add", "-A")
    done = run_hook(shop, "headwater-pr")
    assert done.returncode == 1
    assert "1 breaking" in done.stdout


@pytest.mark.slow
def test_pre_commit_itself_runs_the_hooks(shop, tmp_path):
    """pre-commit reads the file, chooses the files and calls the entry; only the installation is the machine's."""
    local = [
        each | {"language": "system", "entry": each["entry"].replace("headwater", str(tmp_path / "headwater"), 1)}
        for each in hooks().values()
    ]
    (tmp_path / "headwater").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m headwater "$@"\n')
    (tmp_path / "headwater").chmod(0o755)
    shop.write({".pre-commit-config.yaml": yaml.safe_dump({"repos": [{"repo": "local", "hooks": local}]})})
    shop.commit("hooks")
    env = os.environ | {"HEADWATER_CACHE": str(shop.cache), "PRE_COMMIT_HOME": str(tmp_path / "pre-commit")}

    def run():
        command = [sys.executable, "-m", "pre_commit", "run", "--all-files"]
        return subprocess.run(command, cwd=shop.folder, env=env, capture_output=True, text=True, check=False)

    assert run().returncode == 0, run().stdout
    shop.replace(STAGING, "o.amount AS total, ", "")
    shop.git("add", "-A")
    done = run()
    assert done.returncode == 1
    assert "UNKNOWN_COLUMN" in done.stdout
    assert "1 breaking" in done.stdout
