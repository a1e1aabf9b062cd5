-- schema: t(a, b, c, arr, nested), u(x, y), dst(p, q)

-- case: array join
SELECT a, e FROM t ARRAY JOIN arr AS e;
--> a <- t.a IDENTITY
--> e <- t.arr[] IDENTITY
--> * | t.arr JOIN

-- case: array join under its own name
SELECT arr FROM t ARRAY JOIN arr;
--> arr <- t.arr[] IDENTITY
--> * | t.arr JOIN

-- case: if combinators
SELECT sumIf(a, b > 1) AS s, countIf(c = 1) AS n, avgIf(a, c > 0) AS v FROM t;
--> s <- t.a AGGREGATION | t.b CONDITIONAL
--> n <- t.c AGGREGATION masked
--> v <- t.a AGGREGATION | t.c CONDITIONAL

-- case: multiIf and ternary
SELECT multiIf(a > 1, b, c > 1, a, 0) AS m, a > 0 ? b : c AS q FROM t;
--> m <- t.b TRANSFORMATION, t.a TRANSFORMATION | t.a CONDITIONAL, t.c CONDITIONAL
--> q <- t.b TRANSFORMATION, t.c TRANSFORMATION | t.a CONDITIONAL

-- case: group array and uniq
SELECT groupArray(a) AS l, uniqExact(b) AS n, argMax(a, c) AS m FROM t;
--> l <- t.a AGGREGATION
--> n <- t.b AGGREGATION masked
--> m <- t.a AGGREGATION | t.c CONDITIONAL

-- case: array map
SELECT arrayMap(x -> x + a, arr) AS l FROM t;
--> l <- t.arr[] TRANSFORMATION, t.a TRANSFORMATION

-- case: materialized view into a table
CREATE MATERIALIZED VIEW mv TO dst AS SELECT a AS p, b AS q FROM t;
--> dst.p <- t.a IDENTITY
--> dst.q <- t.b IDENTITY

-- case: insert select
INSERT INTO dst (p, q) SELECT x, y FROM u;
--> dst.p <- u.x IDENTITY
--> dst.q <- u.y IDENTITY

-- case: final and prewhere
SELECT a FROM t FINAL PREWHERE b > 1 WHERE c = 2;
--> a <- t.a IDENTITY
--> * | t.b FILTER, t.c FILTER

-- case: limit by
SELECT a, b FROM t ORDER BY c LIMIT 1 BY a;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> * | t.c SORT

-- case: with a scalar
WITH 3 AS n, a + 1 AS k SELECT k, b + n AS m FROM t;
--> k <- t.a TRANSFORMATION
--> m <- t.b TRANSFORMATION

-- case: global in
SELECT a FROM t WHERE b GLOBAL IN (SELECT x FROM u);
--> a <- t.a IDENTITY
--> * | t.b FILTER, u.x FILTER

-- case: any join
SELECT t.a, u.y FROM t ANY LEFT JOIN u ON t.b = u.x;
--> a <- t.a IDENTITY
--> y <- u.y IDENTITY
--> * | t.b JOIN, u.x JOIN

-- case: asof join using
SELECT a, y FROM t ASOF JOIN u ON t.b = u.x AND t.c > u.y;
--> a <- t.a IDENTITY
--> y <- u.y IDENTITY
--> * | t.b JOIN, u.x JOIN, t.c JOIN, u.y JOIN

-- case: names are exact
SELECT A FROM t;
--> A <- t.A IDENTITY ?
--! UNKNOWN_COLUMN

-- case: hashes
SELECT cityHash64(a) AS h, sipHash64(b) AS g FROM t;
--> h <- t.a TRANSFORMATION masked
--> g <- t.b TRANSFORMATION masked

-- case: create table engine as
CREATE TABLE n ENGINE = MergeTree ORDER BY a AS SELECT a, b FROM t;
--> n.a <- t.a IDENTITY
--> n.b <- t.b IDENTITY

-- case: group by with totals
SELECT a, sum(b) AS s FROM t GROUP BY a WITH TOTALS;
--> a <- t.a IDENTITY
--> s <- t.b AGGREGATION
--> * | t.a GROUP_BY

-- case: tuple access
SELECT tuple(a, b).1 AS f FROM t;
--> f <- t.a IDENTITY
