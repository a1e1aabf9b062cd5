-- Shapes of scripts that others write.
-- schema: known(a)

-- case: a column that the schema lacks
INSERT INTO d SELECT known.fresh AS x FROM known;
--> d.x <- known.fresh IDENTITY ?
--! UNKNOWN_COLUMN

-- case: a schema that is older than the statement
INSERT INTO d SELECT newer FROM known WHERE newest > 1;
--> d.newer <- known.newer IDENTITY ?
--> d.* | known.newest FILTER ?
--! UNKNOWN_COLUMN
--! UNKNOWN_COLUMN
