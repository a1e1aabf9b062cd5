-- schema: t(a, b, c), u(x, y), dst(p, q)

-- case: select
SELECT a, b || c AS bc FROM t WHERE a > 1;
--> a <- t.a IDENTITY
--> bc <- t.b TRANSFORMATION, t.c TRANSFORMATION
--> * | t.a FILTER

-- case: insert or replace
INSERT OR REPLACE INTO dst (p, q) SELECT x, y FROM u;
--> dst.p <- u.x IDENTITY
--> dst.q <- u.y IDENTITY

-- case: replace into
REPLACE INTO dst (p) SELECT a FROM t;
--> dst.p <- t.a IDENTITY

-- case: upsert
INSERT INTO dst (p, q) SELECT x, y FROM u WHERE true ON CONFLICT (p) DO UPDATE SET q = excluded.q;
--> dst.p <- u.x IDENTITY
--> dst.q <- u.y IDENTITY

-- case: iif
SELECT IIF(a > 1, b, c) AS i FROM t;
--> i <- t.b TRANSFORMATION, t.c TRANSFORMATION | t.a CONDITIONAL

-- case: recursive
WITH RECURSIVE s (n) AS (SELECT a FROM t UNION ALL SELECT n + 1 FROM s WHERE n < 9) SELECT n FROM s;
--> n <- t.a TRANSFORMATION
--> * | t.a FILTER

-- case: create temp table as
CREATE TEMP TABLE n AS SELECT a FROM t;
SELECT * FROM n;
--> n.a <- t.a IDENTITY
--> a <- n.a IDENTITY

-- case: update from
UPDATE t SET a = u.y FROM u WHERE u.x = t.b;
--> t.a <- u.y IDENTITY
--> t.* | u.x FILTER, t.b FILTER

-- case: group_concat
SELECT group_concat(a, ',') AS l FROM t GROUP BY b;
--> l <- t.a AGGREGATION
--> * | t.b GROUP_BY

-- case: json extract
SELECT json_extract(c, '$.k') AS k FROM t;
--> k <- t.c.k TRANSFORMATION

-- case: window with a filter
SELECT sum(a) FILTER (WHERE b > 0) OVER (ORDER BY c) AS s FROM t;
--> s <- t.a AGGREGATION | t.b CONDITIONAL, t.c WINDOW

-- case: alter table
CREATE TABLE n (a, b);
ALTER TABLE n RENAME COLUMN a TO k;
ALTER TABLE n ADD COLUMN c TEXT;
SELECT * FROM n;
--> n.k <- n.a IDENTITY
--> k <- n.k IDENTITY
--> b <- n.b IDENTITY
--> c <- n.c IDENTITY

-- case: view over a view
CREATE VIEW v AS SELECT a AS k FROM t;
CREATE VIEW w AS SELECT k AS l FROM v;
--> v.k <- t.a IDENTITY
--> w.l <- v.k IDENTITY

-- case: delete with limit by subquery
DELETE FROM t WHERE a IN (SELECT x FROM u ORDER BY y LIMIT 1);
--> t.* | t.a FILTER, u.x FILTER, u.y FILTER
