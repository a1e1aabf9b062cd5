-- Tables and columns that get other names.
-- schema: src(a, b), t(a, b)

-- case: a table is built beside the old one and takes its name
CREATE TABLE t_new AS SELECT a, b FROM src;
ALTER TABLE t_new RENAME TO t2;
ALTER TABLE t2 CHANGE a c INT;
SELECT * FROM t2;
--> t_new.a <- src.a IDENTITY
--> t_new.b <- src.b IDENTITY
--> t2.a <- t_new.a IDENTITY
--> t2.b <- t_new.b IDENTITY
--> t2.c <- t2.a IDENTITY
--> c <- t2.c IDENTITY
--> b <- t2.b IDENTITY

-- case: a partition comes from another table
ALTER TABLE t EXCHANGE PARTITION (ds='2026-01-01') WITH TABLE src;
--> t.a <- src.a IDENTITY
--> t.b <- src.b IDENTITY
