-- Shapes of scripts that others write.

-- case: the state of an aggregate
CREATE TABLE d AS SELECT g, sum(v) EXPORT_STATE AS s FROM t GROUP BY g;
--> d.g <- t.g IDENTITY
--> d.s <- t.v AGGREGATION
--> d.* | t.g GROUP_BY

-- case: values in brackets
INSERT INTO d (VALUES (1), (2));
--> d.column1
