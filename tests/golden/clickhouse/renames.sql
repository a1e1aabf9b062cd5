-- Tables and columns that get other names.
-- schema: src(a, b), t(a, b)

-- case: tables are exchanged
CREATE TABLE t_new ENGINE = Memory AS SELECT a, b FROM src;
EXCHANGE TABLES t AND t_new;
SELECT * FROM t;
--> t_new.a <- src.a IDENTITY
--> t_new.b <- src.b IDENTITY
--> t_new.a <- t.a IDENTITY
--> t_new.b <- t.b IDENTITY
--> t.a <- t_new.a IDENTITY
--> t.b <- t_new.b IDENTITY
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY

-- case: several at once
RENAME TABLE t TO old.t, src TO t;
SELECT a FROM t;
--> old.t.a <- t.a IDENTITY
--> old.t.b <- t.b IDENTITY
--> t.a <- src.a IDENTITY
--> t.b <- src.b IDENTITY
--> a <- t.a IDENTITY

-- case: partitions of another table
ALTER TABLE t REPLACE PARTITION 202601 FROM src;
ALTER TABLE t ATTACH PARTITION 202602 FROM src;
ALTER TABLE t MOVE PARTITION 202603 TO TABLE src;
--> t.a <- src.a IDENTITY
--> t.b <- src.b IDENTITY
--> t.a <- src.a IDENTITY
--> t.b <- src.b IDENTITY
--> src.a <- t.a IDENTITY
--> src.b <- t.b IDENTITY

-- case: a column
ALTER TABLE t RENAME COLUMN a TO c;
--> t.c <- t.a IDENTITY
--! SCHEMA_CONFLICT
