-- schema: p.ds.t(a, b, c), ds.u(x, y, z), ds.d(p, q, s), ds.sales(product, quarter, amount, region), ds.wide(id, q1, q2, q3)

-- case: a name in one pair of backquotes
SELECT a FROM `p.ds.t`;
--> a <- p.ds.t.a IDENTITY

-- case: qualified by the table's own name
SELECT t.a, u.x FROM p.ds.t, ds.u;
--> a <- p.ds.t.a IDENTITY
--> x <- ds.u.x IDENTITY

-- case: star except
SELECT * EXCEPT (b) FROM p.ds.t;
--> a <- p.ds.t.a IDENTITY
--> c <- p.ds.t.c IDENTITY

-- case: star replace
SELECT * REPLACE (a + b AS b) FROM p.ds.t;
--> a <- p.ds.t.a IDENTITY
--> b <- p.ds.t.a TRANSFORMATION, p.ds.t.b TRANSFORMATION
--> c <- p.ds.t.c IDENTITY

-- case: star except and replace of one table
SELECT t.* EXCEPT (a) REPLACE (UPPER(c) AS c), x FROM p.ds.t, ds.u;
--> b <- p.ds.t.b IDENTITY
--> c <- p.ds.t.c TRANSFORMATION
--> x <- ds.u.x IDENTITY

-- case: qualify
SELECT a FROM p.ds.t QUALIFY ROW_NUMBER() OVER (PARTITION BY b ORDER BY c DESC) = 1;
--> a <- p.ds.t.a IDENTITY
--> * | p.ds.t.b FILTER, p.ds.t.c FILTER

-- case: qualify by alias
SELECT a, RANK() OVER (ORDER BY b) AS r FROM p.ds.t QUALIFY r < 3;
--> a <- p.ds.t.a IDENTITY
--> r | p.ds.t.b WINDOW
--> * | p.ds.t.b FILTER

-- case: if and ifnull
SELECT IF(a > 1, b, c) AS i, IFNULL(a, b) AS n FROM p.ds.t;
--> i <- p.ds.t.b TRANSFORMATION, p.ds.t.c TRANSFORMATION | p.ds.t.a CONDITIONAL
--> n <- p.ds.t.a TRANSFORMATION, p.ds.t.b TRANSFORMATION | p.ds.t.a CONDITIONAL, p.ds.t.b CONDITIONAL

-- case: countif and hashes
SELECT COUNTIF(a > 1) AS n, TO_HEX(SHA256(b)) AS h, FARM_FINGERPRINT(c) AS f FROM p.ds.t;
--> n <- p.ds.t.a AGGREGATION masked
--> h <- p.ds.t.b TRANSFORMATION masked
--> f <- p.ds.t.c TRANSFORMATION masked

-- case: pivot
SELECT * FROM ds.sales PIVOT (SUM(amount) AS total FOR quarter IN ('Q1', 'Q2' AS second));
--> product <- ds.sales.product IDENTITY
--> region <- ds.sales.region IDENTITY
--> total_Q1 <- ds.sales.amount AGGREGATION | ds.sales.quarter CONDITIONAL
--> total_second <- ds.sales.amount AGGREGATION | ds.sales.quarter CONDITIONAL
--> * | ds.sales.product GROUP_BY, ds.sales.region GROUP_BY

-- case: pivot of a subquery
SELECT product, Q1 FROM (SELECT product, quarter, amount FROM ds.sales) PIVOT (MAX(amount) FOR quarter IN ('Q1'));
--> product <- ds.sales.product IDENTITY
--> Q1 <- ds.sales.amount AGGREGATION | ds.sales.quarter CONDITIONAL
--> * | ds.sales.product GROUP_BY

-- case: unpivot
SELECT id, amount, q FROM ds.wide UNPIVOT (amount FOR q IN (q1, q2, q3));
--> id <- ds.wide.id IDENTITY
--> amount <- ds.wide.q1 IDENTITY, ds.wide.q2 IDENTITY, ds.wide.q3 IDENTITY
--> q
--> * | ds.wide.q1 FILTER, ds.wide.q2 FILTER, ds.wide.q3 FILTER

-- case: unpivot keeps the other columns
SELECT * FROM ds.wide UNPIVOT (amount FOR q IN (q1, q2));
--> id <- ds.wide.id IDENTITY
--> q3 <- ds.wide.q3 IDENTITY
--> amount <- ds.wide.q1 IDENTITY, ds.wide.q2 IDENTITY
--> q
--> * | ds.wide.q1 FILTER, ds.wide.q2 FILTER

-- case: create or replace table
CREATE OR REPLACE TABLE ds.n AS SELECT a, b AS k FROM p.ds.t;
--> ds.n.a <- p.ds.t.a IDENTITY
--> ds.n.k <- p.ds.t.b IDENTITY

-- case: create table with columns and a query
CREATE TABLE ds.n (k INT64, l STRING) AS SELECT a, c FROM p.ds.t;
--> ds.n.k <- p.ds.t.a IDENTITY
--> ds.n.l <- p.ds.t.c IDENTITY

-- case: create table clone and copy
CREATE TABLE ds.n CLONE ds.u;
--> ds.n.x <- ds.u.x IDENTITY
--> ds.n.y <- ds.u.y IDENTITY
--> ds.n.z <- ds.u.z IDENTITY

-- case: create table like has columns but no rows
CREATE TABLE ds.n LIKE ds.u;
SELECT * FROM ds.n;
--> x <- ds.n.x IDENTITY
--> y <- ds.n.y IDENTITY
--> z <- ds.n.z IDENTITY

-- case: insert with list
INSERT INTO ds.d (q, p) SELECT x, y FROM ds.u;
--> ds.d.q <- ds.u.x IDENTITY
--> ds.d.p <- ds.u.y IDENTITY

-- case: update a field of a struct
UPDATE ds.d SET s.k = u.x, p = u.y FROM ds.u WHERE d.q = u.z;
--> ds.d.s.k <- ds.u.x IDENTITY
--> ds.d.p <- ds.u.y IDENTITY
--> ds.d.* | ds.d.q FILTER, ds.u.z FILTER

-- case: merge with insert row
MERGE ds.d AS d USING (SELECT x AS p, y AS q, z AS s FROM ds.u) AS n ON d.p = n.p WHEN NOT MATCHED THEN INSERT ROW;
--> ds.d.p <- ds.u.x IDENTITY
--> ds.d.q <- ds.u.y IDENTITY
--> ds.d.s <- ds.u.z IDENTITY
--> ds.d.* | ds.d.p MERGE, ds.u.x MERGE

-- case: merge not matched by source
MERGE ds.d USING ds.u ON d.p = u.x WHEN NOT MATCHED BY SOURCE AND d.q > 1 THEN UPDATE SET s = NULL WHEN MATCHED THEN UPDATE SET q = u.y;
--> ds.d.s
--> ds.d.q <- ds.u.y IDENTITY
--> ds.d.* | ds.d.p MERGE, ds.u.x MERGE, ds.d.q MERGE

-- case: export
EXPORT DATA OPTIONS (uri = 'gs://b/x*.csv', format = 'CSV') AS SELECT a FROM p.ds.t;
--> gs://b/x*.csv.a <- p.ds.t.a IDENTITY

-- case: load
LOAD DATA INTO ds.d FROM FILES (format = 'CSV', uris = ['gs://b/in.csv']);
--> ds.d.* <- gs://b/in.csv.* IDENTITY ?

-- case: sql function is seen through
CREATE TEMP FUNCTION pick(k INT64, v STRING) AS (IF(k > 0, v, 'none'));
SELECT pick(a, c) AS r FROM p.ds.t;
--> r <- p.ds.t.c TRANSFORMATION | p.ds.t.a CONDITIONAL

-- case: javascript function is opaque
CREATE TEMP FUNCTION js(k INT64) RETURNS INT64 LANGUAGE js AS "return k;";
SELECT js(a) AS r FROM p.ds.t;
--> r <- p.ds.t.a TRANSFORMATION ?

-- case: script with if and loop
DECLARE n INT64 DEFAULT 0;
IF n > 1 THEN
  INSERT INTO ds.d (p) SELECT x FROM ds.u;
ELSE
  DELETE FROM ds.d WHERE q = 1;
END IF;
LOOP
  UPDATE ds.d SET p = q WHERE s = 1;
  BREAK;
END LOOP;
--> condition
--> ds.d.p <- ds.u.x IDENTITY
--> ds.d.* | ds.d.q FILTER
--> ds.d.p <- ds.d.q IDENTITY
--> ds.d.* | ds.d.s FILTER

-- case: begin end with a temporary table
BEGIN
  CREATE TEMP TABLE tmp AS SELECT a, b FROM p.ds.t;
  INSERT INTO ds.d (p, q) SELECT * FROM tmp;
END;
--> tmp.a <- p.ds.t.a IDENTITY
--> tmp.b <- p.ds.t.b IDENTITY
--> ds.d.p <- tmp.a IDENTITY
--> ds.d.q <- tmp.b IDENTITY

-- case: group by all
SELECT a, b, MAX(c) AS m FROM p.ds.t GROUP BY ALL;
--> a <- p.ds.t.a IDENTITY
--> b <- p.ds.t.b IDENTITY
--> m <- p.ds.t.c AGGREGATION
--> * | p.ds.t.a GROUP_BY, p.ds.t.b GROUP_BY

-- case: wildcard table is one table
SELECT a FROM `ds.events_*` WHERE _TABLE_SUFFIX > '2020';
--> a <- ds.events_*.a IDENTITY
--> * | ds.events_*._TABLE_SUFFIX FILTER
--! UNKNOWN_TABLE

-- case: time travel reads the same table
SELECT x FROM ds.u FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01';
--> x <- ds.u.x IDENTITY

-- case: safe cast, extract and date functions
SELECT SAFE_CAST(a AS INT64) AS i, EXTRACT(YEAR FROM b) AS y, DATE_ADD(c, INTERVAL a DAY) AS d FROM p.ds.t;
--> i <- p.ds.t.a TRANSFORMATION
--> y <- p.ds.t.b TRANSFORMATION
--> d <- p.ds.t.c TRANSFORMATION, p.ds.t.a TRANSFORMATION

-- case: pipe syntax
FROM p.ds.t |> WHERE a > 1 |> AGGREGATE SUM(b) AS s GROUP BY c;
--> c <- p.ds.t.c IDENTITY
--> s <- p.ds.t.b AGGREGATION
--> * | p.ds.t.a FILTER, p.ds.t.c GROUP_BY

-- case: delete without from
DELETE ds.d WHERE q = 1;
--> ds.d.* | ds.d.q FILTER
