-- Streams, tasks, pipes, dynamic tables, results of earlier statements.
-- schema: t(a, b), d(a, b), loaded(x, y), log(m)

-- case: a stream has the columns of its table
CREATE OR REPLACE STREAM s ON TABLE t APPEND_ONLY = TRUE;
INSERT INTO d SELECT a, b FROM s WHERE METADATA$ACTION = 'INSERT';
--> s.a <- t.a IDENTITY
--> s.b <- t.b IDENTITY
--> s.METADATA$ACTION
--> s.METADATA$ISUPDATE
--> s.METADATA$ROW_ID
--> d.a <- s.a IDENTITY
--> d.b <- s.b IDENTITY
--> d.* | s.METADATA$ACTION FILTER

-- case: everything of a stream
CREATE STREAM s ON TABLE t;
SELECT * FROM s;
--> s.a <- t.a IDENTITY
--> s.b <- t.b IDENTITY
--> s.METADATA$ACTION
--> s.METADATA$ISUPDATE
--> s.METADATA$ROW_ID
--> a <- s.a IDENTITY
--> b <- s.b IDENTITY
--> METADATA$ACTION <- s.METADATA$ACTION IDENTITY
--> METADATA$ISUPDATE <- s.METADATA$ISUPDATE IDENTITY
--> METADATA$ROW_ID <- s.METADATA$ROW_ID IDENTITY

-- case: a stream on a table that is not known
CREATE STREAM IF NOT EXISTS IDENTIFIER('raw.s') ON TABLE IDENTIFIER('raw.nowhere') SHOW_INITIAL_ROWS = TRUE;
SELECT k FROM raw.s;
--> raw.s.METADATA$ACTION
--> raw.s.METADATA$ISUPDATE
--> raw.s.METADATA$ROW_ID
--> raw.s.* <- raw.nowhere.* IDENTITY ?
--! UNKNOWN_TABLE
--> k <- raw.s.k IDENTITY

-- case: a stream on the files of a stage
CREATE OR REPLACE STREAM files ON DIRECTORY(@docs);
SELECT relative_path FROM files;
--> files.RELATIVE_PATH <- @docs.RELATIVE_PATH IDENTITY
--> files.SIZE <- @docs.SIZE IDENTITY
--> files.LAST_MODIFIED <- @docs.LAST_MODIFIED IDENTITY
--> files.MD5 <- @docs.MD5 IDENTITY
--> files.ETAG <- @docs.ETAG IDENTITY
--> files.FILE_URL <- @docs.FILE_URL IDENTITY
--> files.METADATA$ACTION
--> files.METADATA$ISUPDATE
--> files.METADATA$ROW_ID
--> relative_path <- files.RELATIVE_PATH IDENTITY

-- case: a stream like another
CREATE STREAM s ON VIEW t;
CREATE STREAM s2 CLONE s;
SELECT a, metadata$action FROM s2;
--> s.a <- t.a IDENTITY
--> s.b <- t.b IDENTITY
--> s.METADATA$ACTION
--> s.METADATA$ISUPDATE
--> s.METADATA$ROW_ID
--> s2.a <- s.a IDENTITY
--> s2.b <- s.b IDENTITY
--> s2.METADATA$ACTION <- s.METADATA$ACTION IDENTITY
--> s2.METADATA$ISUPDATE <- s.METADATA$ISUPDATE IDENTITY
--> s2.METADATA$ROW_ID <- s.METADATA$ROW_ID IDENTITY
--> a <- s2.a IDENTITY
--> metadata$action <- s2.METADATA$ACTION IDENTITY

-- case: a task runs one statement
CREATE OR REPLACE TASK load_d WAREHOUSE = w SCHEDULE = '1 minute' WHEN SYSTEM$STREAM_HAS_DATA('s') AS
INSERT INTO d (a) SELECT CAST(b AS INT) FROM t;
ALTER TASK load_d RESUME;
--> d.a <- t.b TRANSFORMATION

-- case: a task merges a stream
CREATE STREAM s ON TABLE t;
CREATE TASK m AFTER load_d AS MERGE INTO d USING s ON d.a = s.a
WHEN MATCHED AND s.METADATA$ACTION = 'DELETE' THEN DELETE
WHEN NOT MATCHED THEN INSERT (a, b) VALUES (s.a, s.b);
--> s.a <- t.a IDENTITY
--> s.b <- t.b IDENTITY
--> s.METADATA$ACTION
--> s.METADATA$ISUPDATE
--> s.METADATA$ROW_ID
--> d.a <- s.a IDENTITY
--> d.b <- s.b IDENTITY
--> d.* | d.a MERGE, s.a MERGE, s.METADATA$ACTION MERGE

-- case: a task runs a block
CREATE TASK k AS BEGIN
  INSERT INTO d (a) SELECT a FROM t;
  DELETE FROM d WHERE b = 1;
END;
SELECT a FROM d;
--> d.a <- t.a IDENTITY
--> d.* | d.b FILTER
--> a <- d.a IDENTITY

-- case: a task runs a text
CREATE TASK k AS EXECUTE IMMEDIATE $$ BEGIN INSERT INTO d (a) SELECT a FROM t; END $$;
--> d.a <- t.a IDENTITY

-- case: a task that calls
CREATE TASK k EXECUTE AS USER u AS CALL refresh();
--! UNSUPPORTED_STATEMENT

-- case: a task gets another statement
ALTER TASK k MODIFY AS INSERT INTO d (b) SELECT a FROM t;
--> d.b <- t.a IDENTITY

-- case: a pipe copies with transforms
CREATE PIPE p AUTO_INGEST = TRUE AS COPY INTO loaded FROM (SELECT $1:id, x.$1:n.m::INT FROM @landing/in x) FILE_FORMAT = (TYPE = JSON);
--> loaded.x <- @landing/in.$1.id IDENTITY
--> loaded.y <- @landing/in.$1.n.m TRANSFORMATION

-- case: a pipe copies whole files
CREATE PIPE p AS COPY INTO loaded FROM @landing;
--> loaded.* <- @landing.* IDENTITY ?

-- case: an alert reads, then writes
CREATE ALERT al WAREHOUSE = w SCHEDULE = '1 minute' IF (EXISTS (SELECT 1 FROM t WHERE a > 1)) THEN INSERT INTO log (m) SELECT b FROM d;
--> _col_0
--> * | t.a FILTER
--> log.m <- d.b IDENTITY

-- case: dynamic tables
CREATE OR REPLACE DYNAMIC TABLE x (a2, b2) TARGET_LAG = '1 minute' WAREHOUSE = w REFRESH_MODE = AUTO INITIALIZE = ON_CREATE AS SELECT a, b FROM t;
CREATE DYNAMIC ICEBERG TABLE y TARGET_LAG = DOWNSTREAM WAREHOUSE = w AS SELECT a2 FROM x;
--> x.a2 <- t.a IDENTITY
--> x.b2 <- t.b IDENTITY
--> y.a2 <- x.a2 IDENTITY

-- case: the rows of the statement before
SELECT a, b AS c FROM t WHERE a > 0;
CREATE TABLE r AS SELECT c FROM TABLE(RESULT_SCAN(LAST_QUERY_ID()));
--> a <- t.a IDENTITY
--> c <- t.b IDENTITY
--> * | t.a FILTER
--> r.c <- t.b IDENTITY
--> r.* | t.a FILTER

-- case: the rows of an earlier statement
SELECT a, b AS c FROM t;
USE SCHEMA z;
CREATE TABLE r AS SELECT q.* FROM TABLE(RESULT_SCAN(LAST_QUERY_ID(-2))) AS q;
--> a <- t.a IDENTITY
--> c <- t.b IDENTITY
--> z.r.a <- t.a IDENTITY
--> z.r.c <- t.b IDENTITY

-- case: what a catalog lists comes from no table
SHOW TABLES;
SELECT "name" FROM TABLE(RESULT_SCAN(-1));
--> name

-- case: the result of a call is not known
CALL p();
SELECT x FROM TABLE(RESULT_SCAN(LAST_QUERY_ID()));
--! UNSUPPORTED_STATEMENT
--> x
--! APPROXIMATE_LINEAGE

-- case: a result by its id is not known
SELECT x FROM TABLE(RESULT_SCAN('01ab-0504'));
--> x
--! APPROXIMATE_LINEAGE

-- case: tables by name, and rows of nothing
SELECT a FROM TABLE('T') UNION ALL SELECT b FROM TABLE(IDENTIFIER('t'));
SELECT SEQ4() AS n FROM TABLE(GENERATOR(ROWCOUNT => 10));
--> a <- t.a IDENTITY, t.b IDENTITY
--> n

-- case: a table function over partitions
SELECT f.x FROM t, TABLE(udtf(t.a) OVER (PARTITION BY t.b)) f;
--> x <- t.a TRANSFORMATION ?, t.b TRANSFORMATION ?
--> * | t.a JOIN, t.b JOIN
--! APPROXIMATE_LINEAGE
