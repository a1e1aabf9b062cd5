"""What lineage says of places, literals, sources and statements that cannot be read."""

import pytest
from pyspark.sql import functions as F  # noqa: N812
from tests.spark.conftest import RELEASE

from headwater.errors import ConfigError, SqlError
from headwater.lineage.statement import Status
from headwater.spark import explain_lineage, lineage
from headwater.spark.agent.options import AgentOptions, read_options

pytestmark = pytest.mark.spark


def edge(result, target):
    return next(each for each in result.edges if each.target.column == target)


@pytest.mark.skipif(RELEASE < (4, 0), reason="this Spark does not keep the lines of Python")
def test_an_edge_knows_the_line_of_python_that_made_it(case_tables):
    df = case_tables.table("t").withColumn("n", F.col("a") + F.col("b"))  # this line
    found = edge(lineage(df), "n")
    with open(__file__) as file:
        line = next(number for number, text in enumerate(file, 1) if text.endswith("# this line\n"))
    assert found.place == f"{__file__}:{line}"
    assert found.expression == "(a + b)"


def test_an_edge_knows_its_piece_of_sql(case_tables):
    result = explain_lineage(case_tables, "SELECT c,\n  a + b AS n\nFROM t WHERE b > 1")
    assert (edge(result, "n").expression, edge(result, "n").place) == ("a + b", "sql:2:3")
    rows = next(each for each in result.edges if each.target.column is None)
    assert (rows.expression, rows.place) == ("b > ?", "sql:3:14")


def test_literals_are_not_shown_unless_asked_for(case_tables):
    sql = "SELECT concat(c, 'tax-4711') AS k FROM t WHERE c = \"tax-4712\" AND a <> 4713 -- tax-4714"
    df = case_tables.table("t").filter(F.col("c") == "tax-4715").select(F.concat("c", F.lit("tax-4716")).alias("k"))
    for result in (explain_lineage(case_tables, sql), lineage(df)):
        assert "47" not in result.to_json()
    assert edge(explain_lineage(case_tables, sql, literals=True), "k").expression == "concat(c, 'tax-4711')"


def test_an_output_can_be_named(case_tables):
    result = lineage(case_tables.table("u").select("x"), output="mart.keys")
    assert str(result.edges[0].target) == "mart.keys.x"
    assert [str(table) for table in result.tables] == ["cases.u", "mart.keys"]
    assert "mart.keys" in result.to_text("tree")


def test_what_spark_refuses_is_an_error_of_one_line(case_tables):
    with pytest.raises(SqlError, match="nowhere"):
        explain_lineage(case_tables, "SELECT a FROM nowhere")
    with pytest.raises(SqlError, match="SELEC"):
        explain_lineage(case_tables, "SELEC a")


def test_explaining_changes_nothing(case_tables):
    explain_lineage(case_tables, "CREATE TABLE never USING parquet AS SELECT a FROM t")
    explain_lineage(case_tables, "DROP TABLE t")
    assert not case_tables.catalog.tableExists("never")
    assert case_tables.catalog.tableExists("t")


def test_code_that_is_not_read_makes_lineage_approximate(case_tables):
    result = lineage(case_tables.table("t").mapInPandas(lambda parts: parts, "a int"))
    (statement,) = result.statements
    assert statement.status is Status.APPROXIMATE
    assert "<lambda>" in result.issues[0].message


def test_files_are_named_by_their_folder(case_tables, tmp_path):
    df = case_tables.createDataFrame([(1, "x"), (2, "y")], "n int, k string")
    df.write.partitionBy("k").parquet(str(tmp_path / "data"))
    df.write.csv(str(tmp_path / "more"), header=True)
    read = case_tables.read.parquet(f"{tmp_path}/data").join(
        case_tables.read.csv(f"{tmp_path}/more", header=True, inferSchema=True), "n"
    )
    result = lineage(read.select("n"))
    assert sorted(map(str, result.tables)) == [f"{tmp_path}/data", f"{tmp_path}/more"]
    one = lineage(case_tables.read.parquet(f"{tmp_path}/data/k=x"))
    assert [str(table) for table in one.tables] == [f"{tmp_path}/data"]


def test_several_folders_are_several_tables(case_tables, tmp_path):
    for name in ("north", "south"):
        case_tables.range(3).write.parquet(str(tmp_path / name))
    result = lineage(case_tables.read.parquet(f"{tmp_path}/north", f"{tmp_path}/south"))
    assert sorted(str(each.source) for each in result.edges) == [
        f"{tmp_path}/north.id",
        f"{tmp_path}/south.id",
    ]


def test_options_come_from_arguments_then_from_spark():
    settings = {"spark.headwater.columns": "false", "spark.headwater.queue": "7"}
    options = read_options(settings.get, queue=9)
    assert options == AgentOptions(columns=False, queue=9)
    with pytest.raises(ConfigError, match="colums") as caught:
        read_options(settings.get, colums=True)
    assert "columns" in caught.value.hint
    with pytest.raises(ConfigError, match="queue"):
        read_options({"spark.headwater.queue": "many"}.get)
