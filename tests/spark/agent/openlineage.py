"""A Spark that is observed with OpenLineage's settings."""

import json
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.spark.agent.conftest import check

from headwater.spark import observe

pytestmark = pytest.mark.spark
PARENT = "0190a1b2-0000-7000-8000-00000000000a"
WRITE = "INSERT INTO dst SELECT a, c FROM t WHERE b > 1"


class Settings:
    """A Spark that is observed with settings given in one of the three ways."""

    def __init__(self, spark, folder: Path, monkeypatch) -> None:
        self.spark, self.folder, self.monkeypatch = spark, folder, monkeypatch
        monkeypatch.chdir(folder)
        monkeypatch.setenv("HOME", str(folder / "home"))
        self.file = folder / "events.ndjson"

    @contextmanager
    def conf(self, settings: dict[str, str]):
        """Settings in Spark's configuration."""
        jconf = self.spark.sparkContext._conf._jconf
        for name, value in settings.items():
            jconf.set(f"spark.openlineage.{name}", value)
        try:
            yield
        finally:
            for name in settings:
                jconf.remove(f"spark.openlineage.{name}")

    def events(self, action=WRITE, **conf: str) -> list[dict]:
        """What is sent, to a file, of an action under settings of Spark's configuration; `_` is a dot in names."""
        self.file.unlink(missing_ok=True)
        given = {"transport.type": "file", "transport.location": str(self.file)}
        return self.sent(action, given | {name.replace("__", "."): value for name, value in conf.items()})

    def sent(self, action, conf: dict[str, str]) -> list[dict]:
        with self.conf(conf), observe(self.spark, job=None if "appName" in conf else "suite"):
            found = action() if callable(action) else self.spark.sql(action)
            if str(action).startswith("SELECT"):
                found.collect()
        found = [json.loads(line) for line in self.file.read_text().splitlines()] if self.file.exists() else []
        for each in found:
            check(each)
        return found
