-- Tables and columns that get other names.
-- schema: src(a, b), t(a, b)

-- case: a table is built beside the old one and takes its name
CREATE TABLE t_new AS SELECT a, b FROM src;
ALTER TABLE t RENAME TO t_old;
ALTER TABLE t_new RENAME TO t;
INSERT INTO u SELECT * FROM t;
--> t_new.a <- src.a IDENTITY
--> t_new.b <- src.b IDENTITY
--> t_old.a <- t.a IDENTITY
--> t_old.b <- t.b IDENTITY
--> t.a <- t_new.a IDENTITY
--> t.b <- t_new.b IDENTITY
--> u.a <- t.a IDENTITY
--> u.b <- t.b IDENTITY

-- case: a column is renamed, with and without the word
CREATE TABLE n (a int, b int);
ALTER TABLE n RENAME COLUMN a TO c;
ALTER TABLE n RENAME b TO d;
SELECT * FROM n;
--> n.c <- n.a IDENTITY
--> n.d <- n.b IDENTITY
--> c <- n.c IDENTITY
--> d <- n.d IDENTITY

-- case: a name that is free again
ALTER TABLE t RENAME TO t_old;
CREATE TABLE t AS SELECT b AS z FROM src;
SELECT * FROM t;
--> t_old.a <- t.a IDENTITY
--> t_old.b <- t.b IDENTITY
--> t.z <- src.b IDENTITY
--> z <- t.z IDENTITY

-- case: the table goes into another schema
ALTER TABLE IF EXISTS t SET SCHEMA archive;
SELECT a FROM archive.t;
--> archive.t.a <- t.a IDENTITY
--> archive.t.b <- t.b IDENTITY
--> a <- archive.t.a IDENTITY

-- case: a materialized view and a foreign table
ALTER MATERIALIZED VIEW mv RENAME TO mw;
ALTER FOREIGN TABLE f RENAME TO g;
--> mw.* <- mv.* IDENTITY ?
--! UNKNOWN_TABLE
--> g.* <- f.* IDENTITY ?
--! UNKNOWN_TABLE

-- case: an index is not a table
ALTER INDEX t RENAME TO u;
SELECT a FROM t;
--> a <- t.a IDENTITY

-- case: a partition is attached
CREATE TABLE p (a int, b int);
ALTER TABLE p ATTACH PARTITION src FOR VALUES FROM (1) TO (2);
--> p.a <- src.a IDENTITY
--> p.b <- src.b IDENTITY

-- case: a column of a table that is not known
ALTER TABLE nowhere RENAME COLUMN x TO y;
SELECT * FROM nowhere;
--> nowhere.y <- nowhere.x IDENTITY
--> y <- nowhere.y IDENTITY ?
--> * <- nowhere.* IDENTITY ?
--! UNKNOWN_TABLE
--! APPROXIMATE_LINEAGE

-- case: the schema that the engine looks in anyway
CREATE TABLE k AS SELECT a FROM src;
SELECT * FROM public.k;
--> k.a <- src.a IDENTITY
--> a <- k.a IDENTITY
