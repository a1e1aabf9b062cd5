import re
import sys
from pathlib import Path

import pyspark
import pytest

DOCS = Path(__file__).parents[2] / "docs"

pytestmark = pytest.mark.spark


def test_the_page_of_commands_follows_the_code(spark, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    import spark_commands

    page = spark_commands.PAGE.read_text(encoding="utf-8")
    written_for = re.search(r"jars of Spark (\S+),", page)[1]
    if written_for != ".".join(pyspark.__version__.split(".")[:2]):
        pytest.skip(f"the page is about Spark {written_for}")
    assert page == spark_commands.page(spark)
    sys.modules.pop("spark_commands")


def test_the_tests_that_the_page_names_exist(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    import spark_commands

    assert all((Path(__file__).parent / "agent" / name).is_file() for name in spark_commands.TESTS)
    sys.modules.pop("spark_commands")
