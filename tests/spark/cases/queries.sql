-- case: columns and aliases
SELECT a, b AS bb FROM t;
--> a <- t.a IDENTITY
--> bb <- t.b IDENTITY

-- case: star
SELECT * FROM u;
--> x <- u.x IDENTITY
--> y <- u.y IDENTITY
--> z <- u.z IDENTITY

-- case: star except
SELECT * EXCEPT (y) FROM u;
--> x <- u.x IDENTITY
--> z <- u.z IDENTITY

-- case: operators
SELECT a + b * 2 AS s, -a AS n, a = b AS e FROM t;
--> s <- t.a TRANSFORMATION, t.b TRANSFORMATION
--> n <- t.a TRANSFORMATION
--> e <- t.a TRANSFORMATION, t.b TRANSFORMATION

-- case: a constant comes from nowhere
SELECT 1 AS one, current_date() AS today, a FROM t;
--> one
--> today
--> a <- t.a IDENTITY

-- case: a cast that was written
SELECT CAST(a AS STRING) AS s, a::BIGINT AS l, try_cast(c AS INT) AS i FROM t;
--> s <- t.a TRANSFORMATION
--> l <- t.a TRANSFORMATION
--> i <- t.c TRANSFORMATION

-- case: casts that the analyzer needs are not transformations
SELECT a FROM t UNION ALL SELECT id FROM ev;
--> a <- t.a IDENTITY, ev.id IDENTITY

-- case: case chooses
SELECT CASE WHEN a > 1 THEN b ELSE 0 END AS v, CASE c WHEN 'x' THEN a WHEN 'y' THEN b END AS w FROM t;
--> v <- t.b TRANSFORMATION | t.a CONDITIONAL
--> w <- t.a TRANSFORMATION, t.b TRANSFORMATION | t.c CONDITIONAL

-- case: if, nvl2 and nullif choose too
SELECT if(a > 1, b, 0) AS i, nvl2(a, b, 0) AS n, nullif(a, b) AS f FROM t;
--> i <- t.b TRANSFORMATION | t.a CONDITIONAL
--> n <- t.b TRANSFORMATION | t.a CONDITIONAL
--> f <- t.a TRANSFORMATION | t.a CONDITIONAL, t.b CONDITIONAL

-- case: coalesce and its like
SELECT coalesce(a, b) AS c1, nvl(a, b) AS c2, ifnull(a, b) AS c3, greatest(a, b) AS g FROM t;
--> c1 <- t.a TRANSFORMATION, t.b TRANSFORMATION | t.a CONDITIONAL, t.b CONDITIONAL
--> c2 <- t.a TRANSFORMATION, t.b TRANSFORMATION | t.a CONDITIONAL, t.b CONDITIONAL
--> c3 <- t.a TRANSFORMATION, t.b TRANSFORMATION | t.a CONDITIONAL, t.b CONDITIONAL
--> g <- t.a TRANSFORMATION, t.b TRANSFORMATION

-- case: functions that hide a value
SELECT md5(c) AS m, sha2(c, 256) AS s, hash(a) AS h, xxhash64(a, b) AS x, mask(c) AS k, crc32(c) AS r FROM t;
--> m <- t.c TRANSFORMATION masked
--> s <- t.c TRANSFORMATION masked
--> h <- t.a TRANSFORMATION masked
--> x <- t.a TRANSFORMATION masked, t.b TRANSFORMATION masked
--> k <- t.c TRANSFORMATION masked
--> r <- t.c TRANSFORMATION masked

-- case: text functions
SELECT upper(concat(c, '-', z)) AS k, substr(c, 1, a) AS p FROM t, u;
--> k <- t.c TRANSFORMATION, u.z TRANSFORMATION
--> p <- t.c TRANSFORMATION, t.a TRANSFORMATION

-- case: where decides about rows
SELECT a FROM t WHERE b > 1 AND c = 'secret';
--> a <- t.a IDENTITY
--> * | t.b FILTER, t.c FILTER

-- case: where false still has its table
SELECT a FROM t WHERE 1 = 0;
--> a <- t.a IDENTITY

-- case: between, in, like
SELECT a FROM t WHERE a BETWEEN b AND 10 AND c IN ('x', 'y') AND c LIKE 'z%';
--> a <- t.a IDENTITY
--> * | t.a FILTER, t.b FILTER, t.c FILTER

-- case: order and limit
SELECT a FROM t ORDER BY b DESC, a LIMIT 3;
--> a <- t.a IDENTITY
--> * | t.a SORT, t.b SORT

-- case: sort by and distribute by
SELECT a FROM t DISTRIBUTE BY c SORT BY b;
--> a <- t.a IDENTITY
--> * | t.b SORT

-- case: distinct groups by what it selects
SELECT DISTINCT a, b FROM t;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> * | t.a GROUP_BY, t.b GROUP_BY

-- case: lateral column alias
SELECT a + 1 AS n, n * b AS p FROM t;
--> n <- t.a TRANSFORMATION
--> p <- t.a TRANSFORMATION, t.b TRANSFORMATION

-- case: derived table
SELECT s.n FROM (SELECT a + b AS n, c FROM t WHERE c = 'x') s WHERE s.n > 0;
--> n <- t.a TRANSFORMATION, t.b TRANSFORMATION
--> * | t.a FILTER, t.b FILTER, t.c FILTER

-- case: values and range
SELECT id, v FROM range(3) JOIN VALUES (1), (2) AS w(v);
--> id
--> v

-- case: hints and samples change nothing
SELECT /*+ BROADCAST(u) */ a FROM t TABLESAMPLE (50 PERCENT) JOIN u ON a = x;
--> a <- t.a IDENTITY
--> * | t.a JOIN, u.x JOIN

-- case: pipe syntax
FROM t |> WHERE a > 1 |> EXTEND a + b AS s |> SELECT s, c;
--> s <- t.a TRANSFORMATION, t.b TRANSFORMATION
--> c <- t.c IDENTITY
--> * | t.a FILTER

-- case: a SQL function is entered
SELECT plus_one(a) AS n FROM t;
--> n <- t.a TRANSFORMATION

-- case: a table function of SQL is entered
SELECT v FROM above(2);
--> v <- t.a IDENTITY
--> * | t.b FILTER

-- case: named parameters and session variables come from nowhere
SELECT a + limit_of_b AS n FROM t WHERE b < limit_of_b;
--> n <- t.a TRANSFORMATION
--> * | t.b FILTER
