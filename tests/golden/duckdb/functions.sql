-- Macros, and where they are used.
-- schema: t(a, b), o(i), u(c, d)

-- case: a table macro
CREATE MACRO m(x) AS TABLE SELECT a, b FROM t WHERE b = x;
SELECT q.a, o.i FROM o, m(o.i) q;
--> a <- t.a IDENTITY
--> i <- o.i IDENTITY
--> * | t.b FILTER, o.i FILTER

-- case: a macro with a default, and one for each number of parameters
CREATE MACRO m(x) AS TABLE SELECT a FROM t WHERE b = x, (x, y := 3) AS TABLE SELECT c FROM u WHERE d = y;
FROM m(1);
SELECT * FROM o, m(1, y := o.i);
--> a <- t.a IDENTITY
--> * | t.b FILTER
--> i <- o.i IDENTITY
--> c <- u.c IDENTITY
--> * | u.d FILTER, o.i FILTER

-- case: a value
CREATE MACRO s(x) AS x + (SELECT MAX(c) FROM u);
SELECT s(a) AS n FROM t;
--> n <- t.a TRANSFORMATION, u.c AGGREGATION
