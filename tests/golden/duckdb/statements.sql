-- schema: t(a, b, c, l, s, q), u(x, y, z), dst(p, q)

-- case: from first
FROM t SELECT a, b;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY

-- case: from alone
FROM u;
--> x <- u.x IDENTITY
--> y <- u.y IDENTITY
--> z <- u.z IDENTITY

-- case: star exclude and replace
SELECT * EXCLUDE (y) REPLACE (z + 1 AS z) FROM u;
--> x <- u.x IDENTITY
--> z <- u.z TRANSFORMATION

-- case: struct literal and field
SELECT {'k': a, 'v': b} AS s1, s.f.g AS g, s['h'] AS h FROM t;
--> s1.k <- t.a IDENTITY
--> s1.v <- t.b IDENTITY
--> g <- t.s.f.g IDENTITY
--> h <- t.s.h IDENTITY

-- case: list comprehension
SELECT [x + a FOR x IN l IF x > b] AS r FROM t;
--> r <- t.l[] TRANSFORMATION, t.a TRANSFORMATION | t.l[] CONDITIONAL, t.b CONDITIONAL

-- case: list transform
SELECT list_transform(l, x -> x * 2) AS r FROM t;
--> r <- t.l[] TRANSFORMATION

-- case: unnest in the select list
SELECT a, unnest(l) AS e FROM t;
--> a <- t.a IDENTITY
--> e <- t.l[] IDENTITY
--> * | t.l JOIN

-- case: unnest in from
SELECT t.a, e.i FROM t, UNNEST(t.l) AS e (i);
--> a <- t.a IDENTITY
--> i <- t.l[] IDENTITY
--> * | t.l JOIN

-- case: union by name
SELECT a, b FROM t UNION ALL BY NAME SELECT y AS b, x AS n FROM u;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY, u.y IDENTITY
--> n <- u.x IDENTITY

-- case: insert by name
INSERT INTO dst BY NAME SELECT a AS q, b AS p FROM t;
--> dst.q <- t.a IDENTITY
--> dst.p <- t.b IDENTITY

-- case: group by all
SELECT a, b, sum(c) AS s FROM t GROUP BY ALL ORDER BY ALL;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> s <- t.c AGGREGATION
--> * | t.a GROUP_BY, t.a SORT, t.b GROUP_BY, t.b SORT, t.c SORT

-- case: pivot statement
PIVOT t ON q IN ('k', 'm') USING sum(c) GROUP BY a;
--> a <- t.a IDENTITY
--> k <- t.c AGGREGATION | t.q CONDITIONAL
--> m <- t.c AGGREGATION | t.q CONDITIONAL
--> * | t.a GROUP_BY

-- case: unpivot statement
UNPIVOT u ON y, z INTO NAME k VALUE v;
--> x <- u.x IDENTITY
--> k
--> v <- u.y IDENTITY, u.z IDENTITY
--> * | u.y FILTER, u.z FILTER

-- case: a part of an array is chosen by its bounds
SELECT l[a:b] AS part, l[1:2] AS fixed FROM t;
--> part <- t.l TRANSFORMATION | t.a CONDITIONAL, t.b CONDITIONAL
--> fixed <- t.l IDENTITY

-- case: set operations compare whole rows
SELECT a, b FROM t EXCEPT ALL SELECT x, y FROM u;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> * | t.a GROUP_BY, t.b GROUP_BY, u.x GROUP_BY, u.y GROUP_BY

-- case: one union of a chain drops equal rows
SELECT a FROM t UNION SELECT x FROM u UNION ALL SELECT y FROM u;
--> a <- t.a IDENTITY, u.x IDENTITY, u.y IDENTITY
--> * | t.a GROUP_BY, u.x GROUP_BY, u.y GROUP_BY

-- case: a recursive union drops equal rows
WITH RECURSIVE r(n, m) AS (SELECT a, b FROM t UNION SELECT r.n + 1, u.y FROM r JOIN u ON u.x = r.n) SELECT n FROM r;
--> n <- t.a TRANSFORMATION
--> * | t.a GROUP_BY, t.b GROUP_BY, u.y GROUP_BY, u.x JOIN, t.a JOIN

-- case: unpivot that keeps rows without a value
SELECT x, k, v FROM u UNPIVOT INCLUDE NULLS (v FOR k IN (y, z));
--> x <- u.x IDENTITY
--> k
--> v <- u.y IDENTITY, u.z IDENTITY

-- case: file in from
SELECT i FROM 'data.parquet';
--> i <- data.parquet.i IDENTITY
--! UNKNOWN_TABLE

-- case: read csv
CREATE TABLE n AS SELECT k, v FROM read_csv('in.csv');
--> n.k <- in.csv.k IDENTITY
--> n.v <- in.csv.v IDENTITY

-- case: copy a query to a file
COPY (SELECT a FROM t) TO 'out.parquet' (FORMAT parquet);
--> out.parquet.a <- t.a IDENTITY

-- case: copy a table to a file
COPY u TO 'u.csv';
--> u.csv.x <- u.x IDENTITY
--> u.csv.y <- u.y IDENTITY
--> u.csv.z <- u.z IDENTITY

-- case: qualify
SELECT a FROM t QUALIFY row_number() OVER (PARTITION BY b ORDER BY c) = 1;
--> a <- t.a IDENTITY
--> * | t.b FILTER, t.c FILTER

-- case: alias reuse
SELECT a + 1 AS k, k * 2 AS m FROM t WHERE k > 0;
--> k <- t.a TRANSFORMATION
--> m <- t.a TRANSFORMATION
--> * | t.a FILTER

-- case: asof join
SELECT t.a, u.y FROM t ASOF JOIN u ON t.b = u.x AND t.c >= u.z;
--> a <- t.a IDENTITY
--> y <- u.y IDENTITY
--> * | t.b JOIN, u.x JOIN, t.c JOIN, u.z JOIN

-- case: semi join
SELECT * FROM u SEMI JOIN t ON t.a = u.x;
--> x <- u.x IDENTITY
--> y <- u.y IDENTITY
--> z <- u.z IDENTITY
--> * | t.a JOIN, u.x JOIN

-- case: create or replace with if not exists
CREATE OR REPLACE TABLE n AS FROM u;
--> n.x <- u.x IDENTITY
--> n.y <- u.y IDENTITY
--> n.z <- u.z IDENTITY

-- case: list aggregate with order and filter
SELECT list(a ORDER BY b) FILTER (WHERE c > 1) AS l2 FROM t;
--> l2 <- t.a AGGREGATION | t.b WINDOW, t.c CONDITIONAL

-- case: first and arg_max
SELECT first(a) AS f, arg_max(a, b) AS m FROM t;
--> f <- t.a AGGREGATION
--> m <- t.a AGGREGATION | t.b CONDITIONAL

-- case: range
SELECT r.i FROM range(10) r (i);
--> i

-- case: summarise by position
SELECT a, count(*) AS n FROM t GROUP BY 1 HAVING n > 1 ORDER BY 2;
--> a <- t.a IDENTITY
--> n
--> * | t.a GROUP_BY

-- case: macro is seen through
CREATE MACRO add_up(k, m) AS k + m;
SELECT add_up(a, b) AS r FROM t;
--> r <- t.a TRANSFORMATION, t.b TRANSFORMATION

-- case: union with unknown star
SELECT * FROM mystery UNION ALL SELECT x FROM u;
--> * <- mystery.* IDENTITY ?, u.x IDENTITY
--! UNKNOWN_TABLE
--! APPROXIMATE_LINEAGE

-- case: positional join
SELECT a, x FROM t POSITIONAL JOIN u;
--> a <- t.a IDENTITY
--> x <- u.x IDENTITY

-- case: a named argument is no assignment
SELECT struct_pack(k := a) AS s FROM t;
--> s.k <- t.a IDENTITY

-- case: one item of a list that is written item by item
SELECT [a, b][2] AS second, [a, b][-1] AS last, list_extract([a, b], 1) AS one, [a, b][c] AS any FROM t;
--> second <- t.b IDENTITY
--> last <- t.a IDENTITY, t.b IDENTITY
--> one <- t.a IDENTITY
--> any <- t.a IDENTITY, t.b IDENTITY | t.c CONDITIONAL

-- case: one item of a list that a query below writes
WITH pairs AS (SELECT [[a, b], [c]] AS p FROM t) SELECT p[1][2] AS r, p[2] AS s FROM pairs;
--> r <- t.b IDENTITY
--> s <- t.c TRANSFORMATION

-- case: members of rows, structs and maps that are written out
SELECT row(a, b)[2] AS r, struct_pack(x := a, y := b).x AS s, MAP {1: a, 2: b}[2] AS m FROM t;
--> r <- t.b IDENTITY
--> s <- t.a IDENTITY
--> m <- t.b IDENTITY
