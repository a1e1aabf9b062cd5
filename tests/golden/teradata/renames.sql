-- Tables that get other names.
-- schema: src(a, b)

-- case: a table
RENAME TABLE src TO dst;
RENAME TABLE dst AS dst2;
SELECT a FROM dst2;
--> dst.a <- src.a IDENTITY
--> dst.b <- src.b IDENTITY
--> dst2.a <- dst.a IDENTITY
--> dst2.b <- dst.b IDENTITY
--> a <- dst2.a IDENTITY
