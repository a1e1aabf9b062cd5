"""Dataset names follow OpenLineage's rules and carry no secrets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.events.naming import (
    DatasetName,
    file_table,
    hive_name,
    jdbc_name,
    kafka_name,
    lake_name,
    memory_name,
    path_name,
)
from headwater.graph.observed import dataset_id


@pytest.mark.parametrize(
    ("uri", "namespace", "name"),
    [
        ("/data/t", "file", "/data/t"),
        ("file:/data/t/", "file", "/data/t"),
        ("file:///data/t", "file", "/data/t"),
        ("file://host/data/t", "file://host", "/data/t"),
        ("file:/a%20b/t", "file", "/a b/t"),
        ("hdfs://nn:8020/data/t", "hdfs://nn:8020", "/data/t"),
        ("s3a://bucket/raw/t", "s3://bucket", "raw/t"),
        ("s3n://key:secret@bucket/raw/t", "s3://bucket", "raw/t"),
        ("gs://bucket", "gs://bucket", "/"),
        ("abfss://c@acct.dfs.core.windows.net/t", "abfss://c@acct.dfs.core.windows.net", "/t"),
        ("dbfs:/mnt/t", "dbfs", "/mnt/t"),
        ("/data/t/day=2026-01-01/hour=3", "file", "/data/t"),
        ("/", "file", "/"),
    ],
)
def test_paths(uri, namespace, name):
    assert path_name(uri) == DatasetName(namespace, name)


@pytest.mark.parametrize(
    ("spellings", "name"),
    [
        (["b.parquet", "./b.parquet", "./a/../b.parquet", "a//../b.parquet"], "b.parquet"),
        (["/data/x", "/data/x/", "//data/./x", "file:/data/x", "file:///data/x/", "/data/x/day=1"], "/data/x"),
        (["s3://k/p", "s3a://k/p/", "S3N://k/p", "s3://me:secret@k/p"], "s3://k/p"),
        (["gs://k/p/", "gcs://k/p"], "gs://k/p"),
        (["s3://k/a/../p"], "s3://k/a/../p"),  # an object store has no folders to go up
        (["hdfs://n:8020/a/../p", "hdfs://n:8020/p/"], "hdfs://n:8020/p"),
        (["@stage/in", "@stage/in/"], "@stage/in"),
        (["out", "./out", "out/"], "./out"),
        (["s3://[k/p"], "s3://[k/p"),
    ],
)
def test_a_file_has_one_name_in_sql(spellings, name):
    assert {str(file_table(each)) for each in spellings} == {name}


def test_a_file_of_sql_is_that_of_events():
    for uri in ("file:///data/x/", "s3a://k/p", "hdfs://n:8020/p"):
        assert str(file_table(uri)) == dataset_id(path_name(uri))[0]


def test_one_partition_can_be_named():
    assert path_name("/data/t/day=1", whole_table=False).name == "/data/t/day=1"


@pytest.mark.parametrize(
    ("url", "table", "namespace", "name"),
    [
        ("jdbc:postgresql://db/shop", "public.t", "postgres://db:5432", "shop.public.t"),
        ("jdbc:postgresql://u:p@db:1/shop?user=u&password=p", "t", "postgres://db:1", "shop.t"),
        ("jdbc:postgresql://a:1,b:2/shop", "t", "postgres://a:1", "shop.t"),
        ("jdbc:mysql://db:3306/shop?password=p", "shop.t", "mysql://db:3306", "shop.t"),
        ("jdbc:mariadb://db/shop", "t", "mysql://db:3306", "shop.t"),
        ("jdbc:sqlserver://db;databaseName=shop;user=u;password=p", "dbo.t", "mssql://db:1433", "shop.dbo.t"),
        ("jdbc:oracle:thin:u/p@//db:1522/svc", "S.T", "oracle://db:1522", "svc.S.T"),
        ("jdbc:oracle:thin:@db:1521:sid", "S.T", "oracle://db:1521", "sid.S.T"),
        ("jdbc:oracle:thin:@db/svc", "S.T", "oracle://db:1521", "svc.S.T"),
        ("jdbc:derby:/tmp/shop;create=true;password=p", "APP.T", "derby", "/tmp/shop.APP.T"),
        ("jdbc:h2:mem:shop", "T", "h2", "mem:shop.T"),
        ("jdbc:trino://t:8080/hive/sales", "orders", "trino://t:8080", "hive.orders"),
    ],
)
def test_jdbc(url, table, namespace, name):
    assert jdbc_name(url, table) == DatasetName(namespace, name)


SECRET = st.text(st.characters(categories=["Lu", "Nd"]), min_size=6, max_size=12).map(lambda x: "zq" + x)


PATHS = (
    *("s3a://k:{0}@b/p", "s3://{0}@b/p", "hdfs://u:{0}@nn/p", "s3://b/p?token={0}", "s3n://K:a/{0}@b/p"),
    *("s3n://K:{0}/x@b/p", "s3n://K:a@{0}@b/p", "https://u:{0}@h:8080/p?sig={0}"),
)


@given(SECRET, st.sampled_from(PATHS))
def test_no_password_gets_through_paths(secret, url):
    assert secret not in str(path_name(url.format(secret)))
    assert secret not in str(lake_name(url.format(secret), "d.t"))
    assert secret not in str(kafka_name(f"u:{secret}@h:9092", "t"))


def test_an_at_sign_in_a_path_is_no_credential():
    assert path_name("hdfs://nn:8020/user@x/t") == DatasetName("hdfs://nn:8020", "/user@x/t")
    assert path_name("s3://bucket/a:b@c/t") == DatasetName("s3://bucket", "a:b@c/t")


@pytest.mark.parametrize(
    ("warehouse", "namespace"),
    [
        ("/data/lake", "headwater:/data/lake"),
        ("file:///data/lake/", "headwater:/data/lake"),
        ("file:/data/lake", "headwater:/data/lake"),
        ("s3a://b/lake/", "headwater:s3://b/lake"),
        ("s3://b/lake", "headwater:s3://b/lake"),
    ],
)
def test_lake_tables_have_one_name(warehouse, namespace):
    assert lake_name(warehouse, "shop.orders") == DatasetName(namespace, "shop.orders")


def test_the_others():
    assert hive_name("thrift://a:1,thrift://b:1", "d", "t") == DatasetName("hive://a:1", "d.t")
    assert kafka_name("a:9092, b:9092", "orders") == DatasetName("kafka://a:9092", "orders")
    assert str(memory_name("view")) == "inmemory://view"
    assert str(DatasetName("file", "/x")) == "file:/x"
