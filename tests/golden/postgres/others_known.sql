-- Shapes of scripts that others write.
-- schema: known(a)

-- case: a column that the schema lacks
INSERT INTO d SELECT known.fresh AS x FROM known;
--> d.x <- known.fresh IDENTITY ?
--! UNKNOWN_COLUMN
