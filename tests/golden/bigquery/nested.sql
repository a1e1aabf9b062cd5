-- schema: ds.t(id, s STRUCT<a INT64, b STRUCT<c STRING, d STRING>>, arr ARRAY<STRUCT<k STRING, v INT64>>, tags ARRAY<STRING>, js JSON, n), ds.u(id, s2, w)

-- case: struct field
SELECT s.a, t.s.b.c FROM ds.t;
--> a <- ds.t.s.a IDENTITY
--> c <- ds.t.s.b.c IDENTITY

-- case: struct as a whole
SELECT s AS whole FROM ds.t;
--> whole <- ds.t.s IDENTITY

-- case: struct construction is told apart by field
SELECT STRUCT(id AS x, n + 1 AS y) AS st FROM ds.t;
--> st.x <- ds.t.id IDENTITY
--> st.y <- ds.t.n TRANSFORMATION

-- case: field of a struct built in a subquery
SELECT q.st.y FROM (SELECT STRUCT(id AS x, n AS y) AS st FROM ds.t) q;
--> y <- ds.t.n IDENTITY

-- case: nested struct construction
SELECT STRUCT(STRUCT(id AS i) AS inner_s, n) AS o FROM ds.t;
--> o.inner_s.i <- ds.t.id IDENTITY
--> o.n <- ds.t.n IDENTITY

-- case: field through coalesce
SELECT COALESCE(t.s, u.s2).a AS a FROM ds.t JOIN ds.u ON t.id = u.id;
--> a <- ds.t.s.a TRANSFORMATION, ds.u.s2.a TRANSFORMATION | ds.t.s.a CONDITIONAL, ds.u.s2.a CONDITIONAL
--> * | ds.t.id JOIN, ds.u.id JOIN

-- case: field through if
SELECT IF(n > 1, s, NULL).b.d AS d FROM ds.t;
--> d <- ds.t.s.b.d TRANSFORMATION | ds.t.n CONDITIONAL

-- case: array element and its field
SELECT arr[OFFSET(0)].k AS k0, tags[SAFE_ORDINAL(1)] AS tag FROM ds.t;
--> k0 <- ds.t.arr[].k IDENTITY
--> tag <- ds.t.tags[] IDENTITY

-- case: array index from a column
SELECT tags[OFFSET(n)] AS tag FROM ds.t;
--> tag <- ds.t.tags[] IDENTITY | ds.t.n CONDITIONAL

-- case: unnest
SELECT id, tag FROM ds.t, UNNEST(tags) AS tag;
--> id <- ds.t.id IDENTITY
--> tag <- ds.t.tags[] IDENTITY
--> * | ds.t.tags JOIN

-- case: unnest of structs
SELECT e.k, e.v * 2 AS v2 FROM ds.t, UNNEST(t.arr) AS e WHERE e.v > 0;
--> k <- ds.t.arr[].k IDENTITY
--> v2 <- ds.t.arr[].v TRANSFORMATION
--> * | ds.t.arr[].v FILTER, ds.t.arr JOIN

-- case: unnest without alias gives the fields
SELECT id, k FROM ds.t, UNNEST(arr);
--> id <- ds.t.id IDENTITY
--> k <- ds.t.arr[].k IDENTITY
--> * | ds.t.arr JOIN

-- case: implicit unnest
SELECT e.k FROM ds.t AS t, t.arr AS e;
--> k <- ds.t.arr[].k IDENTITY
--> * | ds.t.arr JOIN

-- case: unnest with offset
SELECT tag, pos FROM ds.t, UNNEST(tags) AS tag WITH OFFSET AS pos;
--> tag <- ds.t.tags[] IDENTITY
--> pos
--> * | ds.t.tags JOIN

-- case: left join unnest
SELECT id, e FROM ds.t LEFT JOIN UNNEST(tags) AS e;
--> id <- ds.t.id IDENTITY
--> e <- ds.t.tags[] IDENTITY
--> * | ds.t.tags JOIN

-- case: array subquery over unnest
SELECT ARRAY(SELECT e.k FROM UNNEST(arr) AS e WHERE e.v > 1) AS ks FROM ds.t;
--> ks <- ds.t.arr[].k TRANSFORMATION | ds.t.arr[].v FILTER, ds.t.arr JOIN

-- case: array of structs from a subquery
SELECT ARRAY(SELECT AS STRUCT e.k AS key, id AS owner FROM UNNEST(arr) AS e) AS l FROM ds.t;
--> l[] | ds.t.arr JOIN
--> l[].key <- ds.t.arr[].k IDENTITY
--> l[].owner <- ds.t.id IDENTITY

-- case: array aggregate of structs and its element
SELECT ARRAY_AGG(STRUCT(id AS p, n AS q) ORDER BY n LIMIT 1)[OFFSET(0)].p AS top FROM ds.t;
--> top <- ds.t.id AGGREGATION | ds.t.n WINDOW

-- case: array literal
SELECT [id, n] AS both FROM ds.t;
--> both <- ds.t.id TRANSFORMATION, ds.t.n TRANSFORMATION

-- case: array functions pass elements through
SELECT ARRAY_CONCAT(tags, ['x'])[OFFSET(0)] AS first FROM ds.t;
--> first <- ds.t.tags[] TRANSFORMATION

-- case: in unnest
SELECT id FROM ds.t WHERE 'x' IN UNNEST(tags);
--> id <- ds.t.id IDENTITY
--> * | ds.t.tags FILTER

-- case: exists over unnest
SELECT id FROM ds.t WHERE EXISTS (SELECT 1 FROM UNNEST(arr) AS e WHERE e.k = 'z');
--> id <- ds.t.id IDENTITY
--> * | ds.t.arr[].k FILTER, ds.t.arr FILTER

-- case: json fields
SELECT js.a.b AS b, JSON_VALUE(js, '$.c') AS c FROM ds.t;
--> b <- ds.t.js.a.b IDENTITY
--> c <- ds.t.js.c TRANSFORMATION

-- case: struct through union
SELECT q.s.a FROM (SELECT s FROM ds.t UNION ALL SELECT s2 FROM ds.u) q;
--> a <- ds.t.s.a IDENTITY, ds.u.s2.a IDENTITY

-- case: table as a struct
SELECT u AS r FROM ds.u;
--> r.id <- ds.u.id IDENTITY
--> r.s2 <- ds.u.s2 IDENTITY
--> r.w <- ds.u.w IDENTITY

-- case: any_value with having max
SELECT ANY_VALUE(id HAVING MAX n) AS best FROM ds.t;
--> best <- ds.t.id AGGREGATION | ds.t.n CONDITIONAL

-- case: unnest of an array literal of columns
SELECT e FROM ds.t, UNNEST([id, n]) AS e;
--> e <- ds.t.id IDENTITY, ds.t.n IDENTITY

-- case: scalar subquery over unnest
SELECT (SELECT MAX(e.v) FROM UNNEST(arr) e) AS mv FROM ds.t;
--> mv <- ds.t.arr[].v AGGREGATION | ds.t.arr JOIN

-- case: window over a field
SELECT LAST_VALUE(s.a) OVER (PARTITION BY s.b.c ORDER BY id) AS l FROM ds.t;
--> l <- ds.t.s.a TRANSFORMATION | ds.t.s.b.c WINDOW, ds.t.id WINDOW
