-- Files: one dataset, however its path is spelt.

-- case: a path in several ways
CREATE TABLE a AS SELECT x FROM './d/../b.parquet';
CREATE TABLE c AS SELECT x FROM read_parquet('b.parquet');
SELECT w FROM "b.parquet";
--> a.x <- b.parquet.x IDENTITY
--> c.x <- b.parquet.x IDENTITY
--> w <- b.parquet.w IDENTITY

-- case: schemes and slashes
SELECT a FROM 'file:///data/x.csv';
SELECT a FROM read_csv('/data//x.csv');
SELECT v FROM parquet_scan('s3a://bucket/p/');
SELECT v FROM 's3://bucket/p';
--> a <- /data/x.csv.a IDENTITY
--> a <- /data/x.csv.a IDENTITY
--> v <- s3://bucket/p.v IDENTITY
--> v <- s3://bucket/p.v IDENTITY

-- case: out and in again
COPY (SELECT a FROM t) TO './out/';
COPY u FROM 'out';
--> ./out.a <- t.a IDENTITY
--> u.* <- ./out.* IDENTITY ?

-- case: a folder is not the table of its name
CREATE TABLE out (a INT);
COPY (SELECT b FROM t) TO 'out';
--> ./out.b <- t.b IDENTITY

-- case: several files
SELECT k FROM read_parquet(['b.parquet', './c.parquet', 'x/../c.parquet']);
SELECT * FROM read_csv(['b.csv', 'c.csv']);
--> k <- b.parquet.k IDENTITY, c.parquet.k IDENTITY
--> * <- b.csv.* IDENTITY ?, c.csv.* IDENTITY ?
--! APPROXIMATE_LINEAGE
