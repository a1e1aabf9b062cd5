-- Shapes of scripts that others write.
-- schema: t2(id, kid, name), wide(id, a, b)

-- case: a star of columns like a pattern
SELECT * ILIKE '%ID%' FROM t2;
--> id <- t2.id IDENTITY
--> kid <- t2.kid IDENTITY

-- case: names before values
SELECT * FROM wide UNPIVOT (val FOR name IN (a, b));
--> id <- wide.id IDENTITY
--> name
--> val <- wide.a IDENTITY, wide.b IDENTITY
--> * | wide.a FILTER, wide.b FILTER
