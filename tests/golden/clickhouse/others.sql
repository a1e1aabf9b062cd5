-- Shapes of scripts that others write.

-- case: a value named before the query of an insert
INSERT INTO d WITH (SELECT max(x) FROM t) AS m SELECT a, m FROM s;
--> d.a <- s.a IDENTITY
--> d.m <- t.x AGGREGATION

-- case: the right side of a semi-join has columns
SELECT a.x, b.v FROM a LEFT SEMI JOIN b ON a.k = b.k WHERE b.z = 1;
--> x <- a.x IDENTITY
--> v <- b.v IDENTITY
--> * | b.z FILTER, a.k JOIN, b.k JOIN
