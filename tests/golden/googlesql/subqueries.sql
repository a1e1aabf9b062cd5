-- schema: t(a INT64, b INT64, c INT64, n STRING, d DATE, ts TIMESTAMP, f FLOAT64, j JSON, s STRUCT<x INT64, y STRUCT<z INT64, w STRING>>, arr ARRAY<INT64>, sa ARRAY<STRUCT<k INT64, v STRING>>), u(a INT64, z INT64, n STRING, f FLOAT64), w(a INT64, q INT64)

-- case: scalar subquery
SELECT a, (SELECT MAX(z) FROM u) AS m FROM t;
--> a <- t.a IDENTITY
--> m <- u.z AGGREGATION

-- case: correlated scalar subquery
SELECT a, (SELECT SUM(z) FROM u WHERE u.a = t.a) AS s FROM t;
--> a <- t.a IDENTITY
--> s <- u.z AGGREGATION | u.a FILTER, t.a FILTER

-- case: scalar subquery of a scalar subquery
SELECT (SELECT MAX(z + (SELECT MIN(q) FROM w WHERE w.a = u.a)) FROM u) AS m FROM t;
--> m <- u.z AGGREGATION, w.q AGGREGATION | w.a FILTER, u.a FILTER

-- case: array subquery
SELECT ARRAY(SELECT z FROM u WHERE u.a = t.a ORDER BY z) AS zs FROM t;
--> zs <- u.z TRANSFORMATION | u.z SORT, u.a FILTER, t.a FILTER

-- case: array subquery of structs
SELECT ARRAY(SELECT AS STRUCT z AS p, n AS q FROM u) AS rows1 FROM t;
--> rows1[].p <- u.z IDENTITY
--> rows1[].q <- u.n IDENTITY

-- case: array over unnest
SELECT ARRAY(SELECT e * 2 FROM UNNEST(arr) AS e WHERE e > b) AS doubled FROM t;
--> doubled <- t.arr[] TRANSFORMATION | t.arr[] FILTER, t.b FILTER, t.arr JOIN

-- case: exists as a value
SELECT EXISTS(SELECT 1 FROM u WHERE u.a = t.a) AS has FROM t;
--> has | u.a FILTER, t.a FILTER

-- case: in subquery as a value
SELECT a IN (SELECT z FROM u) AS has FROM t;
--> has <- u.z TRANSFORMATION, t.a TRANSFORMATION

-- case: exists and in as filters
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a) AND b IN (SELECT q FROM w WHERE w.a > 3);
--> a <- t.a IDENTITY
--> * | u.a FILTER, t.a FILTER, w.q FILTER, t.b FILTER, w.a FILTER

-- case: not in and comparison with a subquery
SELECT a FROM t WHERE b NOT IN (SELECT z FROM u) AND c > (SELECT AVG(q) FROM w);
--> a <- t.a IDENTITY
--> * | u.z FILTER, t.b FILTER, t.c FILTER, w.q FILTER

-- case: like any subquery
SELECT a FROM t WHERE n LIKE ANY (SELECT n FROM u);
--> a <- t.a IDENTITY
--> * | u.n FILTER, t.n FILTER

-- case: subquery in a case
SELECT CASE WHEN a > (SELECT MAX(z) FROM u) THEN (SELECT MIN(q) FROM w) ELSE b END AS k FROM t;
--> k <- w.q AGGREGATION, t.b TRANSFORMATION | t.a CONDITIONAL, u.z CONDITIONAL

-- case: subquery in having and order by
SELECT a, SUM(b) AS s FROM t GROUP BY a HAVING SUM(b) > (SELECT MAX(z) FROM u) ORDER BY (SELECT MIN(q) FROM w);
--> a <- t.a IDENTITY
--> s <- t.b AGGREGATION
--> * | w.q SORT, t.b FILTER, u.z FILTER, t.a GROUP_BY

-- case: field of a scalar subquery
SELECT (SELECT AS STRUCT z, n FROM u LIMIT 1).n AS name FROM t;
--> name <- u.n IDENTITY

-- case: aggregate of a struct, first element, field
SELECT ARRAY_AGG(STRUCT(b AS p, n AS q) ORDER BY c LIMIT 1)[OFFSET(0)].q AS latest FROM t GROUP BY a;
--> latest <- t.n AGGREGATION | t.c WINDOW
--> * | t.a GROUP_BY

-- case: subquery in from joined with its outer query
SELECT x.m, t.b FROM t JOIN (SELECT a, MAX(z) AS m FROM u GROUP BY a) AS x ON x.a = t.a;
--> m <- u.z AGGREGATION
--> b <- t.b IDENTITY
--> * | u.a JOIN, t.a JOIN, u.a GROUP_BY

-- case: with inside a subquery
SELECT (WITH c AS (SELECT z FROM u) SELECT MAX(z) FROM c) AS m FROM t;
--> m <- u.z AGGREGATION

-- case: unused columns of a subquery do not matter
SELECT x.a FROM (SELECT a, b, c FROM t) AS x;
--> a <- t.a IDENTITY
