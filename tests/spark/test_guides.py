"""The guides that need a Spark: what they show is so."""

import os

import pytest
from tests.pages import ROOT, Page
from tests.test_pages import SPARK

from headwater.spark.agent.visitors import visitor


@pytest.fixture
def beside(spark, tmp_path, monkeypatch):
    """A session of the shared Spark, as if it had been started in an empty folder that is the working one."""
    began = os.getcwd()
    monkeypatch.chdir(tmp_path)
    _move(spark, str(tmp_path))
    for name in ("_VISITORS", "_BUILDERS"):  # what a guide registers is not for other tests
        monkeypatch.setattr(visitor, name, list(getattr(visitor, name)))
    yield spark.newSession()
    _move(spark, began)


def _move(spark, folder):
    """Where Java and Hadoop take relative paths to begin."""
    jvm = spark._jvm
    jvm.java.lang.System.setProperty("user.dir", folder)
    files = jvm.org.apache.hadoop.fs.FileSystem.get(spark._jsc.hadoopConfiguration())
    files.setWorkingDirectory(jvm.org.apache.hadoop.fs.Path(folder))


@pytest.mark.spark
@pytest.mark.parametrize("name", sorted(SPARK))
def test_a_guide_shows_what_happens(name, beside, request):
    Page(ROOT / name, golden=request.config.getoption("--golden"), names={"spark": beside}).run()
