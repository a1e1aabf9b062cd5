-- Tables and columns that get other names.
-- schema: s.src(a, b)

-- case: a table and its column
ALTER TABLE s.src RENAME TO s.dst;
ALTER TABLE s.dst RENAME COLUMN a TO c;
SELECT * FROM s.dst;
--> s.dst.a <- s.src.a IDENTITY
--> s.dst.b <- s.src.b IDENTITY
--> s.dst.c <- s.dst.a IDENTITY
--! SCHEMA_CONFLICT
--> a <- s.dst.a IDENTITY ?
--> b <- s.dst.b IDENTITY
