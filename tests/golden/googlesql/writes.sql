-- schema: t(a INT64, b INT64, c INT64, n STRING, d DATE, ts TIMESTAMP, f FLOAT64, j JSON, s STRUCT<x INT64, y STRUCT<z INT64, w STRING>>, arr ARRAY<INT64>, sa ARRAY<STRUCT<k INT64, v STRING>>), u(a INT64, z INT64, n STRING, f FLOAT64), w(a INT64, q INT64)

-- case: create table as select
CREATE TABLE d.x AS SELECT a, b + c AS bc FROM t;
--> d.x.a <- t.a IDENTITY
--> d.x.bc <- t.b TRANSFORMATION, t.c TRANSFORMATION

-- case: create or replace, partitioned and clustered
CREATE OR REPLACE TABLE d.x PARTITION BY d CLUSTER BY a AS SELECT a, d FROM t;
--> d.x.a <- t.a IDENTITY
--> d.x.d <- t.d IDENTITY

-- case: create table with a column list
CREATE TABLE d.x (p INT64, q STRING) AS SELECT a, n FROM t;
--> d.x.p <- t.a IDENTITY
--> d.x.q <- t.n IDENTITY

-- case: create view
CREATE VIEW d.v AS SELECT a AS z, b FROM t;
--> d.v.z <- t.a IDENTITY
--> d.v.b <- t.b IDENTITY

-- case: create view with a column list
CREATE VIEW d.v (p, q) AS SELECT a, b FROM t;
--> d.v.p <- t.a IDENTITY
--> d.v.q <- t.b IDENTITY

-- case: materialized view
CREATE MATERIALIZED VIEW d.m AS SELECT a, SUM(b) AS s FROM t GROUP BY a;
--> d.m.a <- t.a IDENTITY
--> d.m.s <- t.b AGGREGATION
--> d.m.* | t.a GROUP_BY

-- case: insert with a column list, by position
INSERT INTO u (n, a) SELECT n, b FROM t;
--> u.n <- t.n IDENTITY
--> u.a <- t.b IDENTITY

-- case: insert without a column list
INSERT INTO u SELECT a, b, n, f FROM t;
--> u.a <- t.a IDENTITY
--> u.z <- t.b IDENTITY
--> u.n <- t.n IDENTITY
--> u.f <- t.f IDENTITY

-- case: insert with the same source twice
INSERT INTO u (a, z) SELECT b, b FROM t;
--> u.a <- t.b IDENTITY
--> u.z <- t.b IDENTITY

-- case: insert values
INSERT INTO u (a, n) VALUES (1, 'x'), (2, 'y');
--> u.a
--> u.n

-- case: insert values with subqueries
INSERT INTO u (a, z) VALUES ((SELECT MAX(b) FROM t), (SELECT MIN(q) FROM w) + 1);
--> u.a <- t.b AGGREGATION
--> u.z <- w.q AGGREGATION

-- case: insert with a cte
INSERT INTO u (a) WITH c AS (SELECT a + b AS ab FROM t) SELECT ab FROM c;
--> u.a <- t.a TRANSFORMATION, t.b TRANSFORMATION

-- case: insert of a union
INSERT INTO u (a, n) SELECT a, n FROM t UNION ALL SELECT q, 'x' FROM w;
--> u.a <- t.a IDENTITY, w.q IDENTITY
--> u.n <- t.n IDENTITY

-- case: insert into a table read by the query
INSERT INTO u (a, z) SELECT z, a FROM u WHERE n = 'x';
--> u.a <- u.z IDENTITY
--> u.z <- u.a IDENTITY
--> u.* | u.n FILTER

-- case: insert a default
INSERT INTO u (a, z) VALUES (1, DEFAULT);
--> u.a
--> u.z

-- case: insert a struct
INSERT INTO t (a, s) SELECT z, STRUCT(a, STRUCT(z, n)) FROM u;
--> t.a <- u.z IDENTITY
--> t.s.x <- u.a IDENTITY
--> t.s.y.z <- u.z IDENTITY
--> t.s.y.w <- u.n IDENTITY

-- case: update
UPDATE u SET z = a + 1, n = UPPER(n) WHERE f > 1;
--> u.z <- u.a TRANSFORMATION
--> u.n <- u.n TRANSFORMATION
--> u.* | u.f FILTER

-- case: update from
UPDATE u SET z = t.b, n = t.n FROM t WHERE t.a = u.a AND t.c > 1;
--> u.z <- t.b IDENTITY
--> u.n <- t.n IDENTITY
--> u.* | t.a FILTER, u.a FILTER, t.c FILTER

-- case: update by a correlated subquery
UPDATE u SET z = (SELECT MAX(b) FROM t WHERE t.a = u.a) WHERE true;
--> u.z <- t.b AGGREGATION | t.a FILTER, u.a FILTER

-- case: update of a field
UPDATE t SET s.x = b + 1, s.y.w = n WHERE a = 1;
--> t.s.x <- t.b TRANSFORMATION
--> t.s.y.w <- t.n IDENTITY
--> t.* | t.a FILTER

-- case: update of a whole struct
UPDATE t SET s = STRUCT(a, STRUCT(b, n)) WHERE true;
--> t.s.x <- t.a IDENTITY
--> t.s.y.z <- t.b IDENTITY
--> t.s.y.w <- t.n IDENTITY

-- case: update of an array
UPDATE t SET arr = ARRAY_CONCAT(arr, [b]) WHERE true;
--> t.arr <- t.arr TRANSFORMATION, t.b TRANSFORMATION

-- case: update of an element
UPDATE t SET arr[OFFSET(0)] = b WHERE true;
--> t.arr[] <- t.b IDENTITY

-- case: update of a field of an element
UPDATE t SET sa[OFFSET(0)].v = n WHERE true;
--> t.sa[].v <- t.n IDENTITY

-- case: nested update
UPDATE t SET (UPDATE sa SET v = CONCAT(v, n) WHERE k > 1) WHERE a = 1;
--> t.sa[].v <- t.sa[].v TRANSFORMATION, t.n TRANSFORMATION
--> t.* | t.a FILTER

-- case: nested insert
UPDATE t SET (INSERT arr VALUES (a), (b)) WHERE true;
--> t.arr[] <- t.a IDENTITY, t.b IDENTITY

-- case: nested insert of a query
UPDATE t SET (INSERT arr SELECT z FROM u) WHERE true;
--> t.arr[] <- u.z IDENTITY

-- case: nested delete
UPDATE t SET (DELETE sa WHERE k = 1) WHERE a = 2;
--> t.* | t.a FILTER

-- case: update to default
UPDATE u SET z = DEFAULT WHERE a = 1;
--> u.z
--> u.* | u.a FILTER

-- case: delete
DELETE FROM u WHERE a > 3 AND n = 'x';
--> u.* | u.a FILTER, u.n FILTER

-- case: delete by a subquery
DELETE u WHERE a IN (SELECT a FROM t WHERE b = 1);
--> u.* | t.a FILTER, u.a FILTER, t.b FILTER

-- case: truncate
TRUNCATE TABLE u;


-- case: merge
MERGE u USING t ON u.a = t.a
WHEN MATCHED AND t.b > 1 THEN UPDATE SET z = t.c, n = CONCAT(u.n, t.n)
WHEN NOT MATCHED THEN INSERT (a, z) VALUES (t.a, t.b + 1);
--> u.z <- t.c IDENTITY, t.b TRANSFORMATION
--> u.n <- u.n TRANSFORMATION, t.n TRANSFORMATION
--> u.a <- t.a IDENTITY
--> u.* | u.a MERGE, t.a MERGE, t.b MERGE

-- case: merge insert row
MERGE w USING (SELECT a, b AS q FROM t) AS x ON w.a = x.a WHEN NOT MATCHED THEN INSERT ROW;
--> w.a <- t.a IDENTITY
--> w.q <- t.b IDENTITY
--> w.* | w.a MERGE, t.a MERGE

-- case: merge insert some columns of a row
MERGE u USING (SELECT a, b AS z FROM t) AS x ON u.a = x.a WHEN NOT MATCHED THEN INSERT (a, z) ROW;
--> u.a <- t.a IDENTITY
--> u.z <- t.b IDENTITY
--> u.* | u.a MERGE, t.a MERGE

-- case: merge by source
MERGE u USING w ON u.a = w.a
WHEN NOT MATCHED BY SOURCE AND u.z > 5 THEN UPDATE SET n = 'gone'
WHEN NOT MATCHED BY SOURCE THEN DELETE;
--> u.n
--> u.* | u.a MERGE, w.a MERGE, u.z MERGE

-- case: merge of a field
MERGE t USING u ON t.a = u.a WHEN MATCHED THEN UPDATE SET s.x = u.z;
--> t.s.x <- u.z IDENTITY
--> t.* | t.a MERGE, u.a MERGE

-- case: merge on false replaces
MERGE u USING t ON FALSE WHEN NOT MATCHED THEN INSERT (a) VALUES (b) WHEN NOT MATCHED BY SOURCE THEN DELETE;
--> u.a <- t.b IDENTITY

-- case: clone
CREATE TABLE d.k CLONE u;
--> d.k.a <- u.a IDENTITY
--> d.k.z <- u.z IDENTITY
--> d.k.n <- u.n IDENTITY
--> d.k.f <- u.f IDENTITY

-- case: copy
CREATE TABLE d.k COPY u;
--> d.k.a <- u.a IDENTITY
--> d.k.z <- u.z IDENTITY
--> d.k.n <- u.n IDENTITY
--> d.k.f <- u.f IDENTITY

-- case: like makes no data flow
CREATE TABLE d.k LIKE u;
SELECT z FROM d.k;
--> z <- d.k.z IDENTITY

-- case: snapshot
CREATE SNAPSHOT TABLE d.k CLONE u;
--> d.k.a <- u.a IDENTITY
--> d.k.z <- u.z IDENTITY
--> d.k.n <- u.n IDENTITY
--> d.k.f <- u.f IDENTITY

-- case: export data
EXPORT DATA OPTIONS (uri = 'gs://bucket/x-*.csv', format = 'CSV') AS SELECT a, b + c AS bc FROM t;
--> gs://bucket/x-*.csv.a <- t.a IDENTITY
--> gs://bucket/x-*.csv.bc <- t.b TRANSFORMATION, t.c TRANSFORMATION

-- case: load data overwrite
LOAD DATA OVERWRITE d.l (p INT64, q STRING) FROM FILES (format = 'CSV', uris = ['gs://bucket/x.csv']);
SELECT p FROM d.l;
--> d.l.p <- gs://bucket/x.csv.* IDENTITY ?
--> d.l.q <- gs://bucket/x.csv.* IDENTITY ?
--> p <- d.l.p IDENTITY

-- case: external table
CREATE EXTERNAL TABLE d.e (p INT64) OPTIONS (format = 'CSV', uris = ['gs://bucket/y.csv']);
SELECT p FROM d.e;
--> d.e.p <- gs://bucket/y.csv.* IDENTITY ?
--> p <- d.e.p IDENTITY

-- case: create model
CREATE MODEL d.m OPTIONS (model_type = 'linear_reg') AS SELECT a, f AS label FROM t;
--> d.m.a <- t.a IDENTITY
--> d.m.label <- t.f IDENTITY

-- case: create, alter, then read
CREATE TABLE d.x (p INT64);
ALTER TABLE d.x ADD COLUMN q STRING;
INSERT INTO d.x (p, q) SELECT a, n FROM t;
ALTER TABLE d.x RENAME COLUMN q TO r;
SELECT r FROM d.x;
--> d.x.p <- t.a IDENTITY
--> d.x.q <- t.n IDENTITY
--> d.x.r <- d.x.q IDENTITY
--> r <- d.x.r IDENTITY

-- case: dropped tables are gone
CREATE TABLE d.x AS SELECT a FROM t;
DROP TABLE d.x;
SELECT a FROM d.x;
--> d.x.a <- t.a IDENTITY
--> a <- d.x.a IDENTITY
--! UNKNOWN_TABLE

-- case: renamed tables keep their columns
CREATE TABLE d.x AS SELECT a FROM t;
ALTER TABLE d.x RENAME TO y;
SELECT a FROM d.y;
--> d.x.a <- t.a IDENTITY
--> d.y.a <- d.x.a IDENTITY
--> a <- d.y.a IDENTITY

-- case: statements without data
CREATE SCHEMA d2;
GRANT SELECT ON TABLE u TO 'user:x@y.z';
ASSERT (SELECT COUNT(*) FROM u) > 0;
BEGIN TRANSACTION;
COMMIT TRANSACTION;

