-- schema: t(a, b, arr), u(x, y)

-- case: unnest
SELECT a, e FROM t CROSS JOIN UNNEST(arr) AS k (e);
--> a <- t.a IDENTITY
--> e <- t.arr[] IDENTITY
--> * | t.arr JOIN

-- case: date functions
SELECT date_diff('day', a, b) AS n, date_trunc('month', a) AS m FROM t;
--> n <- t.a TRANSFORMATION, t.b TRANSFORMATION
--> m <- t.a TRANSFORMATION

-- case: approx percentile
SELECT approx_percentile(a, 0.5) AS p FROM t;
--> p <- t.a AGGREGATION

-- case: row constructor
SELECT CAST(ROW(a, b) AS ROW(k INT, l INT)) AS r FROM t;
--> r.k <- t.a TRANSFORMATION
--> r.l <- t.b TRANSFORMATION

-- case: create view
CREATE OR REPLACE VIEW v AS SELECT a, y FROM t JOIN u ON t.b = u.x;
--> v.a <- t.a IDENTITY
--> v.y <- u.y IDENTITY
--> v.* | t.b JOIN, u.x JOIN

-- case: insert from union
INSERT INTO u SELECT a, b FROM t UNION ALL SELECT b, a FROM t;
--> u.x <- t.a IDENTITY, t.b IDENTITY
--> u.y <- t.b IDENTITY, t.a IDENTITY

-- case: coalesce and nullif
SELECT coalesce(a, b) AS k, nullif(a, b) AS l FROM t;
--> k <- t.a TRANSFORMATION, t.b TRANSFORMATION | t.a CONDITIONAL, t.b CONDITIONAL
--> l <- t.a TRANSFORMATION | t.a CONDITIONAL, t.b CONDITIONAL

-- case: in subquery
SELECT a FROM t WHERE b IN (SELECT x FROM u);
--> a <- t.a IDENTITY
--> * | t.b FILTER, u.x FILTER
