"""What makes Spark start faster: an archive of Java's classes, and PySpark from where it is compiled."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pyspark
import pytest

from headwater.errors import EngineError
from headwater.spark import class_archive as classes
from headwater.spark.daemon import compiled_first
from headwater.spark.environment import spark_environment
from headwater.spark.java import Java, find_java

HOME = Path(pyspark.__file__).parent
ZIPS = [str(HOME / "python" / "lib" / name) for name in ("pyspark.zip", "py4j-src.zip")]
JOB = """
import json, sys
from headwater.jobs.harvest.spark_executor import SETTINGS
from headwater.jobs.session import spark_context

def look(number):
    import pyspark
    return pyspark.__file__, "headwater.jobs.harvest.unit_analysis" in sys.modules

settings = SETTINGS | dict(word.split("=", 1) for word in sys.argv[1:])
with spark_context("local[1]", settings=settings) as context:
    print(json.dumps(context.parallelize([1], 1).map(look).collect()))
"""


@pytest.fixture(scope="module")
def archive():
    """The archive of this machine; `make setup` has made it."""
    return classes.make_archive(find_java(), lambda seconds: None)


def run_job(*settings, options=""):
    env = {name: value for name, value in os.environ.items() if name != "SPARK_SUBMIT_OPTS"}
    env |= {"SPARK_SUBMIT_OPTS": options} if options else {}
    done = subprocess.run([sys.executable, "-c", JOB, *settings], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1]), done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.spark
def test_classes_and_modules_come_from_where_they_are_ready(archive, tmp_path):
    """In the Java of a harvest, which collects garbage in another way than the one that wrote the archive."""
    log = tmp_path / "classes.log"
    [[place, is_imported]], _ = run_job(options=f"-Xlog:class+load:file={log}")  # the user's own options count, too
    loaded = [
        line for line in log.read_text().splitlines() if " org.apache.spark." in line and "$$Lambda" not in line
    ]
    shared = [line for line in loaded if "shared objects file (top)" in line]
    assert len(shared) > 0.9 * len(loaded) > 100
    assert Path(place) == HOME / "__init__.py"
    assert is_imported, "workers import for themselves what the daemon should have"


@pytest.mark.slow
@pytest.mark.spark
def test_an_archive_that_does_not_fit_is_left_aside_in_silence(archive, tmp_path):
    jar = tmp_path / "other.jar"
    with zipfile.ZipFile(jar, "w") as file:
        file.writestr("other.txt", "something else")
    log = tmp_path / "classes.log"
    _, said = run_job(f"spark.driver.extraClassPath={jar}", options=f"-Xlog:class+load:file={log}")
    assert "shared objects file (top)" not in log.read_text()
    assert "cds" not in said
    assert "shared class paths" not in said


def test_the_options_name_the_archive_once(archive, monkeypatch):
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-Dcolour=blue")
    options = spark_environment()["SPARK_SUBMIT_OPTS"]
    assert f'"-XX:SharedArchiveFile={archive}"' in options
    assert options.endswith(" -Dcolour=blue")
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", options)
    assert spark_environment()["SPARK_SUBMIT_OPTS"] == options


@pytest.mark.parametrize("damage", ["cut", "open to others", "no record"])
def test_java_is_not_told_of_an_archive_that_would_kill_it(archive, tmp_path, monkeypatch, damage):
    folder = tmp_path / "java"
    folder.mkdir(mode=0o700)
    for file in (archive, archive.with_suffix(".json")):
        shutil.copy2(file, folder)
    monkeypatch.setenv("HEADWATER_CACHE", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("SPARK_SUBMIT_OPTS", raising=False)
    assert str(folder / archive.name) in spark_environment()["SPARK_SUBMIT_OPTS"]
    match damage:
        case "cut":
            (folder / archive.name).chmod(0o600)
            os.truncate(folder / archive.name, 1_000_000)
        case "open to others":
            folder.chmod(0o777)
        case "no record":
            (folder / archive.name).with_suffix(".json").unlink()
    assert "SPARK_SUBMIT_OPTS" not in spark_environment()


def test_a_java_that_writes_no_archive_is_an_error_with_its_words(tmp_path, monkeypatch):
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'this Java shares nothing' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("HEADWATER_CACHE", str(tmp_path / "cache"))
    with pytest.raises(EngineError, match=r"Java 17 has written no archive .*: this Java shares nothing"):
        classes.make_archive(Java(tmp_path, 17, "a test"), lambda seconds: None)


def test_the_zips_go_last_where_the_package_lies_beside_them():
    site = str(HOME.parent)
    assert compiled_first(["here", *ZIPS, site]) == ["here", site, *ZIPS]


def test_the_zips_of_another_spark_stay_first(tmp_path):
    foreign = [str(tmp_path / "python" / "lib" / name) for name in ("pyspark.zip", "py4j-src.zip")]
    for path in ([*foreign, str(HOME.parent)], [*ZIPS, str(tmp_path)], [str(HOME.parent)]):
        assert compiled_first(path) == path


@pytest.mark.slow
@pytest.mark.spark
def test_java_keeps_what_it_logs_from_the_terminal():
    _, said = run_job()
    assert said.splitlines()[1:] == []


QUIET = """
from headwater.errors import EngineError
from headwater.jobs.session import spark_context
try:
    with spark_context("local[1]", settings={"spark.driver.memory": "many"}):
        pass
except EngineError as err:
    print(err.message, "|", err.hint)
"""


@pytest.mark.spark
def test_a_java_that_does_not_start_says_why():
    done = subprocess.run([sys.executable, "-c", QUIET], capture_output=True, text=True)
    assert done.stdout.startswith("Spark did not start | Java said: "), done.stdout + done.stderr
    assert "many" in done.stdout
    assert done.stderr == ""
