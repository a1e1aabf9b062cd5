-- Tables and columns that get other names.
-- schema: d.src(a, b)

-- case: a table is built beside the old one and takes its name
CREATE TABLE d.t_new AS SELECT a, b FROM d.src;
ALTER TABLE IF EXISTS d.t_new RENAME TO t;
ALTER TABLE d.t RENAME COLUMN a TO c;
SELECT * FROM d.t;
--> d.t_new.a <- d.src.a IDENTITY
--> d.t_new.b <- d.src.b IDENTITY
--> d.t.a <- d.t_new.a IDENTITY
--> d.t.b <- d.t_new.b IDENTITY
--> d.t.c <- d.t.a IDENTITY
--> c <- d.t.c IDENTITY
--> b <- d.t.b IDENTITY
