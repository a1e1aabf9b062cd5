-- Shapes of scripts that others write.
-- schema: known(id, v, w)

-- case: a column that the schema lacks
INSERT INTO d (x) SELECT k.fresh FROM known AS k;
--> d.x <- known.fresh IDENTITY ?
--! UNKNOWN_COLUMN
