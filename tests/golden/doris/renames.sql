-- Tables that get other names.
-- schema: src(a, b), t(a, b)

-- case: a table takes the place of another
ALTER TABLE t REPLACE WITH TABLE src;
ALTER TABLE t SWAP WITH src;
--> src.a <- t.a IDENTITY
--> src.b <- t.b IDENTITY
--> t.a <- src.a IDENTITY
--> t.b <- src.b IDENTITY
--> src.a <- t.a IDENTITY
--> src.b <- t.b IDENTITY
--> t.a <- src.a IDENTITY
--> t.b <- src.b IDENTITY
