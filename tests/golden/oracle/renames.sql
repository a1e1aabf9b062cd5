-- Tables and columns that get other names.
-- schema: src(a, b), sales(a, b), stage(x, y)

-- case: rename without the word table
CREATE TABLE t_new AS SELECT a, b FROM src;
RENAME t_new TO t;
INSERT INTO u (c) SELECT a FROM t;
--> t_new.a <- src.a IDENTITY
--> t_new.b <- src.b IDENTITY
--> t.a <- t_new.a IDENTITY
--> t.b <- t_new.b IDENTITY
--> u.c <- t.a IDENTITY

-- case: a partition changes places with a table
ALTER TABLE sales EXCHANGE PARTITION p1 WITH TABLE stage INCLUDING INDEXES WITHOUT VALIDATION;
--> sales.a <- stage.x IDENTITY
--> sales.b <- stage.y IDENTITY
--> stage.x <- sales.a IDENTITY
--> stage.y <- sales.b IDENTITY

-- case: a column
ALTER TABLE sales RENAME COLUMN a TO amount;
--> sales.amount <- sales.a IDENTITY
--! SCHEMA_CONFLICT
