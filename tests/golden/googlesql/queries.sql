-- schema: t(a INT64, b INT64, c INT64, n STRING, d DATE, ts TIMESTAMP, f FLOAT64, j JSON, s STRUCT<x INT64, y STRUCT<z INT64, w STRING>>, arr ARRAY<INT64>, sa ARRAY<STRUCT<k INT64, v STRING>>), u(a INT64, z INT64, n STRING, f FLOAT64), w(a INT64, q INT64)

-- case: cte
WITH c AS (SELECT a, b + c AS bc FROM t WHERE n = 'x') SELECT bc AS k FROM c;
--> k <- t.b TRANSFORMATION, t.c TRANSFORMATION
--> * | t.n FILTER

-- case: cte used twice
WITH c AS (SELECT a, b FROM t) SELECT x.a, y.b FROM c AS x JOIN c AS y ON x.a = y.b;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> * | t.a JOIN, t.b JOIN

-- case: ctes over ctes
WITH c AS (SELECT a, b FROM t), e AS (SELECT a + b AS ab FROM c), g AS (SELECT ab * 2 AS r FROM e) SELECT r FROM g;
--> r <- t.a TRANSFORMATION, t.b TRANSFORMATION

-- case: a cte that is named like a table
WITH u AS (SELECT a AS z FROM t) SELECT z FROM u;
--> z <- t.a IDENTITY

-- case: a cte that hides another
WITH c AS (SELECT a AS k FROM t) SELECT k FROM (WITH c AS (SELECT z AS k FROM u) SELECT k FROM c) UNION ALL SELECT k FROM c;
--> k <- u.z IDENTITY, t.a IDENTITY

-- case: an unused cte is still read
WITH c AS (SELECT q FROM w) SELECT a FROM t;
--> a <- t.a IDENTITY

-- case: recursive cte
WITH RECURSIVE r AS (
  SELECT a, b, 1 AS depth FROM t WHERE c IS NULL
  UNION ALL
  SELECT u.a, u.z, r.depth + 1 FROM r JOIN u ON u.a = r.b
) SELECT a, b, depth FROM r;
--> a <- t.a IDENTITY, u.a IDENTITY
--> b <- t.b IDENTITY, u.z IDENTITY
--> depth
--> * | u.a JOIN, t.b JOIN, u.z JOIN, t.c FILTER

-- case: recursive cte that mixes its columns
WITH RECURSIVE r AS (SELECT a AS p, b AS q FROM t UNION ALL SELECT q, p FROM r) SELECT p, q FROM r;
--> p <- t.a IDENTITY, t.b IDENTITY
--> q <- t.b IDENTITY, t.a IDENTITY

-- case: pivot
SELECT * FROM (SELECT a, n, b FROM t) PIVOT (SUM(b) AS s FOR n IN ('x', 'y'));
--> a <- t.a IDENTITY
--> s_x <- t.b AGGREGATION | t.n CONDITIONAL
--> s_y <- t.b AGGREGATION | t.n CONDITIONAL
--> * | t.a GROUP_BY

-- case: pivot of several aggregates
SELECT * FROM (SELECT a, n, b, c FROM t) PIVOT (SUM(b) AS s, MAX(c) AS m FOR n IN ('x' AS px));
--> a <- t.a IDENTITY
--> s_px <- t.b AGGREGATION | t.n CONDITIONAL
--> m_px <- t.c AGGREGATION | t.n CONDITIONAL
--> * | t.a GROUP_BY

-- case: unpivot
SELECT * FROM (SELECT a, b, c FROM t) UNPIVOT (val FOR col IN (b, c));
--> a <- t.a IDENTITY
--> val <- t.b IDENTITY, t.c IDENTITY
--> col
--> * | t.b FILTER, t.c FILTER

-- case: unpivot of several columns
SELECT * FROM (SELECT a, b, c, a + b AS e, f FROM t) UNPIVOT ((v1, v2) FOR col IN ((b, c) AS 'bc', (a, e) AS 'ae'));
--> f <- t.f IDENTITY
--> v1 <- t.b IDENTITY, t.a IDENTITY
--> v2 <- t.c IDENTITY, t.a TRANSFORMATION, t.b TRANSFORMATION
--> col
--> * | t.c FILTER, t.a FILTER, t.b FILTER

-- case: window functions
SELECT SUM(a) OVER (PARTITION BY b ORDER BY c) AS s, LAG(n, 1) OVER (ORDER BY d) AS l,
  ROW_NUMBER() OVER (PARTITION BY a ORDER BY ts) AS r FROM t;
--> s <- t.a AGGREGATION | t.b WINDOW, t.c WINDOW
--> l <- t.n TRANSFORMATION | t.d WINDOW
--> r | t.a WINDOW, t.ts WINDOW

-- case: named windows
SELECT MAX(a) OVER w1 AS m, FIRST_VALUE(n) OVER (w1 ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS f
FROM t WINDOW w1 AS (PARTITION BY b ORDER BY c);
--> m <- t.a AGGREGATION | t.b WINDOW, t.c WINDOW
--> f <- t.n TRANSFORMATION | t.b WINDOW, t.c WINDOW

-- case: qualify
SELECT a, n FROM t WHERE b > 0 QUALIFY ROW_NUMBER() OVER (PARTITION BY a ORDER BY ts DESC) = 1;
--> a <- t.a IDENTITY
--> n <- t.n IDENTITY
--> * | t.a FILTER, t.ts FILTER, t.b FILTER

-- case: window over an aggregate
SELECT a, SUM(SUM(b)) OVER (ORDER BY a) AS running FROM t GROUP BY a;
--> a <- t.a IDENTITY
--> running <- t.b AGGREGATION | t.a WINDOW
--> * | t.a GROUP_BY

-- case: window of a struct, then a field
SELECT LAST_VALUE(s) OVER (ORDER BY c).y.w AS w FROM t;
--> w <- t.s.y.w TRANSFORMATION | t.c WINDOW

-- case: pipe query
FROM t |> WHERE a > 1 |> EXTEND b + c AS bc |> AGGREGATE SUM(bc) AS s GROUP BY n |> ORDER BY s;
--> n <- t.n IDENTITY
--> s <- t.b AGGREGATION, t.c AGGREGATION
--> * | t.b SORT, t.c SORT, t.n GROUP_BY, t.a FILTER

-- case: pipe set, drop, rename
FROM u |> SET z = z + a |> DROP f |> RENAME n AS name;
--> a <- u.a IDENTITY
--> z <- u.z TRANSFORMATION, u.a TRANSFORMATION
--> name <- u.n IDENTITY

-- case: pipe join and select
FROM t |> JOIN u USING (a) |> SELECT t.b, u.z AS uz |> LIMIT 3;
--> b <- t.b IDENTITY
--> uz <- u.z IDENTITY
--> * | t.a JOIN, u.a JOIN

-- case: pipe union, pivot and as
FROM u |> SELECT a, z |> UNION ALL (SELECT a, q FROM w) |> AS x |> AGGREGATE MAX(x.z) AS m GROUP BY x.a;
--> a <- u.a IDENTITY, w.a IDENTITY
--> m <- u.z AGGREGATION, w.q AGGREGATION
--> * | u.a GROUP_BY, w.a GROUP_BY

-- case: pipe in a table
CREATE TABLE d.p AS FROM t |> WHERE b = 1 |> SELECT a, n;
--> d.p.a <- t.a IDENTITY
--> d.p.n <- t.n IDENTITY
--> d.p.* | t.b FILTER

-- case: pipe window
FROM t |> EXTEND SUM(a) OVER (PARTITION BY b) AS total |> SELECT total;
--> total <- t.a AGGREGATION | t.b WINDOW

-- case: match recognize
SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY n ORDER BY ts
  MEASURES MAX(hi.a) AS top, MIN(lo.b) AS bottom
  PATTERN (lo hi+)
  DEFINE lo AS c < 3, hi AS c >= 3
);
--> n <- t.n IDENTITY
--> top <- t.a AGGREGATION
--> bottom <- t.b AGGREGATION
--> * | t.n SORT, t.ts SORT, t.c FILTER

-- case: differential privacy
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, delta = 0.1, privacy_unit_column = a) n, SUM(b) AS s FROM t GROUP BY n;
--> n <- t.n IDENTITY
--> s <- t.b AGGREGATION
--> * | t.n GROUP_BY

-- case: hints are ignored
SELECT a FROM t @{x = 1} JOIN@{y = 2} u USING (a);
--> a <- t.a IDENTITY
--> * | t.a JOIN, u.a JOIN

-- case: aggregate of aggregates
SELECT b, SUM(MAX(a) GROUP BY c) AS s FROM t GROUP BY b;
--> b <- t.b IDENTITY
--> s <- t.a AGGREGATION
--> * | t.b GROUP_BY
