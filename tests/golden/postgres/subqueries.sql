-- schema: t(a, b, c, d), u(x, y, z), emp(id, boss, name), orders(id, cid, amount), customers(id, name)

-- case: derived table
SELECT s.k FROM (SELECT a + 1 AS k, b FROM t WHERE c > 0) s;
--> k <- t.a TRANSFORMATION
--> * | t.c FILTER

-- case: derived table with column names
SELECT m FROM (SELECT a, b FROM t) AS s (l, m);
--> m <- t.b IDENTITY

-- case: scalar subquery has its filters to itself
SELECT a, (SELECT MAX(y) FROM u WHERE u.x = t.b) AS m FROM t;
--> a <- t.a IDENTITY
--> m <- u.y AGGREGATION | u.x FILTER, t.b FILTER

-- case: uncorrelated scalar subquery inside an expression
SELECT a - (SELECT AVG(x) FROM u) AS diff FROM t;
--> diff <- t.a TRANSFORMATION, u.x AGGREGATION

-- case: a name of a subquery over unknown tables is that of its own FROM
SELECT id, (SELECT MAX(id) FROM buyers) AS m FROM sales;
--> id <- sales.id IDENTITY
--> m <- buyers.id AGGREGATION
--! UNKNOWN_TABLE
--! UNKNOWN_TABLE

-- case: exists in where
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.x = t.a AND y > 0);
--> a <- t.a IDENTITY
--> * | u.x FILTER, t.a FILTER, u.y FILTER

-- case: in subquery
SELECT a FROM t WHERE b IN (SELECT x FROM u WHERE z = 1);
--> a <- t.a IDENTITY
--> * | t.b FILTER, u.x FILTER, u.z FILTER

-- case: not in and any
SELECT a FROM t WHERE b NOT IN (SELECT x FROM u) AND c = ANY (SELECT y FROM u);
--> a <- t.a IDENTITY
--> * | t.b FILTER, u.x FILTER, t.c FILTER, u.y FILTER

-- case: in and exists as values
SELECT a IN (SELECT x FROM u) AS i, EXISTS (SELECT 1 FROM u WHERE y = t.b) AS e FROM t;
--> i <- t.a TRANSFORMATION, u.x TRANSFORMATION
--> e | u.y FILTER, t.b FILTER

-- case: array of a subquery
SELECT ARRAY(SELECT y FROM u WHERE u.x = t.a) AS l FROM t;
--> l <- u.y TRANSFORMATION | u.x FILTER, t.a FILTER

-- case: row comparison with a subquery
SELECT a FROM t WHERE (b, c) IN (SELECT x, y FROM u);
--> a <- t.a IDENTITY
--> * | t.b FILTER, t.c FILTER, u.x FILTER, u.y FILTER

-- case: lateral subquery sees the tables before it
SELECT t.a, l.m FROM t, LATERAL (SELECT MAX(y) AS m FROM u WHERE u.x = t.b) l;
--> a <- t.a IDENTITY
--> m <- u.y AGGREGATION
--> * | u.x FILTER, t.b FILTER

-- case: cte
WITH s AS (SELECT a, SUM(b) AS sb FROM t GROUP BY a) SELECT a, sb FROM s WHERE sb > 3;
--> a <- t.a IDENTITY
--> sb <- t.b AGGREGATION
--> * | t.a GROUP_BY, t.b FILTER

-- case: cte with column names
WITH s (k, v) AS (SELECT a, b FROM t) SELECT v, k FROM s;
--> v <- t.b IDENTITY
--> k <- t.a IDENTITY

-- case: a cte used twice
WITH s AS (SELECT a, b FROM t) SELECT l.a, r.b FROM s l JOIN s r ON l.b = r.a;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> * | t.b JOIN, t.a JOIN

-- case: ctes that build on each other
WITH s1 AS (SELECT a AS v FROM t), s2 AS (SELECT v + 1 AS w FROM s1), s3 AS (SELECT w FROM s2 WHERE w > 0) SELECT w FROM s3;
--> w <- t.a TRANSFORMATION
--> * | t.a FILTER

-- case: a cte that is not used adds no filter
WITH s AS (SELECT a FROM t WHERE c = 1) SELECT x FROM u;
--> x <- u.x IDENTITY

-- case: a cte hides a table of the same name
WITH u AS (SELECT a AS x FROM t) SELECT x FROM u;
--> x <- t.a IDENTITY

-- case: cte inside a subquery
SELECT q.v FROM (WITH s AS (SELECT b AS v FROM t) SELECT v FROM s) q;
--> v <- t.b IDENTITY

-- case: recursive cte
WITH RECURSIVE r (id, lvl, root) AS (SELECT id, 0, name FROM emp WHERE boss IS NULL UNION ALL SELECT e.id, r.lvl + 1, r.root FROM emp e JOIN r ON e.boss = r.id) SELECT id, lvl, root FROM r;
--> id <- emp.id IDENTITY
--> lvl
--> root <- emp.name IDENTITY
--> * | emp.boss FILTER, emp.boss JOIN, emp.id JOIN

-- case: recursive cte whose columns change places
WITH RECURSIVE r AS (SELECT a, b FROM t UNION ALL SELECT b, a + 1 FROM r WHERE a < 10) SELECT a FROM r;
--> a <- t.a TRANSFORMATION, t.b TRANSFORMATION
--> * | t.a FILTER, t.b FILTER

-- case: union by position
SELECT a, b FROM t UNION ALL SELECT x, y FROM u;
--> a <- t.a IDENTITY, u.x IDENTITY
--> b <- t.b IDENTITY, u.y IDENTITY

-- case: union with expressions and order
SELECT a AS k FROM t UNION SELECT x * 2 FROM u ORDER BY k;
--> k <- t.a IDENTITY, u.x TRANSFORMATION
--> * | t.a SORT, u.x SORT, t.a GROUP_BY, u.x GROUP_BY

-- case: intersect counts both sides, except those that stay
SELECT a FROM t INTERSECT SELECT x FROM u EXCEPT SELECT id FROM orders;
--> a <- t.a IDENTITY, u.x IDENTITY
--> * | t.a GROUP_BY, u.x GROUP_BY, orders.id GROUP_BY

-- case: union inside from
SELECT v FROM (SELECT a AS v FROM t WHERE b = 1 UNION ALL SELECT y FROM u) s WHERE v > 1;
--> v <- t.a IDENTITY, u.y IDENTITY
--> * | t.a FILTER, u.y FILTER, t.b FILTER

-- case: values
SELECT v.p, t.a FROM t JOIN (VALUES (1, 'x'), (2, 'y')) AS v (n, p) ON t.b = v.n;
--> p
--> a <- t.a IDENTITY
--> * | t.b JOIN

-- case: unnest of an array column
SELECT t.a, e FROM t, unnest(t.d) AS e;
--> a <- t.a IDENTITY
--> e <- t.d[] IDENTITY
--> * | t.d JOIN

-- case: generate series
SELECT g.n FROM t, generate_series(1, t.a) AS g (n);
--> n <- t.a TRANSFORMATION
--> * | t.a JOIN

-- case: json operators are paths
SELECT d -> 'addr' ->> 'city' AS city FROM t;
--> city <- t.d.addr.city TRANSFORMATION

-- case: elements of a json array
SELECT e.value ->> 'sku' AS sku FROM t, jsonb_array_elements(t.d) AS e (value);
--> sku <- t.d[].sku TRANSFORMATION
--> * | t.d JOIN

-- case: composite field
SELECT (a).city AS city FROM t;
--> city <- t.a.city IDENTITY

-- case: whole row
SELECT u AS r FROM u;
--> r.x <- u.x IDENTITY
--> r.y <- u.y IDENTITY
--> r.z <- u.z IDENTITY

-- case: array element
SELECT d[1] AS first, d[a] AS nth FROM t;
--> first <- t.d[] IDENTITY
--> nth <- t.d[] IDENTITY | t.a CONDITIONAL
