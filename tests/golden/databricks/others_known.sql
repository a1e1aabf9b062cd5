-- Shapes of scripts that others write.
-- schema: wide(id, a, b)

-- case: names before values
SELECT * FROM wide UNPIVOT (val FOR name IN (a, b));
--> id <- wide.id IDENTITY
--> name
--> val <- wide.a IDENTITY, wide.b IDENTITY
--> * | wide.a FILTER, wide.b FILTER
