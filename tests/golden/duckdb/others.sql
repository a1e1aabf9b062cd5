-- Shapes of scripts that others write.

-- case: the state of an aggregate
CREATE TABLE d AS SELECT g, sum(v) EXPORT_STATE AS s FROM t GROUP BY g;
--> d.g <- t.g IDENTITY
--> d.s <- t.v AGGREGATION
--> d.* | t.g GROUP_BY

-- case: values in brackets
INSERT INTO d (VALUES (1), (2));
--> d.column1

-- case: only the condition sees the right side of a semi-join
SELECT a.id, a.v * 2 AS w FROM a ANTI JOIN (SELECT k, w FROM b) AS x ON a.id = x.k QUALIFY w > 1;
--> id <- a.id IDENTITY
--> w <- a.v TRANSFORMATION
--> * | a.v FILTER, a.id JOIN, b.k JOIN

-- case: the name of a table in brackets
SELECT x.a FROM (t) AS x;
--> a <- t.a IDENTITY
