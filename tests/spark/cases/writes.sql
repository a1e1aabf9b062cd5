-- case: insert into
INSERT INTO dst SELECT a, c FROM t WHERE b > 1;
--> dst.p <- t.a IDENTITY
--> dst.q <- t.c IDENTITY
--> dst.* | t.b FILTER

-- case: insert overwrite
INSERT OVERWRITE dst SELECT x + 1, z FROM u;
--> dst.p <- u.x TRANSFORMATION
--> dst.q <- u.z IDENTITY

-- case: insert with a column list
INSERT INTO dst (q, p) SELECT c, a FROM t;
--> dst.p <- t.a IDENTITY
--> dst.q <- t.c IDENTITY

-- case: insert by name
INSERT INTO dst BY NAME SELECT c AS q, a AS p FROM t;
--> dst.p <- t.a IDENTITY
--> dst.q <- t.c IDENTITY

-- case: insert of fewer columns
INSERT INTO dst (p) SELECT a FROM t;
--> dst.p <- t.a IDENTITY
--> dst.q

-- case: insert values
INSERT INTO dst VALUES (1, 'x'), (2, 'y');
--> dst.p
--> dst.q

-- case: insert that the types do not fit
INSERT INTO dst SELECT id, j FROM ev;
--> dst.p <- ev.id IDENTITY
--> dst.q <- ev.j IDENTITY

-- case: insert into a static partition
INSERT OVERWRITE part PARTITION (ds = '2026-01-01') SELECT a FROM t;
--> part.p <- t.a IDENTITY
--> part.ds

-- case: insert into a dynamic partition
INSERT INTO part PARTITION (ds) SELECT a, c FROM t;
--> part.p <- t.a IDENTITY
--> part.ds <- t.c IDENTITY

-- case: create table as select
CREATE TABLE made USING parquet AS SELECT a + b AS n, c FROM t WHERE c IN (SELECT z FROM u);
--> made.n <- t.a TRANSFORMATION, t.b TRANSFORMATION
--> made.c <- t.c IDENTITY
--> made.* | t.c FILTER, u.z FILTER

-- case: create table as select from a cte
CREATE TABLE made USING parquet PARTITIONED BY (c) AS WITH w AS (SELECT a, c FROM t) SELECT sum(a) AS s, c FROM w GROUP BY c;
--> made.s <- t.a AGGREGATION
--> made.c <- t.c IDENTITY
--> made.* | t.c GROUP_BY

-- case: create a view
CREATE OR REPLACE VIEW made_view AS SELECT a AS k, max(b) AS m FROM t GROUP BY a;
--> made_view.k <- t.a IDENTITY
--> made_view.m <- t.b AGGREGATION
--> made_view.* | t.a GROUP_BY

-- case: create a view with names
CREATE VIEW named_view (k COMMENT 'key', v) AS SELECT a, upper(c) FROM t;
--> named_view.k <- t.a IDENTITY
--> named_view.v <- t.c TRANSFORMATION

-- case: alter a view
ALTER VIEW view_of_t AS SELECT y AS n, x AS b FROM u;
--> view_of_t.n <- u.y IDENTITY
--> view_of_t.b <- u.x IDENTITY

-- case: create a temporary view
CREATE TEMPORARY VIEW tv AS SELECT a FROM t;
--> tv.a <- t.a IDENTITY

-- case: cache table as select
CACHE TABLE hot AS SELECT a, b FROM t WHERE c = 'x';
--> hot.a <- t.a IDENTITY
--> hot.b <- t.b IDENTITY
--> hot.* | t.c FILTER

-- case: multi-insert
FROM t INSERT INTO dst SELECT a, c WHERE b > 1 INSERT OVERWRITE part PARTITION (ds = 'x') SELECT b;
--> dst.p <- t.a IDENTITY
--> dst.q <- t.c IDENTITY
--> dst.* | t.b FILTER
--> part.p <- t.b IDENTITY
--> part.ds

-- case: hive table
INSERT INTO hive_dst SELECT a, upper(c) FROM t;
--> hive_dst.p <- t.a IDENTITY
--> hive_dst.q <- t.c TRANSFORMATION

-- case: hive create table as select
CREATE TABLE made STORED AS TEXTFILE AS SELECT h.p, u.z FROM hive_dst h JOIN u ON h.p = u.x;
--> made.p <- hive_dst.p IDENTITY
--> made.z <- u.z IDENTITY
--> made.* | hive_dst.p JOIN, u.x JOIN

-- case: execute immediate
EXECUTE IMMEDIATE 'SELECT a + 1 AS n FROM t';
--> n <- t.a TRANSFORMATION

-- case: explain writes nothing
DESCRIBE TABLE t;
