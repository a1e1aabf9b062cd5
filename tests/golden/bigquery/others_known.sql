-- Shapes of scripts that others write.
-- schema: merged(id, v), source3(k, w, id), arrays(id INT64, items ARRAY<STRUCT<a INT64, b STRING>>), p2(id, v), c2(id, v)

-- case: insert row goes by position
MERGE merged d USING source3 s ON d.id = s.id WHEN NOT MATCHED THEN INSERT ROW;
--> merged.id <- source3.k IDENTITY
--> merged.v <- source3.w IDENTITY
--> merged.* | merged.id MERGE, source3.id MERGE

-- case: a star over an array of structs
SELECT * FROM arrays, UNNEST(items) AS i;
--> id <- arrays.id IDENTITY
--> items <- arrays.items IDENTITY
--> a <- arrays.items[].a IDENTITY
--> b <- arrays.items[].b IDENTITY
--> * | arrays.items JOIN

-- case: the row that a condition chooses
SELECT IF(c2.id IS NULL, p2, c2).* FROM p2 JOIN c2 ON p2.id = c2.id;
--> id <- p2.id TRANSFORMATION, c2.id TRANSFORMATION | c2.id CONDITIONAL
--> v <- p2.v TRANSFORMATION, c2.v TRANSFORMATION | c2.id CONDITIONAL
--> * | p2.id JOIN, c2.id JOIN
