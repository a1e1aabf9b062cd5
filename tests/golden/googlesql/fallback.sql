-- schema: t(a INT64, b INT64, n STRING), u(a INT64, z INT64)

-- case: unknown table
SELECT x.k, x.v FROM missing AS x WHERE x.w > 1;
--> k <- missing.k IDENTITY
--> v <- missing.v IDENTITY
--> * | missing.w FILTER
--! UNKNOWN_TABLE

-- case: unknown table beside a known one
SELECT t.a, m.k FROM t JOIN missing AS m ON m.id = t.b;
--> a <- t.a IDENTITY
--> k <- missing.k IDENTITY
--> * | missing.id JOIN, t.b JOIN
--! UNKNOWN_TABLE

-- case: unknown table into a known one
INSERT INTO u (a, z) SELECT m.p, m.q FROM missing AS m;
--> u.a <- missing.p IDENTITY
--> u.z <- missing.q IDENTITY
--! UNKNOWN_TABLE

-- case: what an unknown table makes is known then
CREATE TABLE d.x AS SELECT m.p, m.q FROM missing AS m;
SELECT p + 1 AS r FROM d.x;
--> d.x.p <- missing.p IDENTITY
--> d.x.q <- missing.q IDENTITY
--! UNKNOWN_TABLE
--> r <- d.x.p TRANSFORMATION

-- case: unknown function
SELECT mystery(a, b) AS r FROM t;
--> r <- t.a TRANSFORMATION ?, t.b TRANSFORMATION ?
--! APPROXIMATE_LINEAGE

-- case: unknown functions of other types beside exact lineage
SELECT fun.count_of(a) + 1 AS n, fun.sum_of(b) AS s, a || b AS ab FROM t WHERE fun.rank_of(a) > 2;
--> n <- t.a TRANSFORMATION ?
--> s <- t.b TRANSFORMATION ?
--> ab <- t.a TRANSFORMATION, t.b TRANSFORMATION
--> * | t.a FILTER ?
--! APPROXIMATE_LINEAGE
--! APPROXIMATE_LINEAGE
--! APPROXIMATE_LINEAGE

-- case: an unknown function of a script's function
CREATE TEMP FUNCTION f(x STRING) AS (fun.clean(x)); SELECT f(n) AS r, b FROM t;
--> r <- t.n TRANSFORMATION ?
--> b <- t.b IDENTITY
--! APPROXIMATE_LINEAGE

-- case: an unknown function that statements of a script use as different types
SELECT fun.f(a) || 'x' AS r FROM t; SELECT b FROM t WHERE fun.f(a) AND fun.f(b); SELECT fun.f(a) + 1 AS n FROM t;
--> r <- t.a TRANSFORMATION ?
--! APPROXIMATE_LINEAGE
--> b <- t.b IDENTITY
--> * | t.a FILTER ?, t.b FILTER ?
--! APPROXIMATE_LINEAGE
--> n <- t.a TRANSFORMATION ?
--! APPROXIMATE_LINEAGE

-- case: unknown column
SELECT nope, a FROM t;
--> nope <- t.nope IDENTITY ?
--> a <- t.a IDENTITY
--! UNKNOWN_COLUMN

-- case: a type error
SELECT a + n AS r, b FROM t;
--> r <- t.a TRANSFORMATION, t.n TRANSFORMATION
--> b <- t.b IDENTITY
--! APPROXIMATE_LINEAGE

-- case: star over an unknown table
CREATE TABLE d.x AS SELECT * FROM missing;
--> d.x.* <- missing.* IDENTITY ?
--! UNKNOWN_TABLE
--! APPROXIMATE_LINEAGE

-- case: prediction by a model
SELECT * FROM ML.PREDICT(MODEL d.m, (SELECT a, b FROM t));
--> * <- t.a TRANSFORMATION ?, t.b TRANSFORMATION ? | t.a JOIN, t.b JOIN
--! APPROXIMATE_LINEAGE
--! APPROXIMATE_LINEAGE

-- case: unknown table in a variable
DECLARE m INT64 DEFAULT (SELECT MAX(k) FROM missing);
SELECT a + m AS r FROM t;
--> m <- missing.k AGGREGATION
--! UNKNOWN_TABLE
--> r <- t.a TRANSFORMATION, missing.k AGGREGATION
--! UNKNOWN_TABLE

-- case: unknown table in a procedure
CREATE PROCEDURE ds.p() BEGIN INSERT INTO u (a) SELECT m.k FROM missing AS m; END;
--> u.a <- missing.k IDENTITY
--! UNKNOWN_TABLE

-- case: columns without types
CREATE TABLE d.x (p INT64, q STRING);
SELECT p, q FROM d.x;
--> p <- d.x.p IDENTITY
--> q <- d.x.q IDENTITY

-- case: a variable of an unknown table is no column of another one
DECLARE since TIMESTAMP DEFAULT (SELECT MAX(m.seen) FROM missing AS m);
SELECT o.k, since AS s, x > since AS is_new FROM other AS o;
--> since <- missing.seen AGGREGATION
--! UNKNOWN_TABLE
--> k <- other.k IDENTITY
--> s <- missing.seen AGGREGATION
--> is_new <- other.x TRANSFORMATION, missing.seen AGGREGATION
--! UNKNOWN_TABLE
--! UNKNOWN_TABLE

-- case: a default and an assignment that read tables nobody knows
DECLARE since DATE DEFAULT (SELECT max(day) FROM strange.days WHERE ok);
DECLARE n INT64;
SET n = (SELECT min(k) FROM strange.keys);
CREATE TABLE recent AS SELECT since AS y, n + 1 AS z FROM strange.rows WHERE day > since;
--> since <- strange.days.day AGGREGATION | strange.days.ok FILTER
--! UNKNOWN_TABLE
--> n <- strange.keys.k AGGREGATION
--! UNKNOWN_TABLE
--> recent.y <- strange.days.day AGGREGATION | strange.days.ok FILTER
--> recent.z <- strange.keys.k AGGREGATION
--> recent.* | strange.rows.day FILTER, strange.days.day FILTER, strange.days.ok FILTER
--! UNKNOWN_TABLE
--! UNKNOWN_TABLE
--! UNKNOWN_TABLE

-- case: several variables from a table nobody knows
DECLARE a, b INT64;
SET (a, b) = (SELECT AS STRUCT x, y FROM strange.pairs);
SELECT a AS one, b AS two;
--> a <- strange.pairs.x IDENTITY
--> b <- strange.pairs.y IDENTITY
--! UNKNOWN_TABLE
--> one <- strange.pairs.x IDENTITY
--> two <- strange.pairs.y IDENTITY
--! UNKNOWN_TABLE

-- case: conditions and loops over tables nobody knows
IF (SELECT max(q) FROM strange.flags) > 1 THEN DELETE FROM strange.rows WHERE k = 1; END IF;
FOR r IN (SELECT a, b FROM strange.pairs) DO INSERT INTO strange.copies (c) VALUES (r.a); END FOR;
--> condition <- strange.flags.q AGGREGATION
--! UNKNOWN_TABLE
--> strange.rows.* | strange.rows.k FILTER
--! UNKNOWN_TABLE
--> a <- strange.pairs.a IDENTITY
--> b <- strange.pairs.b IDENTITY
--! UNKNOWN_TABLE
--> strange.copies.c <- strange.pairs.a IDENTITY
--! UNKNOWN_TABLE
