-- schema: t(a, b, c, d), u(x, y, z), db.dst(p, q, ds)

-- case: insert overwrite with a static partition
INSERT OVERWRITE TABLE db.dst PARTITION (ds = '2024') SELECT a, b FROM t;
--> db.dst.p <- t.a IDENTITY
--> db.dst.q <- t.b IDENTITY

-- case: insert with a dynamic partition
INSERT INTO db.dst PARTITION (ds) SELECT a, b, c FROM t;
--> db.dst.p <- t.a IDENTITY
--> db.dst.q <- t.b IDENTITY
--> db.dst.ds <- t.c IDENTITY

-- case: insert by name
INSERT INTO db.dst BY NAME SELECT a AS q, b AS p FROM t;
--> db.dst.q <- t.a IDENTITY
--> db.dst.p <- t.b IDENTITY

-- case: create table using as
CREATE TABLE n USING parquet PARTITIONED BY (b) AS SELECT a, b FROM t;
--> n.a <- t.a IDENTITY
--> n.b <- t.b IDENTITY

-- case: create or replace temp view
CREATE OR REPLACE TEMP VIEW v AS SELECT a FROM t;
INSERT INTO db.dst (p) SELECT a FROM v;
--> v.a <- t.a IDENTITY
--> db.dst.p <- v.a IDENTITY

-- case: cache table
CACHE TABLE k AS SELECT a + 1 AS n FROM t;
SELECT n FROM k;
--> k.n <- t.a TRANSFORMATION
--> n <- k.n IDENTITY

-- case: multi insert
FROM t INSERT OVERWRITE TABLE n1 SELECT a, b WHERE c > 1 INSERT INTO TABLE n2 SELECT d;
--> n1.a <- t.a IDENTITY
--> n1.b <- t.b IDENTITY
--> n1.* | t.c FILTER
--> n2.d <- t.d IDENTITY

-- case: insert overwrite directory
INSERT OVERWRITE DIRECTORY '/out' SELECT a FROM t;
--> /out.a <- t.a IDENTITY

-- case: merge with update star
MERGE INTO db.dst d USING (SELECT x AS p, y AS q, z AS ds FROM u) s ON d.p = s.p WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
--> db.dst.p <- u.x IDENTITY
--> db.dst.q <- u.y IDENTITY
--> db.dst.ds <- u.z IDENTITY
--> db.dst.* | db.dst.p MERGE, u.x MERGE

-- case: use changes what names mean
USE db;
INSERT INTO dst (p) SELECT a FROM t;
--> db.dst.p <- t.a IDENTITY

-- case: alter table add columns
CREATE TABLE n (a INT);
ALTER TABLE n ADD COLUMNS (b INT, c INT);
SELECT * FROM n;
--> a <- n.a IDENTITY
--> b <- n.b IDENTITY
--> c <- n.c IDENTITY

-- case: create table like
CREATE TABLE n LIKE u;
SELECT * FROM n;
--> x <- n.x IDENTITY
--> y <- n.y IDENTITY
--> z <- n.z IDENTITY

-- case: truncate and drop say nothing of columns
TRUNCATE TABLE t;
DROP TABLE IF EXISTS n;

-- case: set and show say nothing
SET spark.sql.shuffle.partitions = 10;
SHOW TABLES;

-- case: unknown star is table level
CREATE TABLE n AS SELECT * FROM mystery;
--> n.* <- mystery.* IDENTITY ?
--! UNKNOWN_TABLE
--! APPROXIMATE_LINEAGE

-- case: columns asked of an unknown star
WITH s AS (SELECT * FROM mystery) SELECT k, v + 1 AS w FROM s;
--> k <- mystery.k IDENTITY
--> w <- mystery.v TRANSFORMATION
--! UNKNOWN_TABLE
--! APPROXIMATE_LINEAGE
