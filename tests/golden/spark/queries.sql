-- schema: t(a, b, c, d), u(x, y, z), ev(id, arr ARRAY<STRUCT<k STRING>>, m MAP<STRING, STRING>, s STRUCT<p INT>, j, tags ARRAY<STRING>)

-- case: lateral view explode
SELECT id, e FROM ev LATERAL VIEW explode(tags) x AS e;
--> id <- ev.id IDENTITY
--> e <- ev.tags[] IDENTITY
--> * | ev.tags JOIN

-- case: lateral view of a map
SELECT k, v FROM ev LATERAL VIEW OUTER explode(m) x AS k, v;
--> k <- ev.m[] IDENTITY
--> v <- ev.m[] IDENTITY
--> * | ev.m JOIN

-- case: posexplode
SELECT pos, e.k FROM ev LATERAL VIEW posexplode(arr) x AS pos, e;
--> pos <- ev.arr TRANSFORMATION
--> k <- ev.arr[].k IDENTITY
--> * | ev.arr JOIN

-- case: explode in the select list
SELECT id, explode(tags) AS tag FROM ev;
--> id <- ev.id IDENTITY
--> tag <- ev.tags[] IDENTITY
--> * | ev.tags JOIN

-- case: inline
SELECT p, q FROM ev LATERAL VIEW inline(arr) x AS p, q;
--> p <- ev.arr[] IDENTITY
--> q <- ev.arr[] IDENTITY
--> * | ev.arr JOIN

-- case: lateral views build on each other
SELECT f FROM ev LATERAL VIEW explode(arr) x AS e LATERAL VIEW explode(e.k) y AS f;
--> f <- ev.arr[].k[] IDENTITY
--> * | ev.arr[].k JOIN, ev.arr JOIN

-- case: transform with a lambda
SELECT transform(arr, x -> upper(x.k)) AS ks FROM ev;
--> ks <- ev.arr[].k TRANSFORMATION

-- case: transform with a lambda that sees a column
SELECT transform(tags, x -> concat(x, id)) AS l FROM ev;
--> l <- ev.tags[] TRANSFORMATION, ev.id TRANSFORMATION

-- case: filter decides about elements
SELECT filter(arr, x -> x.k > id)[0].k AS f FROM ev;
--> f <- ev.arr[].k TRANSFORMATION | ev.arr[].k CONDITIONAL, ev.id CONDITIONAL

-- case: aggregate
SELECT aggregate(tags, id, (acc, x) -> acc + x) AS s FROM ev;
--> s <- ev.id TRANSFORMATION, ev.tags[] TRANSFORMATION

-- case: named struct
SELECT named_struct('p', a, 'q', b + 1) AS s FROM t;
--> s.p <- t.a IDENTITY
--> s.q <- t.b TRANSFORMATION

-- case: struct and its field
SELECT struct(a, b).b AS b2 FROM t;
--> b2 <- t.b IDENTITY

-- case: map element by key
SELECT m['lang'] AS lang, map('k', a)['k'] AS v FROM ev, t;
--> lang <- ev.m.lang IDENTITY
--> v <- t.a IDENTITY

-- case: get_json_object
SELECT get_json_object(j, '$.user.name') AS n FROM ev;
--> n <- ev.j.user.name TRANSFORMATION

-- case: json_tuple
SELECT p, q FROM ev LATERAL VIEW json_tuple(j, 'p1', 'q1') x AS p, q;
--> p <- ev.j.p1 TRANSFORMATION
--> q <- ev.j.q1 TRANSFORMATION

-- case: collect_list and its element
SELECT collect_list(named_struct('k', a))[0].k AS f FROM t;
--> f <- t.a AGGREGATION

-- case: left semi join filters only
SELECT t.a FROM t LEFT SEMI JOIN u ON t.a = u.x;
--> a <- t.a IDENTITY
--> * | t.a JOIN, u.x JOIN

-- case: star over a semi join has the left columns
SELECT * FROM u LEFT ANTI JOIN t ON t.a = u.x;
--> x <- u.x IDENTITY
--> y <- u.y IDENTITY
--> z <- u.z IDENTITY
--> * | t.a JOIN, u.x JOIN

-- case: if and nvl2 and decode
SELECT if(a > 0, b, c) AS i, nvl2(a, b, c) AS n, decode(a, 1, b, 2, c, d) AS e FROM t;
--> i <- t.b TRANSFORMATION, t.c TRANSFORMATION | t.a CONDITIONAL
--> n <- t.b TRANSFORMATION, t.c TRANSFORMATION | t.a CONDITIONAL
--> e <- t.b TRANSFORMATION, t.c TRANSFORMATION, t.d TRANSFORMATION | t.a CONDITIONAL

-- case: max_by
SELECT max_by(a, b) AS m FROM t;
--> m <- t.a AGGREGATION | t.b CONDITIONAL

-- case: lateral column alias
SELECT a + 1 AS p, p * 2 AS q FROM t;
--> p <- t.a TRANSFORMATION
--> q <- t.a TRANSFORMATION

-- case: a column wins over an alias
SELECT b AS a, a AS k FROM t;
--> a <- t.b IDENTITY
--> k <- t.a IDENTITY

-- case: pivot
SELECT * FROM (SELECT a, b, c FROM t) PIVOT (SUM(c) FOR b IN ('p', 'q'));
--> a <- t.a IDENTITY
--> p <- t.c AGGREGATION | t.b CONDITIONAL
--> q <- t.c AGGREGATION | t.b CONDITIONAL
--> * | t.a GROUP_BY

-- case: pivot with two aggregates
SELECT p_s, q_n FROM (SELECT a, b, c FROM t) PIVOT (SUM(c) AS s, COUNT(a) AS n FOR b IN ('p', 'q'));
--> p_s <- t.c AGGREGATION | t.b CONDITIONAL
--> q_n <- t.a AGGREGATION masked | t.b CONDITIONAL

-- case: unpivot
SELECT k, v FROM t UNPIVOT (v FOR k IN (a, b));
--> k
--> v <- t.a IDENTITY, t.b IDENTITY
--> * | t.a FILTER, t.b FILTER

-- case: values with names
SELECT r.n, t.a FROM t JOIN VALUES (1, 'x') AS r (k, n) ON t.b = r.k;
--> n
--> a <- t.a IDENTITY
--> * | t.b JOIN

-- case: distribute and sort by
SELECT a FROM t DISTRIBUTE BY b SORT BY c;
--> a <- t.a IDENTITY
--> * | t.c SORT

-- case: hashes
SELECT sha2(a, 256) AS h, hash(b, c) AS g, xxhash64(d) AS x FROM t;
--> h <- t.a TRANSFORMATION masked
--> g <- t.b TRANSFORMATION masked, t.c TRANSFORMATION masked
--> x <- t.d TRANSFORMATION masked

-- case: window with a frame
SELECT AVG(a) OVER (PARTITION BY b ORDER BY c ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS m FROM t;
--> m <- t.a AGGREGATION | t.b WINDOW, t.c WINDOW

-- case: struct field of a table column
SELECT ev.s.p, s.p AS q FROM ev;
--> p <- ev.s.p IDENTITY
--> q <- ev.s.p IDENTITY

-- case: file by path
SELECT x1 FROM parquet.`/data/in`;
--> x1 <- /data/in.x1 IDENTITY
--! UNKNOWN_TABLE

-- case: except and minus
SELECT a FROM t MINUS SELECT x FROM u;
--> a <- t.a IDENTITY
--> * | t.a GROUP_BY, u.x GROUP_BY

-- case: full outer join using
SELECT k FROM (SELECT a AS k FROM t) l FULL OUTER JOIN (SELECT x AS k FROM u) r USING (k);
--> k <- t.a TRANSFORMATION, u.x TRANSFORMATION | t.a CONDITIONAL, u.x CONDITIONAL
--> * | t.a JOIN, u.x JOIN

-- case: arrays are counted from 0 in brackets and from 1 by element_at
SELECT array(a, b)[1] AS p, element_at(array(a, b), 1) AS q, map(1, a, 2, b)[2] AS m FROM t;
--> p <- t.b IDENTITY
--> q <- t.a IDENTITY
--> m <- t.b IDENTITY
