-- schema: t(a, b, c, d), u(x, y, z), orders(id, cid, amount, status, ts), customers(id, name, city)

-- case: columns by name
SELECT a, b FROM t;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY

-- case: aliases
SELECT a AS x, t.b y FROM t;
--> x <- t.a IDENTITY
--> y <- t.b IDENTITY

-- case: an expression over two columns
SELECT a + b * 2 AS s FROM t;
--> s <- t.a TRANSFORMATION, t.b TRANSFORMATION

-- case: constants come from nowhere
SELECT 1 AS one, 'x' AS txt, NULL AS n, current_date AS today FROM t;
--> one
--> txt
--> n
--> today

-- case: cast is a transformation
SELECT a::text AS a1, CAST(b AS int) AS b1 FROM t;
--> a1 <- t.a TRANSFORMATION
--> b1 <- t.b TRANSFORMATION

-- case: where
SELECT a FROM t WHERE b > 1 AND c = 'x';
--> a <- t.a IDENTITY
--> * | t.b FILTER, t.c FILTER

-- case: inner join
SELECT o.id, c.name FROM orders o JOIN customers c ON o.cid = c.id;
--> id <- orders.id IDENTITY
--> name <- customers.name IDENTITY
--> * | orders.cid JOIN, customers.id JOIN

-- case: unqualified columns over a join are found by schema
SELECT amount, name FROM orders JOIN customers ON cid = customers.id;
--> amount <- orders.amount IDENTITY
--> name <- customers.name IDENTITY
--> * | orders.cid JOIN, customers.id JOIN

-- case: comma join with a condition in where
SELECT t.a, u.y FROM t, u WHERE t.a = u.x;
--> a <- t.a IDENTITY
--> y <- u.y IDENTITY
--> * | t.a FILTER, u.x FILTER

-- case: using takes the left column
SELECT id FROM orders JOIN customers USING (id);
--> id <- orders.id IDENTITY
--> * | orders.id JOIN, customers.id JOIN

-- case: using of a right join takes the right column
SELECT id FROM orders RIGHT JOIN customers USING (id);
--> id <- customers.id IDENTITY
--> * | orders.id JOIN, customers.id JOIN

-- case: using of a full join takes either column
SELECT id FROM orders FULL JOIN customers USING (id);
--> id <- orders.id TRANSFORMATION, customers.id TRANSFORMATION | orders.id CONDITIONAL, customers.id CONDITIONAL
--> * | orders.id JOIN, customers.id JOIN

-- case: natural join
SELECT id, name FROM orders NATURAL JOIN customers;
--> id <- orders.id IDENTITY
--> name <- customers.name IDENTITY
--> * | orders.id JOIN, customers.id JOIN

-- case: star over a using join has the merged column once
SELECT * FROM u JOIN (SELECT x, a FROM t, u) v USING (x);
--> x <- u.x IDENTITY
--> y <- u.y IDENTITY
--> z <- u.z IDENTITY
--> a <- t.a IDENTITY
--> * | u.x JOIN

-- case: self join
SELECT l.a, r.b FROM t l JOIN t r ON l.c = r.d;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> * | t.c JOIN, t.d JOIN

-- case: group by and aggregates
SELECT cid, SUM(amount) AS total, COUNT(*) AS n FROM orders GROUP BY cid;
--> cid <- orders.cid IDENTITY
--> total <- orders.amount AGGREGATION
--> n
--> * | orders.cid GROUP_BY

-- case: count of a column masks it
SELECT COUNT(amount) AS n, COUNT(DISTINCT status) AS m FROM orders;
--> n <- orders.amount AGGREGATION masked
--> m <- orders.status AGGREGATION masked

-- case: group by position and by alias
SELECT a AS k, b + 1 AS l, MAX(c) AS m FROM t GROUP BY 1, l;
--> k <- t.a IDENTITY
--> l <- t.b TRANSFORMATION
--> m <- t.c AGGREGATION
--> * | t.a GROUP_BY, t.b GROUP_BY

-- case: having
SELECT a FROM t GROUP BY a HAVING SUM(b) > 10;
--> a <- t.a IDENTITY
--> * | t.a GROUP_BY, t.b FILTER

-- case: aggregate with filter and order
SELECT SUM(a) FILTER (WHERE b > 1) AS s, STRING_AGG(c, ',' ORDER BY d) AS l FROM t;
--> s <- t.a AGGREGATION | t.b CONDITIONAL
--> l <- t.c AGGREGATION | t.d WINDOW

-- case: the key of an ordered set aggregate is its value
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) AS p FROM orders;
--> p <- orders.amount AGGREGATION

-- case: grouping sets
SELECT a, b, SUM(c) AS s FROM t GROUP BY GROUPING SETS ((a), (a, b), ());
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> s <- t.c AGGREGATION
--> * | t.a GROUP_BY, t.b GROUP_BY

-- case: rollup and cube
SELECT a, b, SUM(c) AS s FROM t GROUP BY ROLLUP (a), CUBE (b);
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> s <- t.c AGGREGATION
--> * | t.a GROUP_BY, t.b GROUP_BY

-- case: distinct keeps a row per combination
SELECT DISTINCT a, b FROM t;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> * | t.a GROUP_BY, t.b GROUP_BY

-- case: distinct on
SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, c DESC;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> * | t.a GROUP_BY, t.a SORT, t.c SORT

-- case: order by alias, position and hidden column
SELECT a + 1 AS k, b FROM t ORDER BY k, 2, c;
--> k <- t.a TRANSFORMATION
--> b <- t.b IDENTITY
--> * | t.a SORT, t.b SORT, t.c SORT

-- case: window function
SELECT SUM(a) OVER (PARTITION BY b ORDER BY c) AS s FROM t;
--> s <- t.a AGGREGATION | t.b WINDOW, t.c WINDOW

-- case: row number has keys only
SELECT ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC) AS rn FROM t;
--> rn | t.a WINDOW, t.b WINDOW

-- case: named windows build on each other
SELECT MIN(a) OVER w2 AS m FROM t WINDOW w AS (PARTITION BY b), w2 AS (w ORDER BY c);
--> m <- t.a AGGREGATION | t.b WINDOW, t.c WINDOW

-- case: lag is no aggregation
SELECT LAG(a, 1, d) OVER (ORDER BY b) AS p FROM t;
--> p <- t.a TRANSFORMATION, t.d TRANSFORMATION | t.b WINDOW

-- case: case conditions decide
SELECT CASE WHEN a > 1 THEN b WHEN c = 2 THEN 0 ELSE d END AS v FROM t;
--> v <- t.b TRANSFORMATION, t.d TRANSFORMATION | t.a CONDITIONAL, t.c CONDITIONAL

-- case: case with an operand
SELECT CASE a WHEN 1 THEN b ELSE 'n' END AS v FROM t;
--> v <- t.b TRANSFORMATION | t.a CONDITIONAL

-- case: a column that is both value and condition
SELECT CASE WHEN a IS NULL THEN b ELSE a END AS v FROM t;
--> v <- t.b TRANSFORMATION, t.a TRANSFORMATION | t.a CONDITIONAL

-- case: coalesce is all value and nullif is not
SELECT COALESCE(a, b) AS c1, NULLIF(c, d) AS n1 FROM t;
--> c1 <- t.a TRANSFORMATION, t.b TRANSFORMATION | t.a CONDITIONAL, t.b CONDITIONAL
--> n1 <- t.c TRANSFORMATION | t.c CONDITIONAL, t.d CONDITIONAL

-- case: hashes mask
SELECT md5(a) AS h, md5(a) || b AS hb FROM t;
--> h <- t.a TRANSFORMATION masked
--> hb <- t.a TRANSFORMATION masked, t.b TRANSFORMATION

-- case: star
SELECT * FROM u;
--> x <- u.x IDENTITY
--> y <- u.y IDENTITY
--> z <- u.z IDENTITY

-- case: star of one table and a column of another
SELECT u.*, t.a FROM u, t;
--> x <- u.x IDENTITY
--> y <- u.y IDENTITY
--> z <- u.z IDENTITY
--> a <- t.a IDENTITY

-- case: duplicate output names are told apart
SELECT o.id, c.id FROM orders o, customers c;
--> id <- orders.id IDENTITY
--> id_1 <- customers.id IDENTITY

-- case: ambiguous column
SELECT id FROM orders, customers;
--> id <- orders.id IDENTITY ?, customers.id IDENTITY ?
--! AMBIGUOUS_COLUMN

-- case: unknown column
SELECT a, nope FROM t;
--> a <- t.a IDENTITY
--> nope <- t.nope IDENTITY ?
--! UNKNOWN_COLUMN

-- case: unknown table beside known ones is found by elimination
SELECT a, other FROM t, mystery;
--> a <- t.a IDENTITY
--> other <- mystery.other IDENTITY
--! UNKNOWN_TABLE

-- case: functions in the select list that make rows
SELECT a, unnest(d), generate_series(1, b), jsonb_array_elements(c) AS j FROM t;
--> a <- t.a IDENTITY
--> unnest <- t.d[] IDENTITY
--> generate_series <- t.b TRANSFORMATION
--> j <- t.c TRANSFORMATION
--> * | t.d JOIN, t.b JOIN, t.c JOIN

-- case: a key of JSON with a type, as the server writes views down
SELECT (p.doc ->> 'city'::text) AS city, (p.doc #>> '{a,b}'::text[]) AS b FROM people p;
--> city <- people.doc.city TRANSFORMATION
--> b <- people.doc.a.b TRANSFORMATION
--! UNKNOWN_TABLE
