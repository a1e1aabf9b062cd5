-- case: inner join
SELECT a, y FROM t JOIN u ON t.a = u.x;
--> a <- t.a IDENTITY
--> y <- u.y IDENTITY
--> * | t.a JOIN, u.x JOIN

-- case: outer joins
SELECT l.a, r.y FROM t l LEFT JOIN u r ON l.a = r.x AND r.y > 1;
--> a <- t.a IDENTITY
--> y <- u.y IDENTITY
--> * | t.a JOIN, u.x JOIN, u.y JOIN

-- case: cross join
SELECT a, x FROM t CROSS JOIN u;
--> a <- t.a IDENTITY
--> x <- u.x IDENTITY

-- case: using keeps the left key
SELECT k, b FROM (SELECT a AS k, b FROM t) JOIN (SELECT x AS k FROM u) USING (k);
--> k <- t.a IDENTITY
--> b <- t.b IDENTITY
--> * | t.a JOIN, u.x JOIN

-- case: full outer join using merges the keys
SELECT k FROM (SELECT a AS k FROM t) FULL OUTER JOIN (SELECT x AS k FROM u) USING (k);
--> k <- t.a TRANSFORMATION, u.x TRANSFORMATION | t.a CONDITIONAL, u.x CONDITIONAL
--> * | t.a JOIN, u.x JOIN

-- case: natural join
SELECT * FROM (SELECT a AS k, b FROM t) NATURAL JOIN (SELECT x AS k, y FROM u);
--> k <- t.a IDENTITY
--> b <- t.b IDENTITY
--> y <- u.y IDENTITY
--> * | t.a JOIN, u.x JOIN

-- case: semi and anti joins only filter
SELECT a FROM t LEFT SEMI JOIN u ON t.a = u.x LEFT ANTI JOIN ev ON ev.id = t.b;
--> a <- t.a IDENTITY
--> * | t.a JOIN, u.x JOIN, ev.id JOIN, t.b JOIN

-- case: self join keeps the sides apart
SELECT l.a, r.b FROM t l JOIN t r ON l.a = r.a WHERE l.c = 'x';
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> * | t.a JOIN, t.c FILTER

-- case: three tables
SELECT t.c, u.z, ev.j FROM t JOIN u ON a = x JOIN ev ON id = y;
--> c <- t.c IDENTITY
--> z <- u.z IDENTITY
--> j <- ev.j IDENTITY
--> * | t.a JOIN, u.x JOIN, ev.id JOIN, u.y JOIN

-- case: lateral subquery sees the left side
SELECT a, m FROM t, LATERAL (SELECT y + b AS m FROM u WHERE x = a);
--> a <- t.a IDENTITY
--> m <- u.y TRANSFORMATION, t.b TRANSFORMATION
--> * | u.x FILTER, t.a FILTER

-- case: union by position
SELECT a, c FROM t UNION ALL SELECT x, z FROM u;
--> a <- t.a IDENTITY, u.x IDENTITY
--> c <- t.c IDENTITY, u.z IDENTITY

-- case: union distinct is one operation
SELECT a FROM t UNION SELECT x FROM u;
--> a <- t.a IDENTITY, u.x IDENTITY

-- case: a union does not leak into other uses of its first branch
WITH base AS (SELECT a, b FROM t) SELECT l.a, r.b FROM (SELECT a FROM base UNION ALL SELECT x FROM u) l JOIN base r ON l.a = r.a;
--> a <- t.a IDENTITY, u.x IDENTITY
--> b <- t.b IDENTITY
--> * | t.a JOIN, u.x JOIN

-- case: union of a table with itself
SELECT a FROM t WHERE b > 0 UNION ALL SELECT b FROM t WHERE a > 0;
--> a <- t.a IDENTITY, t.b IDENTITY
--> * | t.a FILTER, t.b FILTER

-- case: unions of unions
SELECT n FROM (SELECT a AS n FROM t UNION ALL (SELECT x FROM u UNION ALL SELECT y FROM u)) WHERE n > 0;
--> n <- t.a IDENTITY, u.x IDENTITY, u.y IDENTITY
--> * | t.a FILTER, u.x FILTER, u.y FILTER

-- case: intersect and except
SELECT a FROM t INTERSECT SELECT x FROM u EXCEPT SELECT y FROM u;
--> a <- t.a IDENTITY, u.x IDENTITY
--> * | t.a GROUP_BY, u.x GROUP_BY, u.y GROUP_BY

-- case: cte used twice
WITH w AS (SELECT a, b FROM t WHERE c = 'x') SELECT p.a, q.b FROM w p JOIN w q ON p.a = q.b;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> * | t.a JOIN, t.b JOIN, t.c FILTER

-- case: chained ctes
WITH w AS (SELECT a + 1 AS n FROM t), v AS (SELECT n * 2 AS m FROM w) SELECT m FROM v WHERE m > 3;
--> m <- t.a TRANSFORMATION
--> * | t.a FILTER

-- case: recursive cte
WITH RECURSIVE r(n, c) AS (SELECT a, c FROM t WHERE b = 0 UNION ALL SELECT r.n + u.y, u.z FROM r JOIN u ON r.n = u.x WHERE r.n < 5) SELECT n, c FROM r;
--> n <- t.a TRANSFORMATION, u.y TRANSFORMATION
--> c <- t.c IDENTITY, u.z IDENTITY
--> * | t.b FILTER, t.a JOIN, u.x JOIN, u.y JOIN, t.a FILTER, u.y FILTER

-- case: views are seen through
SELECT n, y FROM view_of_t JOIN u ON n = x;
--> n <- t.a TRANSFORMATION
--> y <- u.y IDENTITY
--> * | t.a JOIN, u.x JOIN, t.b FILTER

-- case: views of views
SELECT m FROM view_of_view;
--> m <- t.a TRANSFORMATION
--> * | t.b FILTER

-- case: temporary views are seen through
SELECT k FROM temp_view;
--> k <- t.c TRANSFORMATION, u.z TRANSFORMATION
--> * | t.a JOIN, u.x JOIN
