-- Functions that give rows, and where they are called.
-- schema: t(b, c), o(i)

-- case: a table function
CREATE FUNCTION f(x INT) RETURNS TABLE (a INT, k STRING) RETURN SELECT b, c FROM t WHERE c = x;
SELECT q.a FROM o, LATERAL f(o.i) q;
--> a <- t.b IDENTITY
--> * | t.c FILTER, o.i FILTER
