-- Tables and columns that get other names.
-- schema: src(a, b), t(a, b)

-- case: two tables are swapped
CREATE TABLE t_new AS SELECT a, b AS b2 FROM src;
ALTER TABLE t SWAP WITH t_new;
SELECT * FROM t;
--> t_new.a <- src.a IDENTITY
--> t_new.b2 <- src.b IDENTITY
--> t_new.a <- t.a IDENTITY
--> t_new.b <- t.b IDENTITY
--> t.a <- t_new.a IDENTITY
--> t.b2 <- t_new.b2 IDENTITY
--> a <- t.a IDENTITY
--> b2 <- t.b2 IDENTITY

-- case: into another schema
ALTER TABLE IF EXISTS t RENAME TO archive.t_old;
SELECT a FROM archive.t_old;
--> archive.t_old.a <- t.a IDENTITY
--> archive.t_old.b <- t.b IDENTITY
--> a <- archive.t_old.a IDENTITY

-- case: a dynamic table
ALTER DYNAMIC TABLE t RENAME TO d;
SELECT b FROM d;
--> d.a <- t.a IDENTITY
--> d.b <- t.b IDENTITY
--> b <- d.b IDENTITY

-- case: a view
CREATE VIEW v AS SELECT a FROM src;
ALTER VIEW v RENAME TO w;
SELECT * FROM w;
--> v.a <- src.a IDENTITY
--> w.a <- v.a IDENTITY
--> a <- w.a IDENTITY
