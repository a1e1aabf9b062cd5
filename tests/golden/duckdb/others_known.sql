-- Shapes of scripts that others write.
-- schema: wide(id, a, b), long(id, k, v)

-- case: names before values
SELECT * FROM wide UNPIVOT (val FOR name IN (a, b));
--> id <- wide.id IDENTITY
--> name
--> val <- wide.a IDENTITY, wide.b IDENTITY
--> * | wide.a FILTER, wide.b FILTER

-- case: names before values in the statement
UNPIVOT wide ON a, b INTO NAME n VALUE v;
--> id <- wide.id IDENTITY
--> n
--> v <- wide.a IDENTITY, wide.b IDENTITY
--> * | wide.a FILTER, wide.b FILTER

-- case: a table of a pivot
CREATE TABLE d AS PIVOT long ON k IN ('a', 'b') USING sum(v) GROUP BY id;
--> d.id <- long.id IDENTITY
--> d.a <- long.v AGGREGATION | long.k CONDITIONAL
--> d.b <- long.v AGGREGATION | long.k CONDITIONAL
--> d.* | long.id GROUP_BY
