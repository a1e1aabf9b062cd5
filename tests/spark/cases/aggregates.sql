-- case: aggregates and their groups
SELECT c, sum(a) AS s, count(*) AS n, max(b) AS m FROM t GROUP BY c;
--> c <- t.c IDENTITY
--> s <- t.a AGGREGATION
--> n
--> m <- t.b AGGREGATION
--> * | t.c GROUP_BY

-- case: group by an expression
SELECT upper(c) AS k, avg(a + b) AS v FROM t GROUP BY upper(c);
--> k <- t.c TRANSFORMATION
--> v <- t.a AGGREGATION, t.b AGGREGATION
--> * | t.c GROUP_BY

-- case: group by what is not selected
SELECT sum(a) AS s FROM t GROUP BY b, c;
--> s <- t.a AGGREGATION
--> * | t.b GROUP_BY, t.c GROUP_BY

-- case: having
SELECT c FROM t GROUP BY c HAVING sum(a) > 1;
--> c <- t.c IDENTITY
--> * | t.c GROUP_BY, t.a FILTER

-- case: counts hide values
SELECT count(a) AS n, count(DISTINCT b) AS d, approx_count_distinct(c) AS ap, count_if(a > b) AS ci FROM t;
--> n <- t.a AGGREGATION masked
--> d <- t.b AGGREGATION masked
--> ap <- t.c AGGREGATION masked
--> ci <- t.a AGGREGATION masked, t.b AGGREGATION masked

-- case: two distinct counts
SELECT count(DISTINCT a) AS p, count(DISTINCT b) AS q FROM t GROUP BY c;
--> p <- t.a AGGREGATION masked
--> q <- t.b AGGREGATION masked
--> * | t.c GROUP_BY

-- case: filter clause of an aggregate
SELECT sum(a) FILTER (WHERE b > 1) AS s FROM t;
--> s <- t.a AGGREGATION | t.b CONDITIONAL

-- case: max_by chooses by the second
SELECT max_by(a, b) AS m FROM t;
--> m <- t.a AGGREGATION | t.b CONDITIONAL

-- case: collect
SELECT collect_list(a) AS l, collect_set(c) AS s, array_agg(b) AS r FROM t;
--> l <- t.a AGGREGATION
--> s <- t.c AGGREGATION
--> r <- t.b AGGREGATION

-- case: collect structs
SELECT collect_list(named_struct('p', a, 'q', b)) AS l FROM t;
--> l[].p <- t.a AGGREGATION
--> l[].q <- t.b AGGREGATION

-- case: ordered aggregates
SELECT listagg(c, ',') WITHIN GROUP (ORDER BY b) AS l, percentile_cont(0.5) WITHIN GROUP (ORDER BY a) AS p FROM t;
--> l <- t.c AGGREGATION | t.b WINDOW
--> p <- t.a AGGREGATION

-- case: first and last
SELECT first(a) AS f, last(b) AS l, any_value(c) AS v FROM t;
--> f <- t.a AGGREGATION
--> l <- t.b AGGREGATION
--> v <- t.c AGGREGATION

-- case: statistics
SELECT stddev(a) AS s, corr(a, b) AS r, bool_and(a > 1) AS e FROM t;
--> s <- t.a AGGREGATION
--> r <- t.a AGGREGATION, t.b AGGREGATION
--> e <- t.a AGGREGATION

-- case: rollup
SELECT b, c, sum(a) AS s FROM t GROUP BY ROLLUP (b, c);
--> b <- t.b IDENTITY
--> c <- t.c IDENTITY
--> s <- t.a AGGREGATION
--> * | t.b GROUP_BY, t.c GROUP_BY

-- case: cube with grouping
SELECT b, grouping(b) AS g, grouping_id() AS i, count(*) AS n FROM t GROUP BY CUBE (b, c);
--> b <- t.b IDENTITY
--> g
--> i
--> n
--> * | t.b GROUP_BY, t.c GROUP_BY

-- case: grouping sets of an expression
SELECT a + b AS k, c, max(d) AS m FROM t GROUP BY GROUPING SETS ((a + b), (c));
--> k <- t.a TRANSFORMATION, t.b TRANSFORMATION
--> c <- t.c IDENTITY
--> m <- t.d AGGREGATION
--> * | t.a GROUP_BY, t.b GROUP_BY, t.c GROUP_BY

-- case: pivot
SELECT * FROM (SELECT a, c, b FROM t) PIVOT (sum(b) FOR c IN ('x', 'y'));
--> a <- t.a IDENTITY
--> x <- t.b AGGREGATION | t.c CONDITIONAL
--> y <- t.b AGGREGATION | t.c CONDITIONAL
--> * | t.a GROUP_BY, t.c GROUP_BY

-- case: unpivot
SELECT c, n, v FROM t UNPIVOT (v FOR n IN (a, b));
--> c <- t.c IDENTITY
--> n
--> v <- t.a IDENTITY, t.b IDENTITY
--> * | t.a FILTER, t.b FILTER

-- case: row_number
SELECT a, row_number() OVER (PARTITION BY c ORDER BY b) AS rn FROM t;
--> a <- t.a IDENTITY
--> rn | t.c WINDOW, t.b WINDOW

-- case: ranks take nothing but their keys
SELECT rank() OVER (ORDER BY a) AS r, dense_rank() OVER (ORDER BY b) AS d, ntile(4) OVER (ORDER BY c) AS n FROM t;
--> r | t.a WINDOW
--> d | t.b WINDOW
--> n | t.c WINDOW

-- case: aggregate over a window
SELECT sum(a) OVER (PARTITION BY c) AS s, avg(b) OVER (PARTITION BY c ORDER BY d ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS m FROM t;
--> s <- t.a AGGREGATION | t.c WINDOW
--> m <- t.b AGGREGATION | t.c WINDOW, t.d WINDOW

-- case: neighbours in a window
SELECT lag(a) OVER (ORDER BY b) AS p, lead(a, 2, 0) OVER (ORDER BY b) AS n, first_value(a) OVER (ORDER BY b) AS f FROM t;
--> p <- t.a TRANSFORMATION | t.b WINDOW
--> n <- t.a TRANSFORMATION | t.b WINDOW
--> f <- t.a TRANSFORMATION | t.b WINDOW

-- case: named window
SELECT sum(a) OVER w AS s FROM t WINDOW w AS (PARTITION BY b);
--> s <- t.a AGGREGATION | t.b WINDOW

-- case: window over an aggregate
SELECT c, rank() OVER (ORDER BY sum(a)) AS r FROM t GROUP BY c;
--> c <- t.c IDENTITY
--> r | t.a WINDOW
--> * | t.c GROUP_BY

-- case: qualify by a subquery
SELECT a FROM (SELECT a, row_number() OVER (PARTITION BY b ORDER BY d) AS n FROM t) WHERE n = 1;
--> a <- t.a IDENTITY
--> * | t.b FILTER, t.d FILTER

-- case: time windows (the analyzer writes them as arithmetic with a choice)
SELECT window(d, '1 day').start AS day, count(*) AS n FROM t GROUP BY window(d, '1 day');
--> day <- t.d TRANSFORMATION | t.d CONDITIONAL
--> n
--> * | t.d GROUP_BY, t.d FILTER

-- case: scalar subquery
SELECT a, (SELECT max(x) FROM u) AS m FROM t;
--> a <- t.a IDENTITY
--> m <- u.x AGGREGATION

-- case: correlated scalar subquery
SELECT a, (SELECT max(y) FROM u WHERE u.x = t.a) AS m FROM t;
--> a <- t.a IDENTITY
--> m <- u.y AGGREGATION | u.x FILTER, t.a FILTER

-- case: in subquery
SELECT a FROM t WHERE b IN (SELECT x FROM u WHERE y > 1);
--> a <- t.a IDENTITY
--> * | t.b FILTER, u.x FILTER, u.y FILTER

-- case: pair in subquery
SELECT c FROM t WHERE (a, b) NOT IN (SELECT x, y FROM u);
--> c <- t.c IDENTITY
--> * | t.a FILTER, t.b FILTER, u.x FILTER, u.y FILTER

-- case: exists
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.x = t.b);
--> a <- t.a IDENTITY
--> * | u.x FILTER, t.b FILTER

-- case: exists without a condition still has its table
SELECT a FROM t WHERE EXISTS (SELECT * FROM u);
--> a <- t.a IDENTITY

-- case: subquery in a choice
SELECT CASE WHEN a > (SELECT avg(x) FROM u) THEN b ELSE 0 END AS v FROM t;
--> v <- t.b TRANSFORMATION | t.a CONDITIONAL, u.x CONDITIONAL

-- case: subquery in having
SELECT c FROM t GROUP BY c HAVING sum(a) > (SELECT max(x) FROM u);
--> c <- t.c IDENTITY
--> * | t.c GROUP_BY, t.a FILTER, u.x FILTER
