-- schema: t(a INT64, b INT64, c INT64, n STRING, d DATE, ts TIMESTAMP, f FLOAT64, j JSON, s STRUCT<x INT64, y STRUCT<z INT64, w STRING>>, arr ARRAY<INT64>, sa ARRAY<STRUCT<k INT64, v STRING>>), u(a INT64, z INT64, n STRING, f FLOAT64), w(a INT64, q INT64)

-- case: temp tables are chained
CREATE TEMP TABLE one AS SELECT a, b + c AS bc FROM t;
CREATE TEMP TABLE two AS SELECT bc * 2 AS d FROM one WHERE a > 1;
INSERT INTO u (z) SELECT d FROM two;
--> one.a <- t.a IDENTITY
--> one.bc <- t.b TRANSFORMATION, t.c TRANSFORMATION
--> two.d <- one.bc TRANSFORMATION
--> two.* | one.a FILTER
--> u.z <- two.d IDENTITY

-- case: a table made again later does not change what came before
CREATE TABLE d.x AS SELECT a AS k FROM t;
SELECT k FROM d.x;
CREATE OR REPLACE TABLE d.x AS SELECT n AS k FROM t;
SELECT k FROM d.x;
--> d.x.k <- t.a IDENTITY
--> k <- d.x.k IDENTITY
--> d.x.k <- t.n IDENTITY
--> k <- d.x.k IDENTITY

-- case: variables carry lineage
DECLARE m INT64 DEFAULT (SELECT MAX(b) FROM t);
INSERT INTO u (a, z) SELECT a, m FROM w;
--> m <- t.b AGGREGATION
--> u.a <- w.a IDENTITY
--> u.z <- t.b AGGREGATION

-- case: a constant variable carries none
DECLARE m INT64 DEFAULT 3;
SELECT a + m AS x FROM t;
--> x <- t.a TRANSFORMATION

-- case: set replaces
DECLARE m INT64 DEFAULT (SELECT MAX(b) FROM t);
SET m = (SELECT MIN(q) FROM w);
SELECT m AS x;
--> m <- t.b AGGREGATION
--> m <- w.q AGGREGATION
--> x <- w.q AGGREGATION

-- case: set from itself adds
DECLARE m INT64 DEFAULT (SELECT MAX(b) FROM t);
SET m = m + (SELECT MIN(q) FROM w);
SELECT m AS x;
--> m <- t.b AGGREGATION
--> m <- t.b AGGREGATION, w.q AGGREGATION
--> x <- t.b AGGREGATION, w.q AGGREGATION

-- case: set of several variables
DECLARE p, q INT64;
SET (p, q) = (SELECT AS STRUCT MAX(a), MIN(b) FROM t);
SELECT p AS pp, q AS qq;
--> p <- t.a AGGREGATION
--> q <- t.b AGGREGATION
--> pp <- t.a AGGREGATION
--> qq <- t.b AGGREGATION

-- case: set in a branch may or may not happen
DECLARE m INT64 DEFAULT (SELECT MAX(b) FROM t);
IF m > 3 THEN SET m = (SELECT MIN(q) FROM w); END IF;
SELECT m AS x;
--> m <- t.b AGGREGATION
--> condition <- t.b AGGREGATION
--> m <- w.q AGGREGATION
--> x <- t.b AGGREGATION, w.q AGGREGATION

-- case: declared by its value
DECLARE m DEFAULT (SELECT STRUCT(MAX(a) AS p, MIN(n) AS q) FROM t);
SELECT m.p AS p, m.q AS q;
--> m.p <- t.a AGGREGATION
--> m.q <- t.n AGGREGATION
--> p <- t.a AGGREGATION
--> q <- t.n AGGREGATION

-- case: branches
IF (SELECT COUNT(*) FROM w) > 3 THEN
  INSERT INTO u (a) SELECT a FROM t;
ELSEIF true THEN
  INSERT INTO u (z) SELECT b FROM t;
ELSE
  DELETE u WHERE a = 1;
END IF;
--> condition
--> u.a <- t.a IDENTITY
--> u.z <- t.b IDENTITY
--> u.* | u.a FILTER

-- case: case statement
CASE WHEN true THEN INSERT INTO u (a) SELECT a FROM t; ELSE SELECT q FROM w; END CASE;
--> u.a <- t.a IDENTITY
--> q <- w.q IDENTITY

-- case: loops
DECLARE i INT64 DEFAULT 0;
LOOP
  SET i = i + 1;
  INSERT INTO u (a) SELECT a + i FROM t;
  IF i > 3 THEN LEAVE; END IF;
END LOOP;
WHILE i < 9 DO SET i = i + 1; END WHILE;
REPEAT SET i = i - 1; UNTIL i < 0 END REPEAT;
--> i
--> u.a <- t.a TRANSFORMATION
--> condition
--> condition
--> i
--> i

-- case: for over a query
FOR r IN (SELECT a, n FROM t WHERE b > 1) DO
  INSERT INTO u (a, n) VALUES (r.a, r.n);
END FOR;
--> a <- t.a IDENTITY
--> n <- t.n IDENTITY
--> * | t.b FILTER
--> u.a <- t.a IDENTITY | t.b FILTER
--> u.n <- t.n IDENTITY | t.b FILTER

-- case: begin and exception
BEGIN
  INSERT INTO u (a) SELECT a FROM t;
EXCEPTION WHEN ERROR THEN
  INSERT INTO u (n) VALUES (@@error.message);
END;
--> u.a <- t.a IDENTITY
--> u.n

-- case: labels
outer_loop: LOOP INSERT INTO u (a) SELECT q FROM w; BREAK outer_loop; END LOOP outer_loop;
--> u.a <- w.q IDENTITY

-- case: sql function
CREATE TEMP FUNCTION plus(p INT64, q INT64) AS (p + q);
SELECT plus(a, b) AS r, plus(plus(a, 1), c) AS rr FROM t;
--> r <- t.a TRANSFORMATION, t.b TRANSFORMATION
--> rr <- t.a TRANSFORMATION, t.c TRANSFORMATION

-- case: a function keeps conditions apart
CREATE TEMP FUNCTION pick(c BOOL, p INT64, q INT64) AS (IF(c, p, q));
SELECT pick(a > 1, b, c) AS r FROM t;
--> r <- t.b TRANSFORMATION, t.c TRANSFORMATION | t.a CONDITIONAL

-- case: a function that ignores an argument
CREATE TEMP FUNCTION take_first(p INT64, q INT64) AS (p);
SELECT take_first(a, b) AS r FROM t;
--> r <- t.a IDENTITY

-- case: a function over a struct
CREATE TEMP FUNCTION getw(p STRUCT<z INT64, w STRING>) AS (p.w);
SELECT getw(s.y) AS r FROM t;
--> r <- t.s.y.w IDENTITY

-- case: a function with any type
CREATE TEMP FUNCTION getx(p ANY TYPE) AS (p.x);
SELECT getx(s) AS r FROM t;
--> r <- t.s.x IDENTITY

-- case: a function with a subquery
CREATE TEMP FUNCTION maxz(k INT64) AS ((SELECT MAX(z) FROM u WHERE a = k));
SELECT maxz(b) AS r FROM t;
--> r <- u.z AGGREGATION | u.a FILTER, t.b FILTER

-- case: a function of a dataset
CREATE FUNCTION ds.twice(p INT64) AS (p * 2);
SELECT ds.twice(a) AS r, `ds.twice`(b) AS rr FROM t;
--> r <- t.a TRANSFORMATION
--> rr <- t.b TRANSFORMATION

-- case: a function in javascript is opaque
CREATE TEMP FUNCTION js(p INT64, q STRING) RETURNS INT64 LANGUAGE js AS "return p";
SELECT js(a, n) AS r, b FROM t;
--> r <- t.a TRANSFORMATION ?, t.n TRANSFORMATION ?
--> b <- t.b IDENTITY
--! APPROXIMATE_LINEAGE

-- case: an aggregate function
CREATE TEMP AGGREGATE FUNCTION wavg(p FLOAT64, q FLOAT64) AS (SUM(p * q) / SUM(q));
SELECT wavg(a, f) AS r FROM t;
--> r <- t.a AGGREGATION, t.f AGGREGATION

-- case: table function
CREATE TABLE FUNCTION ds.big(lim INT64) AS SELECT a, n FROM t WHERE b > lim;
SELECT x.n, x.a FROM ds.big(3) AS x;
--> n <- t.n IDENTITY
--> a <- t.a IDENTITY
--> * | t.b FILTER

-- case: table function with a column as argument
CREATE TABLE FUNCTION ds.only(k INT64) AS SELECT z, k AS given FROM u WHERE a = k;
SELECT x.z, x.given FROM ds.only((SELECT MAX(q) FROM w)) AS x;
--> z <- u.z IDENTITY
--> given <- w.q AGGREGATION
--> * | u.a FILTER, w.q FILTER

-- case: table function over a table
CREATE TEMP TABLE FUNCTION doubled(src TABLE<a INT64, z INT64>) AS SELECT a, z * 2 AS zz FROM src;
SELECT zz, a FROM doubled((SELECT a, z FROM u WHERE n = 'x'));
--> zz <- u.z TRANSFORMATION
--> a <- u.a IDENTITY
--> * | u.n FILTER

-- case: table function over any table
CREATE TEMP TABLE FUNCTION plus_one(src ANY TABLE) AS SELECT *, a + 1 AS a1 FROM src;
SELECT q, a1 FROM plus_one(TABLE w);
--> q <- w.q IDENTITY
--> a1 <- w.a TRANSFORMATION

-- case: procedure
CREATE PROCEDURE ds.fill(IN lim INT64) BEGIN
  CREATE TEMP TABLE inside AS SELECT a, lim AS l FROM t WHERE b > lim;
  INSERT INTO u (a, z) SELECT a, l FROM inside;
END;
CALL ds.fill((SELECT MAX(q) FROM w));
--> inside.a <- t.a IDENTITY
--> inside.l
--> inside.* | t.b FILTER
--> u.a <- inside.a IDENTITY
--> u.z <- inside.l IDENTITY
--> inside.a <- t.a IDENTITY
--> inside.l <- w.q AGGREGATION
--> inside.* | t.b FILTER, w.q FILTER
--> u.a <- inside.a IDENTITY
--> u.z <- inside.l IDENTITY

-- case: procedure with a result
CREATE PROCEDURE ds.count_it(IN k INT64, OUT r INT64) BEGIN SET r = (SELECT MAX(z) FROM u WHERE a = k); END;
BEGIN
  DECLARE x INT64;
  CALL ds.count_it(1, x);
  INSERT INTO w (q) VALUES (x);
END;
--> r <- u.z AGGREGATION | u.a FILTER
--> r <- u.z AGGREGATION | u.a FILTER
--> w.q <- u.z AGGREGATION | u.a FILTER

-- case: unknown procedure
CALL ds.somewhere_else(1);
--! APPROXIMATE_LINEAGE
--! UNSUPPORTED_STATEMENT

-- case: system procedures
CALL BQ.REFRESH_MATERIALIZED_VIEW('d.m');


-- case: execute immediate of a constant
EXECUTE IMMEDIATE "INSERT INTO u (a) SELECT b FROM t";
--> u.a <- t.b IDENTITY

-- case: execute immediate with arguments
DECLARE m INT64 DEFAULT (SELECT MAX(q) FROM w);
EXECUTE IMMEDIATE "INSERT INTO u (a, z) SELECT b, ? FROM t" USING m;
EXECUTE IMMEDIATE "INSERT INTO u (a, z) SELECT b, @k FROM t" USING m AS k;
--> m <- w.q AGGREGATION
--> u.a <- t.b IDENTITY
--> u.z <- w.q AGGREGATION
--> u.a <- t.b IDENTITY
--> u.z <- w.q AGGREGATION

-- case: execute immediate into variables
DECLARE p INT64;
EXECUTE IMMEDIATE "SELECT MAX(b) FROM t" INTO p;
SELECT p AS x;
--> f0_ <- t.b AGGREGATION
--> x <- t.b AGGREGATION

-- case: execute immediate of a computed string
DECLARE name STRING DEFAULT 'u';
EXECUTE IMMEDIATE FORMAT("INSERT INTO %s (a) SELECT b FROM t", name);
--> u.a <- t.b IDENTITY

-- case: a bad statement does not take the others with it
SELECT a FROM t;
SELEC b FROM t;
SELECT c FROM t;
--> a <- t.a IDENTITY
--! PARSE_ERROR
--> c <- t.c IDENTITY

-- case: text in another script
-- 한글 주석
CREATE TEMP TABLE `표` AS SELECT a AS `값`, '한글' AS k FROM t; -- 끝
SELECT `값` + 1 AS x FROM `표`;
--> 표.값 <- t.a IDENTITY
--> 표.k
--> x <- 표.값 TRANSFORMATION

-- case: a function that is named like a builtin one
CREATE TEMP FUNCTION first(p INT64, q INT64) AS (q);
SELECT first(a, b) AS r FROM t;
--> r <- t.b IDENTITY

-- case: a temp table made again
CREATE TEMP TABLE s1 AS SELECT a FROM t;
CREATE OR REPLACE TEMP TABLE s1 AS SELECT b AS a FROM t;
INSERT INTO u (a) SELECT a FROM s1;
--> s1.a <- t.a IDENTITY
--> s1.a <- t.b IDENTITY
--> u.a <- s1.a IDENTITY

-- case: a remote function is opaque
CREATE FUNCTION ds.remote(p INT64) RETURNS INT64 REMOTE WITH CONNECTION `proj.us.conn` OPTIONS (endpoint = 'https://x');
SELECT ds.remote(a) AS r FROM t;
--> r <- t.a TRANSFORMATION ?
--! APPROXIMATE_LINEAGE
