"""The addresses of JDBC drivers: host and database stay, whatever may be a secret goes."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headwater.events.jdbc import JdbcAddress, jdbc_address
from headwater.events.naming import jdbc_name

WITH_BOTH = (
    # DB2, Informix, AS/400
    "jdbc:db2://db.example:50000/shop:user=u;password={0};",
    "jdbc:db2://db.example:50000/shop:password={0};user=u;",
    "jdbc:db2://db.example/shop:currentSchema=S;password={0};",
    "jdbc:informix-sqli://db.example:1533/shop:INFORMIXSERVER=s;user=u;password={0}",
    "jdbc:as400://db.example/shop;user=u;password={0};",
    # Teradata
    "jdbc:teradata://db.example/DATABASE=shop,USER=u,PASSWORD={0}",
    "jdbc:teradata://db.example/USER=u,PASSWORD='{0}',DATABASE=shop",
    "jdbc:teradata://db.example/DATABASE=shop,TMODE=ANSI,USER=u,PASSWORD={0},CHARSET=UTF8",
    # MySQL and MariaDB
    "jdbc:mysql://u:{0}@db.example/shop",
    "jdbc:mysql://u:{0}@db.example:3306/shop?useSSL=true&password={0}",
    "jdbc:mysql://u:{0}@h1,u2:{0}@db.example/shop",
    "jdbc:mysql://u:{0}@[db.example:3306,h2]/shop",
    "jdbc:mysql:loadbalance://u:{0}@db.example:3306,h2:3306/shop",
    "jdbc:mysql:replication://db.example,h2/shop?user=u&password={0}",
    "jdbc:mysql://(host=db.example,port=3306,user=u,password={0})/shop",
    "jdbc:mysql://(password={0},host=db.example)/shop?x=1",
    "jdbc:mysql://[(host=db.example,password={0}),(host=h2,password={0})]/shop",
    "jdbc:mysql://address=(host=db.example)(port=3306)(user=u)(password={0})/shop",
    "jdbc:mysql://u:{0}@address=(host=db.example)(port=3306)/shop",
    "jdbc:mysql:replication://address=(type=master)(host=db.example)(password={0}),address=(host=h2)/shop",
    "jdbc:mysql+srv://u:{0}@db.example/shop",
    "jdbc:mariadb:sequential://db.example:3306,h2/shop?user=u&password={0}",
    "jdbc:aws-wrapper:mysql://u:{0}@db.example/shop",
    # Postgres and its family
    "jdbc:postgresql://u:{0}@db.example:5432,h2:5432/shop?ssl=true",
    "jdbc:postgresql://db.example/shop?user=u&password={0}&ssl=true",
    "jdbc:redshift://db.example:5439/shop;UID=u;PWD={0}",
    "jdbc:redshift:iam://KEY:{0}@db.example:us-east-1/shop?x=1",
    "jdbc:vertica://db.example:5433/shop?user=u&password={0}",
    "jdbc:pivotal:greenplum://db.example:5432;DatabaseName=shop;user=u;password={0}",
    "jdbc:netezza://db.example:5480/shop;user=u;password={0}",
    # SQL Server and Sybase
    "jdbc:sqlserver://db.example:1433;databaseName=shop;user=u;password={{{0}}}",
    "jdbc:sqlserver://db.example\\inst;password={{{0};databaseName=x}};databaseName=shop",
    "jdbc:sqlserver://;serverName=db.example;databaseName=shop;password={0}",
    "jdbc:sqlserver://db.example;database=shop;user=me@corp;password={0}",
    "jdbc:jtds:sqlserver://db.example:1433/shop;user=u;password={0}",
    "jdbc:sybase:Tds:db.example:5000/shop?user=u&password={0}",
    # Oracle
    "jdbc:oracle:thin:u/{0}@db.example/shop",
    "jdbc:oracle:thin:u/{0}@//db.example:1522/shop",
    "jdbc:oracle:thin:u/{0}@db.example:1521:shop",
    "jdbc:oracle:thin:u/{0}@tcps://db.example:2484/shop?wallet_location=/w&javax.net.ssl.keyStorePassword={0}",
    "jdbc:oracle:thin:u/{0}@(DESCRIPTION=(ADDRESS=(PROTOCOL=tcp)(HOST=db.example)(PORT=1521))"
    "(CONNECT_DATA=(SERVICE_NAME=shop)))",
    "jdbc:oracle:oci:u/{0}@db.example:1521/shop",
    # warehouses and engines
    "jdbc:snowflake://db.example/?user=u&password={0}&db=shop&warehouse=w",
    "jdbc:databricks://db.example:443/shop;transportMode=http;UID=token;PWD={0}",
    "jdbc:hive2://db.example:10000,h2:10000/shop;user=u;password={0}?hive.x=1#v=2",
    "jdbc:impala://db.example:21050/shop;AuthMech=3;UID=u;PWD={0}",
    "jdbc:trino://u:{0}@db.example:8080/shop/sales?SSL=true&password={0}",
    "jdbc:presto://db.example:8080/shop?user=u&password={0}",
    "jdbc:clickhouse://u:{0}@db.example:8123/shop",
    "jdbc:ch:https://u:{0}@db.example/shop?password={0}",
    "jdbc:sap://db.example:30015/?databaseName=shop&user=u&password={0}",
    "jdbc:sap://db.example:30015;user=u;password={0};databaseName=shop",
    "jdbc:bigquery://https://db.example/bigquery/v2:443;ProjectId=shop;OAuthType=2;OAuthAccessToken={0}",
    "jdbc:mongodb://u:{0}@db.example:27017,h2:27017/shop?authSource=admin",
    "jdbc:cassandra://db.example:9042/shop?user=u&password={0}",
    "jdbc:singlestore://u:{0}@db.example/shop",
    "jdbc:vdb://db.example:9999/shop?user=u&password={0}",
    # embedded databases behind a server
    "jdbc:h2:tcp://db.example:9092/~/shop;USER=sa;PASSWORD={0}",
    "jdbc:h2:ssl://u:{0}@db.example/mem:shop;PASSWORD={0}",
    "jdbc:hsqldb:hsql://db.example:9001/shop;user=u;password={0}",
    "jdbc:derby://db.example:1527/shop;user=u;password={0}",
)
DATABASE_ONLY = (
    "jdbc:derby:shop;create=true;user=u;password={0}",
    "jdbc:derby:memory:shop;bootPassword={0}",
    "jdbc:h2:file:~/shop;USER=sa;PASSWORD={0}",
    "jdbc:h2:mem:shop;PASSWORD={0}",
    "jdbc:hsqldb:file:shop;crypt_key={0}",
    "jdbc:sqlite:/data/shop.db?cipher=x&key={0}",
    "jdbc:duckdb:md:shop?motherduck_token={0}",
    "jdbc:postgresql:shop?user=u&password={0}",
    "jdbc:cloudspanner:/projects/p/instances/i/databases/shop?credentials={0}",
)
NO_HOST = (  # with an @ in the password, these are addresses of the host behind it
    "jdbc:oracle:thin:u/{0}",
    "jdbc:oracle:oci:u/{0}",
    "jdbc:mysql://u:{0}/shop",
    "jdbc:postgresql://db.example:5432:{0}/shop",
)
NEITHER = (
    *NO_HOST,
    "jdbc:awsathena://AwsRegion=eu-west-1;User=KEY;Password={0};S3OutputLocation=s3://b/x",
    "jdbc:awsathena://Password={0};User=KEY",
    "jdbc:salesforce:User=u;Password={0};Security Token={0};Server=https://x",
    "jdbc:dynamodb:Access Key=k;Secret Key={0};Domain=amazonaws.com",
    "jdbc:dremio:direct=db.example:31010;user=u;password={0}",
    "jdbc:unheard-of:u/{0}@db.example",
    "jdbc:unheard-of:{0}",
    "jdbc:postgresql:u:{0}@db.example/shop",
    "password={0}",
    "//u:{0}@db.example/shop",
)
SHAPES = (*WITH_BOTH, *DATABASE_ONLY, *NEITHER)
PLAIN = st.text(st.sampled_from("ABCDEFGHJKLMNPQRSTVWXYZ23456789"), min_size=6, max_size=12).map(
    lambda each: f"zq{each}"
)
ODD = st.lists(PLAIN, min_size=2, max_size=3).flatmap(
    lambda parts: st.sampled_from(list("@/?#;:,&=()[]{}'\"%+ \\!|")).map(lambda joint: (joint.join(parts), parts))
)


@pytest.mark.property
@pytest.mark.parametrize("shape", SHAPES)
@given(PLAIN)
def test_no_password_is_in_a_name(shape, secret):
    assert secret not in str(jdbc_name(shape.format(secret), "t"))


@pytest.mark.property
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape not in NO_HOST])
@given(ODD)
@example(("zqFIRST@zqSECOND", ["zqFIRST", "zqSECOND"]))
@example(("zqFIRST=zqSECOND@", ["zqFIRST", "zqSECOND"]))
def test_no_part_of_an_odd_password_is_in_a_name(shape, secret):
    """Separators inside the password: where it ends may be a guess, but a wrong guess shows nothing of it."""
    whole, parts = secret
    shown = str(jdbc_name(shape.format(whole), "t"))
    assert [part for part in parts if part in shown] == []


@pytest.mark.parametrize("shape", WITH_BOTH)
@pytest.mark.parametrize("secret", ["hunter2", "Tr0ub4dor!", "p%40ss"])
def test_host_and_database_stay(shape, secret):
    found = jdbc_address(shape.format(secret))
    assert (found.host or "").partition("\\")[0] == "db.example"
    assert (found.database or "").removeprefix("~/").removeprefix("mem:") == "shop"


@pytest.mark.parametrize("shape", DATABASE_ONLY)
def test_the_database_stays(shape):
    found = jdbc_address(shape.format("hunter2"))
    assert found.host is None
    assert "shop" in found.database


@pytest.mark.parametrize("shape", NEITHER)
def test_an_address_that_is_not_understood_keeps_its_system_only(shape):
    found = jdbc_address(shape.format("hunter2"))
    assert (found.host, found.port, found.database) == (None, None, None)


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("jdbc:mysql://u:p@[::1]:3307/shop", JdbcAddress("mysql", "[::1]", 3307, "shop")),
        ("JDBC:PostgreSQL://db/shop", JdbcAddress("postgres", "db", None, "shop")),
        ("jdbc:sqlserver://db\\inst:1434;databaseName={shop}", JdbcAddress("mssql", "db\\inst", 1434, "shop")),
        ("jdbc:mysql://u:p/w?r#d@db:1/shop", JdbcAddress("mysql", "db", 1, "shop")),
        ("jdbc:postgresql://u:abc==@db/shop", JdbcAddress("postgres", "db", None, "shop")),
        ("jdbc:teradata://td", JdbcAddress("teradata", "td")),
        ("jdbc:exa:h1..h3:8563;schema=s;password=p", JdbcAddress("exa", "h1..h3", 8563)),
        ("jdbc:phoenix:zk1,zk2:2181:/hbase", JdbcAddress("phoenix", "zk1", None, "hbase")),
        ("jdbc:oracle:thin:@tns_name", JdbcAddress("oracle", "tns_name")),
        ("jdbc:oracle:thin:@h1:1521,h2:1522/svc", JdbcAddress("oracle", "h1", 1521, "svc")),
        ("", JdbcAddress("jdbc")),
        ("jdbc:", JdbcAddress("jdbc")),
        ("jdbc:mysql://", JdbcAddress("mysql")),
    ],
)
def test_addresses(url, found):
    assert jdbc_address(url) == found


@given(st.text(st.sampled_from("jdbcmysqlorathin:/@;?=,()[]{}'\"&#u1. \\"), max_size=60))
def test_no_text_is_too_odd(text):
    """Any text has a name, soon."""
    jdbc_name(f"jdbc:{text}", "t")
