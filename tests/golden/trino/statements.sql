-- schema: c.s.t(a, b, c, arr, m, r), c.s.u(x, y, z), c.s.dst(p, q)

-- case: unnest an array
SELECT t.a, e FROM c.s.t CROSS JOIN UNNEST(arr) AS k (e);
--> a <- c.s.t.a IDENTITY
--> e <- c.s.t.arr[] IDENTITY
--> * | c.s.t.arr JOIN

-- case: unnest a map
SELECT k, v FROM c.s.t CROSS JOIN UNNEST(m) AS mm (k, v);
--> k <- c.s.t.m[] IDENTITY
--> v <- c.s.t.m[] IDENTITY
--> * | c.s.t.m JOIN

-- case: unnest with ordinality
SELECT e, n FROM c.s.t CROSS JOIN UNNEST(arr) WITH ORDINALITY AS k (e, n);
--> e <- c.s.t.arr[] IDENTITY
--> n
--> * | c.s.t.arr JOIN

-- case: unnest two arrays
SELECT p, q FROM c.s.t CROSS JOIN UNNEST(arr, b) AS k (p, q);
--> p <- c.s.t.arr[] IDENTITY
--> q <- c.s.t.b[] IDENTITY
--> * | c.s.t.arr JOIN, c.s.t.b JOIN

-- case: row field
SELECT r.f1, t.r.f2.g FROM c.s.t;
--> f1 <- c.s.t.r.f1 IDENTITY
--> g <- c.s.t.r.f2.g IDENTITY

-- case: lambda
SELECT transform(arr, x -> x + a) AS l, filter(arr, x -> x > b) AS f FROM c.s.t;
--> l <- c.s.t.arr[] TRANSFORMATION, c.s.t.a TRANSFORMATION
--> f <- c.s.t.arr TRANSFORMATION | c.s.t.arr[] CONDITIONAL, c.s.t.b CONDITIONAL

-- case: reduce
SELECT reduce(arr, 0, (s, x) -> s + x, s -> s) AS total FROM c.s.t;
--> total <- c.s.t.arr[] TRANSFORMATION

-- case: try and if
SELECT TRY(a / b) AS q, IF(a > 1, b) AS i FROM c.s.t;
--> q <- c.s.t.a TRANSFORMATION, c.s.t.b TRANSFORMATION
--> i <- c.s.t.b TRANSFORMATION | c.s.t.a CONDITIONAL

-- case: max_by
SELECT max_by(a, b) AS m, approx_distinct(c) AS n FROM c.s.t;
--> m <- c.s.t.a AGGREGATION | c.s.t.b CONDITIONAL
--> n <- c.s.t.c AGGREGATION masked

-- case: aggregate with filter
SELECT count(*) FILTER (WHERE a > 1) AS n, sum(b) FILTER (WHERE c = 'x') AS s FROM c.s.t;
--> n | c.s.t.a CONDITIONAL
--> s <- c.s.t.b AGGREGATION | c.s.t.c CONDITIONAL

-- case: create table as
CREATE TABLE c.s.n WITH (format = 'ORC') AS SELECT a, b FROM c.s.t;
--> c.s.n.a <- c.s.t.a IDENTITY
--> c.s.n.b <- c.s.t.b IDENTITY

-- case: insert by position
INSERT INTO c.s.dst SELECT x, y FROM c.s.u;
--> c.s.dst.p <- c.s.u.x IDENTITY
--> c.s.dst.q <- c.s.u.y IDENTITY

-- case: merge
MERGE INTO c.s.dst d USING c.s.u s ON d.p = s.x WHEN MATCHED AND s.z = 1 THEN DELETE WHEN MATCHED THEN UPDATE SET q = s.y WHEN NOT MATCHED THEN INSERT (p, q) VALUES (s.x, s.y);
--> c.s.dst.q <- c.s.u.y IDENTITY
--> c.s.dst.p <- c.s.u.x IDENTITY
--> c.s.dst.* | c.s.dst.p MERGE, c.s.u.x MERGE, c.s.u.z MERGE

-- case: json extract
SELECT json_extract_scalar(b, '$.k.l') AS v FROM c.s.t;
--> v <- c.s.t.b.k.l TRANSFORMATION

-- case: element at
SELECT element_at(m, 'k') AS v, element_at(arr, 1) AS f FROM c.s.t;
--> v <- c.s.t.m.k IDENTITY
--> f <- c.s.t.arr[] IDENTITY

-- case: grouping sets
SELECT a, b, sum(c) AS s FROM c.s.t GROUP BY GROUPING SETS ((a), (b));
--> a <- c.s.t.a IDENTITY
--> b <- c.s.t.b IDENTITY
--> s <- c.s.t.c AGGREGATION
--> * | c.s.t.a GROUP_BY, c.s.t.b GROUP_BY

-- case: use
USE c.s;
SELECT x FROM u;
--> x <- c.s.u.x IDENTITY

-- case: array_agg with order
SELECT array_agg(a ORDER BY b) AS l FROM c.s.t;
--> l <- c.s.t.a AGGREGATION | c.s.t.b WINDOW

-- case: values with names
SELECT k FROM (VALUES (1, 2)) AS v (k, l);
--> k

-- case: lateral
SELECT t.a, l.y FROM c.s.t CROSS JOIN LATERAL (SELECT y FROM c.s.u WHERE u.x = t.a) l;
--> a <- c.s.t.a IDENTITY
--> y <- c.s.u.y IDENTITY
--> * | c.s.u.x FILTER, c.s.t.a FILTER
