"""Small repositories with a history, made by git itself."""

import json
import os
import subprocess
import textwrap

from tests.program import headwater

SHOP = {
    "sql/1_staging.sql": """\
        CREATE TABLE stg.orders AS
        SELECT o.id, o.customer, o.amount AS total, o.state FROM raw.orders AS o WHERE o.state <> 'test';
        CREATE TABLE stg.customers AS SELECT id, email, country FROM raw.customers;
        """,
    "sql/2_mart.sql": """\
        CREATE VIEW mart.revenue AS
        SELECT c.country, sum(o.total) AS revenue
        FROM stg.orders AS o JOIN stg.customers AS c ON o.customer = c.id GROUP BY c.country;
        CREATE TABLE mart.report AS SELECT country, revenue FROM mart.revenue;
        """,
}


class History:
    """A git repository in a folder, with a cache of its own."""

    def __init__(self, folder, files=None):
        self.folder = folder
        self.cache = folder.parent / f"{folder.name}-cache"
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")
        self.write(files if files is not None else SHOP)
        self.commit("first")

    def git(self, *words):
        who = ("-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", *who, *words], cwd=self.folder, capture_output=True, text=True, check=True)
        return done.stdout

    def write(self, files):
        for name, text in files.items():
            path = self.folder / name
            if text is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(textwrap.dedent(text))

    def replace(self, name, old, new):
        path = self.folder / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-qm", message)

    def run(self, *args, base="HEAD", **env):
        """The finished run of `headwater pr` in the repository."""
        own = {"HEADWATER_CACHE": str(self.cache), "HOME": os.environ.get("HOME", "/")} | env
        return headwater("pr", "--base", base, *args, cwd=self.folder, env=own)

    def review(self, *args, base="HEAD"):
        """What the JSON of a run says."""
        done = self.run("--format", "json", *args, base=base)
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout)

    def changes(self, *args, base="HEAD"):
        """The changes of a run: kind, name and risk of each."""
        return {
            (each["kind"], each["dataset"] + (f".{each['column']}" if each["column"] else ""), each["risk"])
            for each in self.review(*args, base=base)["changes"]
        }
