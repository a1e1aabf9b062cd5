-- schema: T(A, B, C), U(X, Y), DST(P, Q), DB.S.F(K, V)

-- case: create or replace transient table
CREATE OR REPLACE TRANSIENT TABLE n AS SELECT a, b FROM t;
--> n.a <- T.A IDENTITY
--> n.b <- T.B IDENTITY

-- case: create dynamic table
CREATE DYNAMIC TABLE n TARGET_LAG = '1 minute' WAREHOUSE = w AS SELECT a FROM t;
--> n.a <- T.A IDENTITY

-- case: clone
CREATE TABLE n CLONE u;
--> n.X <- U.X IDENTITY
--> n.Y <- U.Y IDENTITY

-- case: clone then read
CREATE TABLE n CLONE u;
SELECT * FROM n;
--> n.X <- U.X IDENTITY
--> n.Y <- U.Y IDENTITY
--> X <- n.X IDENTITY
--> Y <- n.Y IDENTITY

-- case: swap
CREATE TABLE n (k INT);
CREATE TABLE m (l INT);
ALTER TABLE n SWAP WITH m;
SELECT * FROM n;
--> m.k <- n.k IDENTITY
--> n.l <- m.l IDENTITY
--> l <- n.l IDENTITY

-- case: insert overwrite
INSERT OVERWRITE INTO dst SELECT x, y FROM u;
--> DST.P <- U.X IDENTITY
--> DST.Q <- U.Y IDENTITY

-- case: copy into a table from a stage
COPY INTO dst FROM @stage/in FILE_FORMAT = (TYPE = CSV);
--> DST.* <- @stage/in.* IDENTITY ?

-- case: copy into a table from a query over a stage
COPY INTO dst (p, q) FROM (SELECT $1, $2::int FROM @stage/in);
--> DST.P <- @stage/in.$1 IDENTITY
--> DST.Q <- @stage/in.$2 TRANSFORMATION

-- case: copy into a stage
COPY INTO @stage/out FROM (SELECT a, b FROM t WHERE c = 1);
--> @stage/out.a <- T.A IDENTITY
--> @stage/out.b <- T.B IDENTITY
--> @stage/out.* | T.C FILTER

-- case: copy a table into a stage
COPY INTO @stage/out FROM u;
--> @stage/out.X <- U.X IDENTITY
--> @stage/out.Y <- U.Y IDENTITY

-- case: merge
MERGE INTO dst USING (SELECT x, MAX(y) AS y FROM u GROUP BY x) s ON dst.p = s.x WHEN MATCHED THEN UPDATE SET dst.q = s.y WHEN NOT MATCHED THEN INSERT (p, q) VALUES (s.x, s.y);
--> DST.Q <- U.Y AGGREGATION
--> DST.P <- U.X IDENTITY
--> DST.* | DST.P MERGE, U.X MERGE, U.X GROUP_BY

-- case: update from
UPDATE t SET a = u.y FROM u WHERE t.b = u.x;
--> T.A <- U.Y IDENTITY
--> T.* | T.B FILTER, U.X FILTER

-- case: use schema
USE SCHEMA db.s;
SELECT k FROM f;
--> k <- DB.S.F.K IDENTITY

-- case: insert all
INSERT ALL WHEN a > 1 THEN INTO dst (p) VALUES (b) ELSE INTO dst (q) VALUES (c) SELECT a, b, c FROM t;
--> DST.P <- T.B IDENTITY
--> DST.* | T.A FILTER
--> DST.Q <- T.C IDENTITY
--> DST.* | T.A FILTER

-- case: scripting block
EXECUTE IMMEDIATE $$ BEGIN INSERT INTO dst (p) SELECT a FROM t; END $$;
--> DST.P <- T.A IDENTITY

-- case: procedure in quotes
CREATE OR REPLACE PROCEDURE p() RETURNS STRING LANGUAGE SQL AS $$ BEGIN INSERT INTO dst (p) SELECT a FROM t; UPDATE dst SET q = p; RETURN 'ok'; END $$;
--> DST.P <- T.A IDENTITY
--> DST.Q <- DST.P IDENTITY

-- case: create view with column list and comment
CREATE OR REPLACE VIEW v (k COMMENT 'x', l) AS SELECT a, b FROM t;
--> v.k <- T.A IDENTITY
--> v.l <- T.B IDENTITY

-- case: create table as with a star over ddl
CREATE TABLE n (k INT, l INT);
CREATE TABLE m AS SELECT *, k + l AS s FROM n;
--> m.k <- n.k IDENTITY
--> m.l <- n.l IDENTITY
--> m.s <- n.k TRANSFORMATION, n.l TRANSFORMATION

-- case: delete using
DELETE FROM t USING u WHERE t.a = u.x;
--> T.* | T.A FILTER, U.X FILTER

-- case: conflict between ddl and schema
CREATE TABLE u (x INT, w INT);
SELECT x, w, y FROM u;
--> x <- U.X IDENTITY
--> w <- U.w IDENTITY ?
--> y <- U.Y IDENTITY ?
--! SCHEMA_CONFLICT

-- case: let in a block
BEGIN
  LET k INT := (SELECT MAX(x) FROM u);
  INSERT INTO dst (p) SELECT a + :k FROM t;
END;
--> k <- U.X AGGREGATION
--> DST.P <- T.A TRANSFORMATION, U.X AGGREGATION
