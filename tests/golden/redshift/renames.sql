-- Tables that get other names.
-- schema: src(a, b), t(a, b)

-- case: a table is built beside the old one and takes its name
BEGIN;
CREATE TABLE t_new AS SELECT a, b FROM src;
ALTER TABLE t RENAME TO t_old;
ALTER TABLE t_new RENAME TO t;
COMMIT;
INSERT INTO u SELECT a FROM t;
--> t_new.a <- src.a IDENTITY
--> t_new.b <- src.b IDENTITY
--> t_old.a <- t.a IDENTITY
--> t_old.b <- t.b IDENTITY
--> t.a <- t_new.a IDENTITY
--> t.b <- t_new.b IDENTITY
--> u.a <- t.a IDENTITY
