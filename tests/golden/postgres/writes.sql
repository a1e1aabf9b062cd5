-- schema: t(a, b, c, d), u(x, y, z), d1(p, q, r)

-- case: insert with a column list
INSERT INTO d1 (q, p) SELECT a, b + 1 FROM t;
--> d1.q <- t.a IDENTITY
--> d1.p <- t.b TRANSFORMATION

-- case: insert by position
INSERT INTO d1 SELECT x, y, z FROM u WHERE x > 0;
--> d1.p <- u.x IDENTITY
--> d1.q <- u.y IDENTITY
--> d1.r <- u.z IDENTITY
--> d1.* | u.x FILTER

-- case: insert into an unknown table takes the names selected
INSERT INTO nowhere SELECT a AS k, b FROM t;
--> nowhere.k <- t.a IDENTITY
--> nowhere.b <- t.b IDENTITY

-- case: insert with a cte
WITH s AS (SELECT a, b FROM t) INSERT INTO d1 (p, q) SELECT b, a FROM s;
--> d1.p <- t.b IDENTITY
--> d1.q <- t.a IDENTITY

-- case: insert of values
INSERT INTO d1 (p, q) VALUES (1, 'x'), (2, 'y');
--> d1.p
--> d1.q

-- case: insert of values with a subquery
INSERT INTO d1 (p, q) VALUES ((SELECT MAX(x) FROM u WHERE y = 1), 2);
--> d1.p <- u.x AGGREGATION | u.y FILTER
--> d1.q

-- case: insert or update
INSERT INTO d1 (p, q) SELECT a, b FROM t ON CONFLICT (p) DO UPDATE SET q = EXCLUDED.q + d1.r;
--> d1.p <- t.a IDENTITY
--> d1.q <- t.b IDENTITY, t.b TRANSFORMATION, d1.r TRANSFORMATION

-- case: create table as
CREATE TABLE n AS SELECT a, b AS k FROM t;
--> n.a <- t.a IDENTITY
--> n.k <- t.b IDENTITY

-- case: create view with a column list
CREATE VIEW v (k, l) AS SELECT a, b + c FROM t;
--> v.k <- t.a IDENTITY
--> v.l <- t.b TRANSFORMATION, t.c TRANSFORMATION

-- case: create materialized view
CREATE MATERIALIZED VIEW mv AS SELECT a, COUNT(*) AS n FROM t GROUP BY a;
--> mv.a <- t.a IDENTITY
--> mv.n
--> mv.* | t.a GROUP_BY

-- case: select into
SELECT a, b INTO n FROM t;
--> n.a <- t.a IDENTITY
--> n.b <- t.b IDENTITY

-- case: update
UPDATE t SET a = b + 1, c = 'x' WHERE d > 0;
--> t.a <- t.b TRANSFORMATION
--> t.c
--> t.* | t.d FILTER

-- case: update from
UPDATE t SET a = u.y, b = u.z || t.c FROM u WHERE t.d = u.x;
--> t.a <- u.y IDENTITY
--> t.b <- u.z TRANSFORMATION, t.c TRANSFORMATION
--> t.* | t.d FILTER, u.x FILTER

-- case: update with an alias and a subquery
UPDATE t AS k SET a = (SELECT MAX(y) FROM u WHERE u.x = k.b);
--> t.a <- u.y AGGREGATION | u.x FILTER, t.b FILTER

-- case: update of several columns at once
UPDATE t SET (a, b) = (SELECT y, z FROM u WHERE u.x = t.c);
--> t.a <- u.y IDENTITY | u.x FILTER, t.c FILTER
--> t.b <- u.z IDENTITY | u.x FILTER, t.c FILTER

-- case: update with a cte
WITH s AS (SELECT x, MAX(y) AS m FROM u GROUP BY x) UPDATE t SET a = s.m FROM s WHERE s.x = t.b;
--> t.a <- u.y AGGREGATION
--> t.* | u.x FILTER, t.b FILTER, u.x GROUP_BY

-- case: delete
DELETE FROM t WHERE a > 1;
--> t.* | t.a FILTER

-- case: delete using
DELETE FROM t USING u WHERE t.a = u.x AND u.y > 0;
--> t.* | t.a FILTER, u.x FILTER, u.y FILTER

-- case: merge
MERGE INTO d1 USING u ON d1.p = u.x WHEN MATCHED AND u.z > 0 THEN UPDATE SET q = u.y WHEN NOT MATCHED THEN INSERT (p, q) VALUES (u.x, u.y * 2);
--> d1.q <- u.y TRANSFORMATION, u.y IDENTITY
--> d1.p <- u.x IDENTITY
--> d1.* | d1.p MERGE, u.x MERGE, u.z MERGE

-- case: merge with a query and delete
MERGE INTO d1 AS d USING (SELECT a, SUM(b) AS s FROM t GROUP BY a) AS n ON d.p = n.a WHEN MATCHED AND n.s = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET r = n.s + d.r;
--> d1.r <- t.b AGGREGATION, d1.r TRANSFORMATION
--> d1.* | d1.p MERGE, t.a MERGE, t.b MERGE, t.a GROUP_BY

-- case: truncate
TRUNCATE TABLE t;


-- case: copy from a file
COPY d1 (p, q) FROM '/data/x.csv' CSV;
--> d1.p <- /data/x.csv.* IDENTITY ?
--> d1.q <- /data/x.csv.* IDENTITY ?

-- case: copy a query to a file
COPY (SELECT a, b FROM t WHERE c = 1) TO '/data/y.csv';
--> /data/y.csv.a <- t.a IDENTITY
--> /data/y.csv.b <- t.b IDENTITY
--> /data/y.csv.* | t.c FILTER

-- case: a chain of temporary tables
CREATE TEMP TABLE s1 AS SELECT a, b FROM t;
CREATE TEMP TABLE s2 AS SELECT *, a + b AS ab FROM s1;
INSERT INTO d1 (p) SELECT ab FROM s2;
--> s1.a <- t.a IDENTITY
--> s1.b <- t.b IDENTITY
--> s2.a <- s1.a IDENTITY
--> s2.b <- s1.b IDENTITY
--> s2.ab <- s1.a TRANSFORMATION, s1.b TRANSFORMATION
--> d1.p <- s2.ab IDENTITY

-- case: alter table changes what a star is
CREATE TABLE n (a int, b int);
ALTER TABLE n ADD COLUMN c text;
ALTER TABLE n RENAME COLUMN a TO k;
ALTER TABLE n DROP COLUMN b;
INSERT INTO n SELECT x, y FROM u;
SELECT * FROM n;
--> n.k <- n.a IDENTITY
--> n.k <- u.x IDENTITY
--> n.c <- u.y IDENTITY
--> k <- n.k IDENTITY
--> c <- n.c IDENTITY

-- case: rename table
CREATE TABLE n (a int);
ALTER TABLE n RENAME TO m;
SELECT * FROM m;
--> m.a <- n.a IDENTITY
--> a <- m.a IDENTITY

-- case: create table like
CREATE TABLE n (LIKE u);
INSERT INTO n SELECT a, b, c FROM t;
--> n.x <- t.a IDENTITY
--> n.y <- t.b IDENTITY
--> n.z <- t.c IDENTITY

-- case: a table re-created later does not change earlier lineage
CREATE TABLE n AS SELECT a FROM t;
SELECT * FROM n;
DROP TABLE n;
CREATE TABLE n AS SELECT x FROM u;
SELECT * FROM n;
--> n.a <- t.a IDENTITY
--> a <- n.a IDENTITY
--> n.x <- u.x IDENTITY
--> x <- n.x IDENTITY

-- case: a function in quotes is entered
CREATE FUNCTION load() RETURNS void AS $$ INSERT INTO d1 (p) SELECT a FROM t; DELETE FROM u WHERE x = 1; $$ LANGUAGE sql;
--> d1.p <- t.a IDENTITY
--> u.* | u.x FILTER

-- case: a procedural block
CREATE PROCEDURE p() AS $$ DECLARE n int; m int; BEGIN IF n > 1 THEN INSERT INTO d1 (p) SELECT a FROM t; ELSE UPDATE d1 SET q = r; END IF; END $$ LANGUAGE plpgsql;
--> d1.p <- t.a IDENTITY
--> d1.q <- d1.r IDENTITY

-- case: an anonymous block
DO $$ BEGIN INSERT INTO d1 (p) SELECT x FROM u; END $$;
--> d1.p <- u.x IDENTITY

-- case: a cte only a subquery uses
WITH s AS (SELECT MAX(y) AS m FROM u WHERE z = 1) UPDATE t SET a = (SELECT m FROM s);
--> t.a <- u.y AGGREGATION | u.z FILTER

-- case: delete with a cte
WITH s AS (SELECT x FROM u WHERE y = 1) DELETE FROM t WHERE a IN (SELECT x FROM s);
--> t.* | t.a FILTER, u.x FILTER, u.y FILTER

-- case: delete returning
DELETE FROM t WHERE a = 1 RETURNING b;
--> t.* | t.a FILTER
