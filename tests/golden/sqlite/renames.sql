-- Tables and columns that get other names.
-- schema: src(a, b)

-- case: a table and its column
ALTER TABLE src RENAME TO dst;
ALTER TABLE dst RENAME a TO c;
SELECT * FROM dst;
--> dst.a <- src.a IDENTITY
--> dst.b <- src.b IDENTITY
--> dst.c <- dst.a IDENTITY
--! SCHEMA_CONFLICT
--> a <- dst.a IDENTITY ?
--> b <- dst.b IDENTITY
