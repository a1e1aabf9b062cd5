-- Shapes of scripts that others write.

-- case: a value named before the query of an insert
INSERT INTO d WITH (SELECT max(x) FROM t) AS m SELECT a, m FROM s;
--> d.a <- s.a IDENTITY
--> d.m <- t.x AGGREGATION
