-- Shapes of scripts that others write.

-- case: a slash ends a statement
INSERT INTO a SELECT x FROM t1
/
INSERT INTO b SELECT y FROM t2
/
--> a.x <- t1.x IDENTITY
--> b.y <- t2.y IDENTITY

-- case: a cursor in a loop
DECLARE
  CURSOR c IS SELECT id, v FROM src;
BEGIN
  FOR r IN c LOOP INSERT INTO d (id, v) VALUES (r.id, r.v); END LOOP;
END;
/
--> id <- src.id IDENTITY
--> v <- src.v IDENTITY
--> r.id <- src.id IDENTITY
--> r.v <- src.v IDENTITY
--> d.id <- src.id IDENTITY
--> d.v <- src.v IDENTITY

-- case: forall
BEGIN
  FORALL i IN 1 .. ids.COUNT INSERT INTO d (id) SELECT id FROM s WHERE s.k = ids(i);
END;
/
--> d.id <- s.id IDENTITY
--> d.* | s.k FILTER

-- case: a cursor of a procedure
CREATE OR REPLACE PROCEDURE p IS CURSOR c IS SELECT a FROM t; BEGIN UPDATE d SET v = 1 WHERE k = 2; END;
--> a <- t.a IDENTITY
--> d.v
--> d.* | d.k FILTER

-- case: merge that deletes
MERGE INTO d USING s ON (d.id = s.id) WHEN MATCHED THEN UPDATE SET d.v = s.v DELETE WHERE s.gone = 1;
--> d.v <- s.v IDENTITY
--> d.* | d.id MERGE, s.id MERGE, s.gone MERGE

-- case: update of a query
UPDATE (SELECT d.v AS dv, s.v AS sv FROM d JOIN s ON d.id = s.id) SET dv = sv;
--> d.v <- s.v IDENTITY
--> d.* | d.id JOIN, s.id JOIN

-- case: model
SELECT country, prod, year, s FROM sales_view MODEL PARTITION BY (country) DIMENSION BY (prod, year) MEASURES (sale s) RULES (s['B', 2001] = s['B', 2000]) ORDER BY country;
--> country <- sales_view.country IDENTITY
--> prod <- sales_view.prod IDENTITY
--> year <- sales_view.year IDENTITY
--> s <- sales_view.sale IDENTITY
--> * | sales_view.country SORT
--! APPROXIMATE_LINEAGE

-- case: commands of SQL*Plus
SET ECHO ON
SPOOL x.log
PROMPT it's loading
INSERT INTO d SELECT a
FROM t
START WITH b = 1
CONNECT BY PRIOR c = b;
WHENEVER SQLERROR EXIT 1
EXIT
--> d.a <- t.a IDENTITY
--> d.* | t.c FILTER, t.b FILTER

-- case: variables end with their block
DECLARE
  rate NUMBER;
BEGIN
  SELECT max(r) INTO rate FROM rates;
  UPDATE accounts SET interest = rate;
END;
/
CREATE VIEW v AS SELECT rate FROM offers;
--> rate <- rates.r AGGREGATION
--> accounts.interest <- rates.r AGGREGATION
--> v.rate <- offers.rate IDENTITY

-- case: a variable of a package is known in all its procedures
CREATE PACKAGE BODY p AS
  highest NUMBER;
  PROCEDURE one IS BEGIN SELECT max(v) INTO highest FROM t; END;
  PROCEDURE two IS BEGIN INSERT INTO d (x) SELECT y FROM u WHERE y < highest; END;
END p;
/
--> highest <- t.v AGGREGATION
--> d.x <- u.y IDENTITY
--> d.* | u.y FILTER, t.v FILTER

-- case: an insert with an alias
INSERT INTO s.bills b (b.id, b.total) SELECT o.id, o.price FROM orders o;
--> s.bills.id <- orders.id IDENTITY
--> s.bills.total <- orders.price IDENTITY

-- case: dual beside a table
SELECT name, dummy FROM people, dual;
--> name <- people.name IDENTITY
--> dummy

-- case: a function with several declarations
CREATE FUNCTION f(wanted IN NUMBER) RETURN NUMBER AS
  one NUMBER;
  two NUMBER;
BEGIN
  SELECT max(v) INTO one FROM t WHERE k = wanted;
  RETURN one;
END;
/
--> one <- t.v AGGREGATION | t.k FILTER
