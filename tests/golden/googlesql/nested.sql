-- schema: t(a INT64, b INT64, c INT64, n STRING, d DATE, ts TIMESTAMP, f FLOAT64, j JSON, s STRUCT<x INT64, y STRUCT<z INT64, w STRING>>, arr ARRAY<INT64>, sa ARRAY<STRUCT<k INT64, v STRING>>), u(a INT64, z INT64, n STRING, f FLOAT64), w(a INT64, q INT64)

-- case: struct field
SELECT s.x, s.y.z, s.y.w AS ww FROM t;
--> x <- t.s.x IDENTITY
--> z <- t.s.y.z IDENTITY
--> ww <- t.s.y.w IDENTITY

-- case: whole struct
SELECT s, s.y FROM t;
--> s <- t.s IDENTITY
--> y <- t.s.y IDENTITY

-- case: dot star of a struct
SELECT s.*, a FROM t;
--> x <- t.s.x IDENTITY
--> y <- t.s.y IDENTITY
--> a <- t.a IDENTITY

-- case: struct made and taken apart
SELECT st.p AS p, st.q.r AS r FROM (SELECT STRUCT(a AS p, STRUCT(b AS r, c AS o) AS q) AS st FROM t);
--> p <- t.a IDENTITY
--> r <- t.b IDENTITY

-- case: struct as an output is given by fields
CREATE TABLE d.o AS SELECT STRUCT(a AS p, b + c AS q) AS st FROM t;
--> d.o.st.p <- t.a IDENTITY
--> d.o.st.q <- t.b TRANSFORMATION, t.c TRANSFORMATION

-- case: fields without names
SELECT STRUCT(a, b) AS st, (a, n) AS tup FROM t;
--> st.a <- t.a IDENTITY
--> st.b <- t.b IDENTITY
--> tup._field_1 <- t.a IDENTITY
--> tup._field_2 <- t.n IDENTITY

-- case: struct through a cte
WITH c AS (SELECT s, a FROM t) SELECT s.x AS x, s.y.w AS w FROM c;
--> x <- t.s.x IDENTITY
--> w <- t.s.y.w IDENTITY

-- case: struct through a union
SELECT k.x FROM (SELECT s AS k FROM t UNION ALL SELECT s FROM t WHERE a > 1);
--> x <- t.s.x IDENTITY
--> * | t.a FILTER

-- case: struct through a join and a group
SELECT ANY_VALUE(t.s).x AS x, MAX(u.z) AS z FROM t JOIN u ON t.s.x = u.a GROUP BY t.s.y.z;
--> x <- t.s.x AGGREGATION
--> z <- u.z AGGREGATION
--> * | t.s.y.z GROUP_BY, t.s.x JOIN, u.a JOIN

-- case: coalesce of structs, then a field
SELECT COALESCE(s, STRUCT(a, STRUCT(b, n))).x AS x FROM t;
--> x <- t.s.x TRANSFORMATION, t.a TRANSFORMATION | t.s.x CONDITIONAL, t.a CONDITIONAL

-- case: if of structs, then a field
SELECT IF(a > 1, s, STRUCT(b, STRUCT(c, n))).y.z AS z FROM t;
--> z <- t.s.y.z TRANSFORMATION, t.c TRANSFORMATION | t.a CONDITIONAL

-- case: struct compared as a whole
SELECT s = STRUCT(1, STRUCT(2, 'x')) AS same FROM t;
--> same <- t.s TRANSFORMATION

-- case: unnest of a column
SELECT e FROM t, UNNEST(arr) AS e;
--> e <- t.arr[] IDENTITY
--> * | t.arr JOIN

-- case: unnest with offset
SELECT e, o FROM t CROSS JOIN UNNEST(arr) AS e WITH OFFSET AS o;
--> e <- t.arr[] IDENTITY
--> o
--> * | t.arr JOIN

-- case: unnest of structs
SELECT i.k, i.v FROM t, UNNEST(sa) AS i;
--> k <- t.sa[].k IDENTITY
--> v <- t.sa[].v IDENTITY
--> * | t.sa JOIN

-- case: implicit unnest
SELECT i.k, t.a FROM t, t.sa AS i;
--> k <- t.sa[].k IDENTITY
--> a <- t.a IDENTITY
--> * | t.sa JOIN

-- case: left join unnest with a condition
SELECT t.a, i.v FROM t LEFT JOIN UNNEST(t.sa) AS i ON i.k = t.b;
--> a <- t.a IDENTITY
--> v <- t.sa[].v IDENTITY
--> * | t.sa[].k JOIN, t.b JOIN, t.sa JOIN

-- case: unnest of a literal array
SELECT e, a FROM t, UNNEST([1, 2, b]) AS e;
--> e <- t.b IDENTITY
--> a <- t.a IDENTITY

-- case: unnest of an expression
SELECT e FROM t, UNNEST(ARRAY_CONCAT(arr, [a])) AS e;
--> e <- t.arr[] TRANSFORMATION, t.a TRANSFORMATION
--> * | t.arr JOIN, t.a JOIN

-- case: unnest alone
SELECT e FROM UNNEST([1, 2]) AS e;
--> e

-- case: unnest of generated rows
SELECT g FROM t, UNNEST(GENERATE_ARRAY(a, b)) AS g;
--> g <- t.a TRANSFORMATION, t.b TRANSFORMATION
--> * | t.a JOIN, t.b JOIN

-- case: unnest of an array made elsewhere
WITH c AS (SELECT ARRAY_AGG(STRUCT(a AS p, n AS q)) AS items FROM t) SELECT i.p, i.q FROM c, UNNEST(items) AS i;
--> p <- t.a AGGREGATION
--> q <- t.n AGGREGATION
--> * | t.a JOIN, t.n JOIN

-- case: array elements by position
SELECT arr[OFFSET(0)] AS x, arr[SAFE_ORDINAL(b)] AS y, arr[0] AS z, sa[OFFSET(0)].v AS v FROM t;
--> x <- t.arr[] IDENTITY
--> y <- t.arr[] IDENTITY | t.b CONDITIONAL
--> z <- t.arr[] IDENTITY
--> v <- t.sa[].v IDENTITY

-- case: array functions
SELECT ARRAY_LENGTH(arr) AS l, ARRAY_REVERSE(sa)[OFFSET(0)].k AS k, ARRAY_TO_STRING([n], ',') AS s FROM t;
--> l <- t.arr TRANSFORMATION
--> k <- t.sa[].k TRANSFORMATION
--> s <- t.n TRANSFORMATION

-- case: array of columns
SELECT [a, b, c] AS abc, [a, b][OFFSET(0)] AS first FROM t;
--> abc <- t.a TRANSFORMATION, t.b TRANSFORMATION, t.c TRANSFORMATION
--> first <- t.a IDENTITY

-- case: array_agg of structs
SELECT a, ARRAY_AGG(STRUCT(b AS p, n AS q)) AS items FROM t GROUP BY a;
--> a <- t.a IDENTITY
--> items[].p <- t.b AGGREGATION
--> items[].q <- t.n AGGREGATION
--> * | t.a GROUP_BY

-- case: flatten
SELECT ARRAY_TO_STRING(FLATTEN(sa.v), ',') AS vs FROM t;
--> vs <- t.sa[].v TRANSFORMATION

-- case: in unnest
SELECT a FROM t WHERE b IN UNNEST(arr);
--> a <- t.a IDENTITY
--> * | t.b FILTER, t.arr FILTER

-- case: nested unnest inside a scalar subquery
SELECT (SELECT SUM(i.k) FROM UNNEST(sa) AS i WHERE i.v = n) AS total FROM t;
--> total <- t.sa[].k AGGREGATION | t.sa[].v FILTER, t.n FILTER, t.sa JOIN

-- case: json by name and by position
SELECT j.user.name AS un, j['k'] AS k, j.list[0] AS f, JSON_VALUE(j, '$.p') AS p FROM t;
--> un <- t.j.user.name IDENTITY
--> k <- t.j.k IDENTITY
--> f <- t.j.list[] IDENTITY
--> p <- t.j.p TRANSFORMATION

-- case: json built
SELECT TO_JSON(STRUCT(a AS p, n AS q)) AS js, JSON_OBJECT('a', a) AS o FROM t;
--> js <- t.a TRANSFORMATION, t.n TRANSFORMATION
--> o <- t.a TRANSFORMATION

-- case: lambdas
SELECT ARRAY_TRANSFORM(arr, e -> e + b) AS r, ARRAY_FILTER(arr, e -> e > a) AS f, ARRAY_INCLUDES(sa, i -> i.k = c) AS h
FROM t;
--> r <- t.arr[] TRANSFORMATION, t.b TRANSFORMATION
--> f <- t.arr TRANSFORMATION | t.arr[] CONDITIONAL, t.a CONDITIONAL
--> h <- t.sa TRANSFORMATION, t.sa[].k TRANSFORMATION, t.c TRANSFORMATION

-- case: lambda over structs
SELECT ARRAY_TRANSFORM(sa, i -> i.v) AS vs, ARRAY_TRANSFORM(sa, (i, p) -> i.k + p) AS ks FROM t;
--> vs <- t.sa[].v TRANSFORMATION
--> ks <- t.sa[].k TRANSFORMATION

-- case: with expression
SELECT WITH(p AS a + 1, q AS p * b, q + c) AS r FROM t;
--> r <- t.a TRANSFORMATION, t.b TRANSFORMATION, t.c TRANSFORMATION

-- case: table as a value
SELECT TO_JSON_STRING(u) AS js, u.z FROM u;
--> js <- u.a TRANSFORMATION, u.z TRANSFORMATION, u.n TRANSFORMATION, u.f TRANSFORMATION
--> z <- u.z IDENTITY

-- case: struct under other field names
SELECT CAST(s AS STRUCT<p INT64, q STRUCT<r INT64, o STRING>>).q.o AS o FROM t;
--> o <- t.s.y.w TRANSFORMATION

-- case: structs of other field names in a union
SELECT k.x, k.y.w AS kw FROM (SELECT s AS k FROM t UNION ALL SELECT STRUCT(z AS p, STRUCT(a AS q, n AS r) AS o) FROM u);
--> x <- t.s.x IDENTITY, u.z IDENTITY
--> kw <- t.s.y.w IDENTITY, u.n IDENTITY

-- case: array of structs under other names
CREATE TEMP TABLE target (items ARRAY<STRUCT<kk INT64, vv STRING>>);
INSERT INTO target (items) SELECT sa FROM t;
--> target.items <- t.sa[].k TRANSFORMATION, t.sa[].v TRANSFORMATION

-- case: array_agg of nested structs, in order
CREATE TABLE d.o AS
SELECT a, ARRAY_AGG(STRUCT(b AS p, STRUCT(n AS q, c + 1 AS r) AS inner1) ORDER BY ts LIMIT 3) AS items FROM t GROUP BY a;
--> d.o.a <- t.a IDENTITY
--> d.o.items[].p <- t.b AGGREGATION | t.ts WINDOW
--> d.o.items[].inner1.q <- t.n AGGREGATION | t.ts WINDOW
--> d.o.items[].inner1.r <- t.c AGGREGATION | t.ts WINDOW
--> d.o.* | t.a GROUP_BY

-- case: one item of an array that is written item by item
SELECT [a, b][OFFSET(1)] AS p, [a, b][ORDINAL(1)] AS q, [a, b][SAFE_OFFSET(c)] AS r FROM t;
--> p <- t.b IDENTITY
--> q <- t.a IDENTITY
--> r <- t.a IDENTITY, t.b IDENTITY | t.c CONDITIONAL
