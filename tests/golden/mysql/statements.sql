-- schema: t(a, b, c, d), u(x, y, z), dst(p, q, r)

-- case: backquoted names
SELECT `t`.`a` AS `k` FROM `t`;
--> k <- t.a IDENTITY

-- case: if and ifnull
SELECT IF(a > 0, b, c) AS i, IFNULL(a, b) AS n FROM t;
--> i <- t.b TRANSFORMATION, t.c TRANSFORMATION | t.a CONDITIONAL
--> n <- t.a TRANSFORMATION, t.b TRANSFORMATION | t.a CONDITIONAL, t.b CONDITIONAL

-- case: group_concat with order
SELECT GROUP_CONCAT(a ORDER BY b SEPARATOR ',') AS l FROM t;
--> l <- t.a AGGREGATION | t.b WINDOW

-- case: group by with rollup
SELECT a, SUM(b) AS s FROM t GROUP BY a WITH ROLLUP;
--> a <- t.a IDENTITY
--> s <- t.b AGGREGATION
--> * | t.a GROUP_BY

-- case: multi table update
UPDATE t JOIN u ON t.a = u.x SET t.b = u.y, t.c = t.d + 1 WHERE u.z > 0;
--> t.b <- u.y IDENTITY
--> t.c <- t.d TRANSFORMATION
--> t.* | t.a JOIN, u.x JOIN, u.z FILTER

-- case: multi table delete
DELETE t FROM t JOIN u ON t.a = u.x WHERE u.y = 1;
--> t.* | t.a JOIN, u.x JOIN, u.y FILTER

-- case: insert or update
INSERT INTO dst (p, q) SELECT a, b FROM t ON DUPLICATE KEY UPDATE q = VALUES(q) + 1, r = dst.r;
--> dst.p <- t.a IDENTITY
--> dst.q <- t.b IDENTITY, t.b TRANSFORMATION
--> dst.r <- dst.r IDENTITY

-- case: replace
REPLACE INTO dst (p) SELECT a FROM t;
--> dst.p <- t.a IDENTITY

-- case: insert set
INSERT INTO dst VALUES (1, (SELECT MAX(x) FROM u), 2);
--> dst.p
--> dst.q <- u.x AGGREGATION
--> dst.r

-- case: json operators
SELECT d->'$.addr.city' AS c1, d->>'$.n' AS c2, JSON_EXTRACT(d, '$.k') AS c3 FROM t;
--> c1 <- t.d.addr.city TRANSFORMATION
--> c2 <- t.d.n TRANSFORMATION
--> c3 <- t.d.k TRANSFORMATION

-- case: json table
SELECT j.sku, j.n FROM t, JSON_TABLE(t.d, '$[*]' COLUMNS (sku VARCHAR(10) PATH '$.sku', n INT PATH '$.q.n')) AS j;
--> sku <- t.d[].sku TRANSFORMATION
--> n <- t.d[].q.n TRANSFORMATION
--> * | t.d JOIN

-- case: straight join and natural join
SELECT a, y FROM t STRAIGHT_JOIN u ON t.a = u.x;
--> a <- t.a IDENTITY
--> y <- u.y IDENTITY
--> * | t.a JOIN, u.x JOIN

-- case: variables come from nowhere
SELECT @n AS n, a + @n AS m FROM t;
--> n
--> m <- t.a TRANSFORMATION

-- case: create table as with columns of its own
CREATE TABLE n (k INT) AS SELECT a AS k FROM t;
--> n.k <- t.a IDENTITY

-- case: create table like
CREATE TABLE n LIKE u;
INSERT INTO n SELECT a, b, c FROM t;
--> n.x <- t.a IDENTITY
--> n.y <- t.b IDENTITY
--> n.z <- t.c IDENTITY

-- case: temporary table
CREATE TEMPORARY TABLE s AS SELECT a FROM t;
INSERT INTO dst (p) SELECT a FROM s;
--> s.a <- t.a IDENTITY
--> dst.p <- s.a IDENTITY

-- case: alter table change column
CREATE TABLE n (a INT, b INT);
ALTER TABLE n ADD COLUMN c INT AFTER a;
ALTER TABLE n DROP COLUMN b;
SELECT * FROM n;
--> a <- n.a IDENTITY
--> c <- n.c IDENTITY

-- case: rename column
CREATE TABLE n (a INT);
ALTER TABLE n RENAME COLUMN a TO k;
SELECT * FROM n;
--> n.k <- n.a IDENTITY
--> k <- n.k IDENTITY

-- case: exists and scalar subquery
SELECT a, (SELECT COUNT(*) FROM u WHERE u.x = t.a) AS n FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.y = t.b);
--> a <- t.a IDENTITY
--> n | u.x FILTER, t.a FILTER
--> * | u.y FILTER, t.b FILTER

-- case: window
SELECT a, RANK() OVER (PARTITION BY b ORDER BY c) AS r FROM t;
--> a <- t.a IDENTITY
--> r | t.b WINDOW, t.c WINDOW

-- case: recursive numbers
WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 5) SELECT n, a FROM s JOIN t ON t.b = s.n;
--> n
--> a <- t.a IDENTITY
--> * | t.b JOIN

-- case: union with limit in parentheses
(SELECT a FROM t ORDER BY b LIMIT 1) UNION (SELECT x FROM u);
--> a <- t.a IDENTITY, u.x IDENTITY
--> * | t.a GROUP_BY, u.x GROUP_BY, t.b SORT

-- case: elt and field
SELECT ELT(a, b, c) AS e, MD5(d) AS h FROM t;
--> e <- t.b TRANSFORMATION, t.c TRANSFORMATION | t.a CONDITIONAL
--> h <- t.d TRANSFORMATION masked

-- case: procedure body
CREATE PROCEDURE p() BEGIN INSERT INTO dst (p) SELECT a FROM t; IF 1 = 1 THEN DELETE FROM u WHERE x = 1; END IF; END;
--> dst.p <- t.a IDENTITY
--> u.* | u.x FILTER

-- case: a name with another case is another table
SELECT a FROM T;
--> a <- T.a IDENTITY
--! UNKNOWN_TABLE

-- case: update of the joined table
UPDATE t JOIN u ON t.a = u.x SET u.y = t.b, t.c = u.z;
--> u.y <- t.b IDENTITY
--> u.* | t.a JOIN, u.x JOIN
--> t.c <- u.z IDENTITY
--> t.* | t.a JOIN, u.x JOIN

-- case: delete from the joined table
DELETE u FROM t JOIN u ON t.a = u.x;
--> u.* | t.a JOIN, u.x JOIN
