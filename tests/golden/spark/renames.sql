-- Tables and columns that get other names.
-- schema: src(a, b), t(a, b)

-- case: a table is built beside the old one and takes its name
CREATE TABLE t_new AS SELECT a, b FROM src;
ALTER TABLE t RENAME TO t_old;
ALTER TABLE t_new RENAME TO t;
SELECT * FROM t;
--> t_new.a <- src.a IDENTITY
--> t_new.b <- src.b IDENTITY
--> t_old.a <- t.a IDENTITY
--> t_old.b <- t.b IDENTITY
--> t.a <- t_new.a IDENTITY
--> t.b <- t_new.b IDENTITY
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY

-- case: a partition that is renamed is no table
ALTER TABLE t PARTITION (ds='1') RENAME TO PARTITION (ds='2');
SELECT a FROM t;
--> a <- t.a IDENTITY
