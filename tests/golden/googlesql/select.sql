-- schema: t(a INT64, b INT64, c INT64, n STRING, d DATE, ts TIMESTAMP, f FLOAT64, j JSON, s STRUCT<x INT64, y STRUCT<z INT64, w STRING>>, arr ARRAY<INT64>, sa ARRAY<STRUCT<k INT64, v STRING>>), u(a INT64, z INT64, n STRING, f FLOAT64), w(a INT64, q INT64)

-- case: columns under their own and other names
SELECT a, b AS bb, t.c FROM t;
--> a <- t.a IDENTITY
--> bb <- t.b IDENTITY
--> c <- t.c IDENTITY

-- case: the same column twice
SELECT a, a AS again FROM t;
--> a <- t.a IDENTITY
--> again <- t.a IDENTITY

-- case: operators and functions transform
SELECT a + b AS s, CONCAT(n, 'x') AS k, UPPER(n) AS m, -a AS neg, NOT (a > b) AS cmp FROM t;
--> s <- t.a TRANSFORMATION, t.b TRANSFORMATION
--> k <- t.n TRANSFORMATION
--> m <- t.n TRANSFORMATION
--> neg <- t.a TRANSFORMATION
--> cmp <- t.a TRANSFORMATION, t.b TRANSFORMATION

-- case: constants come from nowhere
SELECT 1 AS one, 'x' AS x, CURRENT_DATE() AS today, @p AS p, @@row_count AS r FROM t;
--> one
--> x
--> today
--> p
--> r

-- case: columns without a name
SELECT a + 1, b, c * 2 FROM t;
--> f0_ <- t.a TRANSFORMATION
--> b <- t.b IDENTITY
--> f1_ <- t.c TRANSFORMATION

-- case: star
SELECT * FROM u;
--> a <- u.a IDENTITY
--> z <- u.z IDENTITY
--> n <- u.n IDENTITY
--> f <- u.f IDENTITY

-- case: star except and replace
SELECT * EXCEPT (n, f) REPLACE (a + z AS z) FROM u;
--> a <- u.a IDENTITY
--> z <- u.a TRANSFORMATION, u.z TRANSFORMATION

-- case: star of one table of two
SELECT u.*, w.q FROM u JOIN w ON u.a = w.a;
--> a <- u.a IDENTITY
--> z <- u.z IDENTITY
--> n <- u.n IDENTITY
--> f <- u.f IDENTITY
--> q <- w.q IDENTITY
--> * | u.a JOIN, w.a JOIN

-- case: explicit casts transform
SELECT CAST(a AS STRING) AS s, SAFE_CAST(n AS INT64) AS i, a AS same FROM t;
--> s <- t.a TRANSFORMATION
--> i <- t.n TRANSFORMATION
--> same <- t.a IDENTITY

-- case: coercions that nobody wrote do not
SELECT a FROM u UNION ALL SELECT f FROM u;
--> a <- u.a IDENTITY, u.f IDENTITY

-- case: where is row influence
SELECT a FROM t WHERE b > 1 AND n LIKE 'x%';
--> a <- t.a IDENTITY
--> * | t.b FILTER, t.n FILTER

-- case: order and limit
SELECT a FROM t ORDER BY b, c DESC LIMIT 3;
--> a <- t.a IDENTITY
--> * | t.b SORT, t.c SORT

-- case: group by and aggregates
SELECT a, SUM(b) AS total, COUNT(*) AS n, COUNT(DISTINCT c) AS distinct_c FROM t GROUP BY a;
--> a <- t.a IDENTITY
--> total <- t.b AGGREGATION
--> n
--> distinct_c <- t.c AGGREGATION masked
--> * | t.a GROUP_BY

-- case: having
SELECT a, MAX(b) AS m FROM t GROUP BY a HAVING MIN(c) > 3;
--> a <- t.a IDENTITY
--> m <- t.b AGGREGATION
--> * | t.c FILTER, t.a GROUP_BY

-- case: group by position and expression
SELECT EXTRACT(YEAR FROM d) AS y, SUM(a) AS s FROM t GROUP BY 1;
--> y <- t.d TRANSFORMATION
--> s <- t.a AGGREGATION
--> * | t.d GROUP_BY

-- case: rollup, cube, grouping sets
SELECT a, b, SUM(c) AS s FROM t GROUP BY ROLLUP (a, b)
UNION ALL SELECT a, b, SUM(c) FROM t GROUP BY CUBE (a, b)
UNION ALL SELECT a, b, SUM(c) FROM t GROUP BY GROUPING SETS ((a), (b), ());
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> s <- t.c AGGREGATION
--> * | t.a GROUP_BY, t.b GROUP_BY

-- case: grouping tells about its key
SELECT a, GROUPING(a) AS g, SUM(c) AS s FROM t GROUP BY ROLLUP (a);
--> a <- t.a IDENTITY
--> g <- t.a TRANSFORMATION
--> s <- t.c AGGREGATION
--> * | t.a GROUP_BY

-- case: group by all
SELECT a, b, SUM(c) AS s FROM t GROUP BY ALL;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> s <- t.c AGGREGATION
--> * | t.a GROUP_BY, t.b GROUP_BY

-- case: distinct
SELECT DISTINCT a, b FROM t;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> * | t.a GROUP_BY, t.b GROUP_BY

-- case: aggregates with order, limit, having max, where
SELECT STRING_AGG(n ORDER BY a LIMIT 3) AS names, ANY_VALUE(n HAVING MAX b) AS last FROM t;
--> names <- t.n AGGREGATION | t.a WINDOW
--> last <- t.n AGGREGATION | t.b CONDITIONAL

-- case: case without operand
SELECT CASE WHEN a > 1 THEN b WHEN n = 'x' THEN c ELSE 0 END AS k FROM t;
--> k <- t.b TRANSFORMATION, t.c TRANSFORMATION | t.a CONDITIONAL, t.n CONDITIONAL

-- case: case with operand
SELECT CASE a WHEN 1 THEN b ELSE c END AS k FROM t;
--> k <- t.b TRANSFORMATION, t.c TRANSFORMATION | t.a CONDITIONAL

-- case: if, ifnull, nullif, coalesce
SELECT IF(a > 1, b, c) AS i, IFNULL(a, b) AS f, NULLIF(a, b) AS x, COALESCE(a, b, c) AS o FROM t;
--> i <- t.b TRANSFORMATION, t.c TRANSFORMATION | t.a CONDITIONAL
--> f <- t.a TRANSFORMATION, t.b TRANSFORMATION | t.a CONDITIONAL, t.b CONDITIONAL
--> x <- t.a TRANSFORMATION | t.a CONDITIONAL, t.b CONDITIONAL
--> o <- t.a TRANSFORMATION, t.b TRANSFORMATION, t.c TRANSFORMATION | t.a CONDITIONAL, t.b CONDITIONAL, t.c CONDITIONAL

-- case: iferror and safe calls
SELECT IFERROR(a / b, c) AS e, SAFE_DIVIDE(a, b) AS s FROM t;
--> e <- t.a TRANSFORMATION, t.b TRANSFORMATION, t.c TRANSFORMATION
--> s <- t.a TRANSFORMATION, t.b TRANSFORMATION

-- case: in, between, like, is null as values
SELECT a IN (b, c) AS i, a BETWEEN b AND c AS r, n LIKE 'x' AS l, a IS NULL AS z FROM t;
--> i <- t.a TRANSFORMATION, t.b TRANSFORMATION, t.c TRANSFORMATION
--> r <- t.a TRANSFORMATION, t.b TRANSFORMATION, t.c TRANSFORMATION
--> l <- t.n TRANSFORMATION
--> z <- t.a TRANSFORMATION

-- case: hashes hide
SELECT SHA256(n) AS h, FARM_FINGERPRINT(n) AS g, TO_HEX(MD5(n)) AS m FROM t;
--> h <- t.n TRANSFORMATION masked
--> g <- t.n TRANSFORMATION masked
--> m <- t.n TRANSFORMATION masked

-- case: count hides
SELECT COUNT(n) AS c, COUNTIF(a > 1) AS d, APPROX_COUNT_DISTINCT(b) AS e FROM t;
--> c <- t.n AGGREGATION masked
--> d <- t.a AGGREGATION masked
--> e <- t.b AGGREGATION masked

-- case: join keys are indirect
SELECT t.n, u.z FROM t JOIN u ON t.a = u.a AND t.b > u.z;
--> n <- t.n IDENTITY
--> z <- u.z IDENTITY
--> * | t.a JOIN, u.a JOIN, t.b JOIN, u.z JOIN

-- case: left, right and full join using
SELECT a, t.b, u.z, w.q FROM t LEFT JOIN u USING (a) RIGHT JOIN w USING (a);
--> a <- w.a IDENTITY
--> b <- t.b IDENTITY
--> z <- u.z IDENTITY
--> q <- w.q IDENTITY
--> * | t.a JOIN, w.a JOIN, u.a JOIN

-- case: full join using takes either
SELECT a, t.b, u.z FROM t FULL JOIN u USING (a);
--> a <- t.a TRANSFORMATION, u.a TRANSFORMATION | t.a CONDITIONAL, u.a CONDITIONAL
--> b <- t.b IDENTITY
--> z <- u.z IDENTITY
--> * | t.a JOIN, u.a JOIN

-- case: cross join and comma
SELECT t.a, u.z, w.q FROM t, u CROSS JOIN w;
--> a <- t.a IDENTITY
--> z <- u.z IDENTITY
--> q <- w.q IDENTITY

-- case: self join
SELECT x.a, y.b FROM t AS x JOIN t AS y ON x.a = y.b;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> * | t.a JOIN, t.b JOIN

-- case: derived table with renamed columns
SELECT total + 1 AS t1 FROM (SELECT a + b AS total, c FROM t WHERE c > 1);
--> t1 <- t.a TRANSFORMATION, t.b TRANSFORMATION
--> * | t.c FILTER

-- case: union by position
SELECT a, n FROM t UNION ALL SELECT z, n FROM u;
--> a <- t.a IDENTITY, u.z IDENTITY
--> n <- t.n IDENTITY, u.n IDENTITY

-- case: except and intersect
SELECT a FROM t EXCEPT DISTINCT (SELECT a FROM u INTERSECT DISTINCT SELECT a FROM w);
--> a <- t.a IDENTITY
--> * | t.a GROUP_BY, u.a GROUP_BY, w.a GROUP_BY

-- case: union by name
SELECT a, n FROM t UNION ALL BY NAME SELECT n, z AS a FROM u;
--> a <- t.a IDENTITY, u.z IDENTITY
--> n <- t.n IDENTITY, u.n IDENTITY

-- case: full union by name
SELECT a, b FROM t FULL UNION ALL BY NAME SELECT a, z FROM u;
--> a <- t.a IDENTITY, u.a IDENTITY
--> b <- t.b IDENTITY
--> z <- u.z IDENTITY

-- case: corresponding
SELECT a, n FROM t UNION ALL CORRESPONDING SELECT n, a, z FROM u;
--> a <- t.a IDENTITY, u.a IDENTITY
--> n <- t.n IDENTITY, u.n IDENTITY

-- case: select as struct
SELECT AS STRUCT a, b + c AS d FROM t;
--> a <- t.a IDENTITY
--> d <- t.b TRANSFORMATION, t.c TRANSFORMATION

-- case: select as value
SELECT AS VALUE STRUCT(a AS p, n AS q) FROM t;
--> p <- t.a IDENTITY
--> q <- t.n IDENTITY

-- case: tablesample
SELECT a FROM t TABLESAMPLE SYSTEM (10 PERCENT);
--> a <- t.a IDENTITY

-- case: for system time
SELECT a FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01';
--> a <- t.a IDENTITY

-- case: positional parameters
SELECT a + ? AS x FROM t WHERE b = ?;
--> x <- t.a TRANSFORMATION
--> * | t.b FILTER

-- case: names in other case
SELECT A, T.B AS bb FROM t WHERE C > 1;
--> A <- t.a IDENTITY
--> bb <- t.b IDENTITY
--> * | t.c FILTER

-- case: dates, intervals, ranges, geography
SELECT DATE_ADD(d, INTERVAL a DAY) AS da, TIMESTAMP_TRUNC(ts, MONTH) AS m, RANGE(d, DATE '2030-01-01') AS r,
  ST_GEOGPOINT(f, f) AS g FROM t;
--> da <- t.d TRANSFORMATION, t.a TRANSFORMATION
--> m <- t.ts TRANSFORMATION
--> r <- t.d TRANSFORMATION
--> g <- t.f TRANSFORMATION

-- case: chained function calls
SELECT (n).UPPER().CONCAT('x') AS k FROM t;
--> k <- t.n TRANSFORMATION

-- case: like any
SELECT n LIKE ANY ('a', 'b') AS l FROM t;
--> l <- t.n TRANSFORMATION

-- case: non-ascii names and text
SELECT a AS `größe`, '한글' AS k, n AS `이름` FROM t WHERE n = '값' ORDER BY `größe`;
--> größe <- t.a IDENTITY
--> k
--> 이름 <- t.n IDENTITY
--> * | t.a SORT, t.n FILTER

-- case: the value at the greatest
SELECT a, MAX_BY(n, b) AS latest, MIN_BY(s, c).x AS first_x FROM t GROUP BY a;
--> a <- t.a IDENTITY
--> latest <- t.n AGGREGATION | t.b CONDITIONAL
--> first_x <- t.s.x AGGREGATION | t.c CONDITIONAL
--> * | t.a GROUP_BY
