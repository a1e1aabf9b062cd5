-- Tables and columns that get other names.
-- schema: src(a, b), t(a, b)

-- case: two tables in one statement
CREATE TABLE t_new AS SELECT a, b FROM src;
RENAME TABLE t TO t_old, t_new TO t;
SELECT * FROM t;
--> t_new.a <- src.a IDENTITY
--> t_new.b <- src.b IDENTITY
--> t_old.a <- t.a IDENTITY
--> t_old.b <- t.b IDENTITY
--> t.a <- t_new.a IDENTITY
--> t.b <- t_new.b IDENTITY
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY

-- case: two tables change names by way of a third
CREATE TABLE m (x INT);
CREATE TABLE n (y INT);
RENAME TABLE m TO tmp, n TO m, tmp TO n;
SELECT * FROM n;
--> tmp.x <- m.x IDENTITY
--> m.y <- n.y IDENTITY
--> n.x <- tmp.x IDENTITY
--> x <- n.x IDENTITY

-- case: other words for it
ALTER TABLE t RENAME AS t1;
ALTER TABLE t1 RENAME = t2;
ALTER TABLE t2 RENAME t3;
SELECT a FROM t3;
--> t1.a <- t.a IDENTITY
--> t1.b <- t.b IDENTITY
--> t2.a <- t1.a IDENTITY
--> t2.b <- t1.b IDENTITY
--> t3.a <- t2.a IDENTITY
--> t3.b <- t2.b IDENTITY
--> a <- t3.a IDENTITY

-- case: a column and the table at once
CREATE TABLE m (x INT, y INT);
ALTER TABLE m CHANGE COLUMN x z BIGINT, RENAME TO n;
SELECT * FROM n;
--> m.z <- m.x IDENTITY
--> n.z <- m.z IDENTITY
--> n.y <- m.y IDENTITY
--> z <- n.z IDENTITY
--> y <- n.y IDENTITY

-- case: a column that keeps its name
CREATE TABLE m (x INT);
ALTER TABLE m CHANGE x x BIGINT;
ALTER TABLE m MODIFY x TEXT;


-- case: a partition changes places with a table
ALTER TABLE t EXCHANGE PARTITION p0 WITH TABLE src;
--> t.a <- src.a IDENTITY
--> t.b <- src.b IDENTITY
--> src.a <- t.a IDENTITY
--> src.b <- t.b IDENTITY
