-- schema: t(a, b, n), u(a, z), w(q)

-- case: a variable carries what was put into it
DECLARE m INT64 DEFAULT (SELECT MAX(b) FROM t WHERE n = 1);
INSERT INTO u (a, z) SELECT q, m + 1 FROM w;
--> m <- t.b AGGREGATION | t.n FILTER
--> u.a <- w.q IDENTITY
--> u.z <- t.b AGGREGATION | t.n FILTER

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

-- case: set in a branch may or may not happen
DECLARE m INT64 DEFAULT (SELECT MAX(b) FROM t);
IF TRUE THEN
  SET m = (SELECT MIN(q) FROM w);
END IF;
SELECT m AS x;
--> m <- t.b AGGREGATION
--> m <- w.q AGGREGATION
--> x <- t.b AGGREGATION, w.q AGGREGATION

-- case: a variable that was never given anything
DECLARE k INT64;
SELECT a + k AS x FROM t;
--> x <- t.a TRANSFORMATION

-- case: set of several
DECLARE p, q INT64;
SET (p, q) = (SELECT AS STRUCT MAX(a), MIN(b) FROM t);
SELECT p AS pp, q AS qq;
--> p <- t.a AGGREGATION
--> q <- t.b AGGREGATION
--> pp <- t.a AGGREGATION
--> qq <- t.b AGGREGATION

-- case: a column wins over a variable
DECLARE a INT64 DEFAULT (SELECT q FROM w);
SELECT a FROM t;
--> a <- w.q IDENTITY
--> a <- t.a IDENTITY

-- case: execute immediate of a constant
EXECUTE IMMEDIATE "INSERT INTO u (a) SELECT b FROM t";
--> u.a <- t.b IDENTITY

-- case: execute immediate of a computed string
EXECUTE IMMEDIATE CONCAT("INSERT INTO u ", "SELECT 1");
--> u.a

-- case: case statement
CASE WHEN TRUE THEN INSERT INTO u (a) SELECT a FROM t; ELSE SELECT q FROM w; END CASE;
--> u.a <- t.a IDENTITY
--> q <- w.q IDENTITY

-- case: while and repeat
WHILE TRUE DO INSERT INTO u (a) SELECT a FROM t; END WHILE;
REPEAT DELETE FROM u WHERE z = 1; UNTIL TRUE END REPEAT;
--> u.a <- t.a IDENTITY
--> u.* | u.z FILTER

-- case: a function named in a call is seen through with fields
CREATE TEMP FUNCTION f(p STRUCT<x INT64>) AS (p.x);
SELECT f(n) AS r FROM t;
--> r <- t.n.x IDENTITY

-- case: outputs without a name
SELECT a + 1, b, MAX(n) FROM t GROUP BY 1, 2;
--> f0_ <- t.a TRANSFORMATION
--> b <- t.b IDENTITY
--> f1_ <- t.n AGGREGATION
--> * | t.a GROUP_BY, t.b GROUP_BY

-- case: corresponding takes the columns in common
SELECT a, b FROM t UNION ALL CORRESPONDING SELECT z, a FROM u;
--> a <- t.a IDENTITY, u.a IDENTITY

-- case: functions of the same name in two datasets
CREATE FUNCTION early.h(x INT64, y INT64) AS (x);
CREATE FUNCTION late.h(x INT64, y INT64) AS (y);
SELECT early.h(a, b) AS v FROM t;
--> v <- t.a IDENTITY
