-- case: struct fields
SELECT s.p, s.q.r AS r, s FROM ev;
--> p <- ev.s.p IDENTITY
--> r <- ev.s.q.r IDENTITY
--> s <- ev.s IDENTITY

-- case: star over a struct
SELECT s.* FROM ev;
--> p <- ev.s.p IDENTITY
--> q <- ev.s.q IDENTITY

-- case: building structs
SELECT named_struct('p', a, 'q', b + 1) AS s, struct(a, c) AS w FROM t;
--> s.p <- t.a IDENTITY
--> s.q <- t.b TRANSFORMATION
--> w.a <- t.a IDENTITY
--> w.c <- t.c IDENTITY

-- case: a field of a struct that was built
SELECT w.q AS q FROM (SELECT named_struct('p', a, 'q', b) AS w FROM t);
--> q <- t.b IDENTITY

-- case: elements of arrays
SELECT tags[0] AS f, element_at(tags, 2) AS e, arr[1].k AS k FROM ev;
--> f <- ev.tags[] IDENTITY
--> e <- ev.tags[] IDENTITY
--> k <- ev.arr[].k IDENTITY

-- case: an element chosen by a column
SELECT tags[CAST(id AS INT)] AS e FROM ev;
--> e <- ev.tags[] IDENTITY | ev.id CONDITIONAL

-- case: a field of every element
SELECT arr.k AS ks FROM ev;
--> ks <- ev.arr[].k IDENTITY

-- case: values of a map
SELECT m['lang'] AS l, element_at(m, 'site') AS s, map_keys(m) AS k FROM ev;
--> l <- ev.m.lang IDENTITY
--> s <- ev.m.site IDENTITY
--> k <- ev.m TRANSFORMATION

-- case: building maps and arrays
SELECT map('k', a)['k'] AS v, array(a, b)[0] AS w FROM t;
--> v <- t.a IDENTITY
--> w <- t.a IDENTITY, t.b IDENTITY

-- case: explode
SELECT id, tag FROM ev LATERAL VIEW explode(tags) AS tag;
--> id <- ev.id IDENTITY
--> tag <- ev.tags[] IDENTITY
--> * | ev.tags JOIN

-- case: explode in the select list
SELECT id, explode_outer(tags) AS tag FROM ev;
--> id <- ev.id IDENTITY
--> tag <- ev.tags[] IDENTITY
--> * | ev.tags JOIN

-- case: posexplode of structs
SELECT pos, e.n FROM ev LATERAL VIEW OUTER posexplode(arr) x AS pos, e;
--> pos <- ev.arr TRANSFORMATION
--> n <- ev.arr[].n IDENTITY
--> * | ev.arr JOIN

-- case: positions in an array written item by item are fixed
SELECT p, v FROM t LATERAL VIEW posexplode(array(a, b)) x AS p, v;
--> p
--> v <- t.a IDENTITY, t.b IDENTITY

-- case: explode a map
SELECT k, v FROM ev LATERAL VIEW explode(m) x AS k, v WHERE k = 'lang';
--> k <- ev.m[] IDENTITY
--> v <- ev.m[] IDENTITY
--> * | ev.m[] FILTER, ev.m JOIN

-- case: inline knows the fields
SELECT p, q + 1 AS q1 FROM ev LATERAL VIEW inline(arr) x AS p, q;
--> p <- ev.arr[].k IDENTITY
--> q1 <- ev.arr[].n TRANSFORMATION
--> * | ev.arr JOIN

-- case: generators build on each other
SELECT w FROM ev LATERAL VIEW explode(arr) x AS e LATERAL VIEW explode(split(e.k, ' ')) y AS w;
--> w <- ev.arr[].k TRANSFORMATION
--> * | ev.arr[].k JOIN, ev.arr JOIN

-- case: stack
SELECT n, v FROM t LATERAL VIEW stack(2, 'a', a, 'b', b) x AS n, v;
--> n
--> v <- t.a IDENTITY, t.b IDENTITY

-- case: json
SELECT get_json_object(j, '$.user.name') AS n, from_json(j, 'x INT').x AS x FROM ev;
--> n <- ev.j.user.name TRANSFORMATION
--> x <- ev.j TRANSFORMATION

-- case: json_tuple
SELECT p, q FROM ev LATERAL VIEW json_tuple(j, 'a', 'b') x AS p, q;
--> p <- ev.j.a TRANSFORMATION
--> q <- ev.j.b TRANSFORMATION

-- case: transform
SELECT transform(tags, x -> upper(x)) AS u, transform(arr, (x, i) -> x.n + i + id) AS n FROM ev;
--> u <- ev.tags[] TRANSFORMATION
--> n <- ev.arr[].n TRANSFORMATION, ev.id TRANSFORMATION

-- case: filter and exists
SELECT filter(arr, x -> x.n > id) AS f, exists(arr, x -> x.k = 'a') AS e FROM ev;
--> f <- ev.arr TRANSFORMATION | ev.arr[].n CONDITIONAL, ev.id CONDITIONAL
--> e <- ev.arr TRANSFORMATION, ev.arr[].k TRANSFORMATION

-- case: aggregate
SELECT aggregate(arr, 0, (acc, x) -> acc + x.n, acc -> acc * 2) AS s FROM ev;
--> s <- ev.arr[].n TRANSFORMATION

-- case: zip_with
SELECT zip_with(tags, arr, (x, y) -> concat(x, y.k)) AS z FROM ev;
--> z <- ev.tags[] TRANSFORMATION, ev.arr[].k TRANSFORMATION

-- case: array functions keep elements
SELECT array_sort(tags)[0] AS f, array_distinct(arr)[0].k AS k, size(tags) AS n FROM ev;
--> f <- ev.tags[] TRANSFORMATION
--> k <- ev.arr[].k TRANSFORMATION
--> n <- ev.tags TRANSFORMATION

-- case: a struct through a union
SELECT w.p FROM (SELECT named_struct('p', a, 'q', b) AS w FROM t UNION ALL SELECT named_struct('p', x, 'q', y) FROM u);
--> p <- t.a IDENTITY, u.x IDENTITY

-- case: an array of structs is built and taken apart
SELECT e.p FROM (SELECT explode(array(named_struct('p', a), named_struct('p', b))) AS e FROM t);
--> p <- t.a IDENTITY, t.b IDENTITY
