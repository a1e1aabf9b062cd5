-- Views with parameters.
-- schema: t(a, b)

-- case: a view that is called
CREATE VIEW v AS SELECT a FROM t WHERE b = {x:Int32};
SELECT a FROM v(x = 3);
--> v.a <- t.a IDENTITY
--> v.* | t.b FILTER
--> a <- v.a IDENTITY
