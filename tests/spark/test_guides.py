"""The guides that need a Spark: what they show is so."""

import pytest
from tests.pages import ROOT, Page
from tests.test_pages import SPARK


@pytest.mark.spark
@pytest.mark.parametrize("name", sorted(SPARK))
def test_a_guide_shows_what_happens(name, spark, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    Page(ROOT / name, golden=request.config.getoption("--golden"), names={"spark": spark.newSession()}).run()
