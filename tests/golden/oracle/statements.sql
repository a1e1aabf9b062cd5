-- schema: t(a, b, c, d), u(x, y, z), dst(p, q, r), emp(id, boss, name)

-- case: decode, nvl and nvl2
SELECT DECODE(a, 1, b, c) AS e, NVL(a, b) AS n, NVL2(a, b, c) AS m FROM t;
--> e <- t.b TRANSFORMATION, t.c TRANSFORMATION | t.a CONDITIONAL
--> n <- t.a TRANSFORMATION, t.b TRANSFORMATION | t.a CONDITIONAL, t.b CONDITIONAL
--> m <- t.b TRANSFORMATION, t.c TRANSFORMATION | t.a CONDITIONAL

-- case: outer join by a mark
SELECT t.a, u.y FROM t, u WHERE t.b = u.x (+);
--> a <- t.a IDENTITY
--> y <- u.y IDENTITY
--> * | t.b FILTER, u.x FILTER

-- case: listagg
SELECT LISTAGG(a, ';') WITHIN GROUP (ORDER BY b) AS l FROM t;
--> l <- t.a AGGREGATION | t.b WINDOW

-- case: connect by
SELECT id, name FROM emp START WITH boss IS NULL CONNECT BY PRIOR id = boss;
--> id <- emp.id IDENTITY
--> name <- emp.name IDENTITY
--> * | emp.boss FILTER, emp.id FILTER

-- case: rownum and sysdate come from nowhere
SELECT a, ROWNUM AS n, SYSDATE AS s FROM t WHERE ROWNUM < 10;
--> a <- t.a IDENTITY
--> n
--> s

-- case: dual
SELECT 1 AS one FROM dual;
--> one

-- case: insert all
INSERT ALL INTO dst (p) VALUES (k) INTO dst (q, r) VALUES (k, l + 1) SELECT a AS k, b AS l FROM t;
--> dst.p <- t.a IDENTITY
--> dst.q <- t.a IDENTITY
--> dst.r <- t.b TRANSFORMATION

-- case: insert all with conditions
INSERT ALL WHEN k > 1 THEN INTO dst (p) VALUES (k) ELSE INTO dst (q) VALUES (l) SELECT a AS k, b AS l FROM t WHERE c = 1;
--> dst.p <- t.a IDENTITY
--> dst.* | t.a FILTER, t.c FILTER
--> dst.q <- t.b IDENTITY
--> dst.* | t.a FILTER, t.c FILTER

-- case: merge with where
MERGE INTO dst d USING u ON (d.p = u.x) WHEN MATCHED THEN UPDATE SET d.q = u.y WHERE u.z > 0 WHEN NOT MATCHED THEN INSERT (p, q) VALUES (u.x, u.y);
--> dst.q <- u.y IDENTITY
--> dst.p <- u.x IDENTITY
--> dst.* | dst.p MERGE, u.x MERGE, u.z MERGE

-- case: create table as with hints
CREATE TABLE n NOLOGGING AS SELECT /*+ PARALLEL(4) */ a, b FROM t;
--> n.a <- t.a IDENTITY
--> n.b <- t.b IDENTITY

-- case: create or replace view
CREATE OR REPLACE VIEW v (k, l) AS SELECT a, b || c FROM t;
--> v.k <- t.a IDENTITY
--> v.l <- t.b TRANSFORMATION, t.c TRANSFORMATION

-- case: update with a subquery
UPDATE t SET a = (SELECT y FROM u WHERE u.x = t.b) WHERE c IN (SELECT x FROM u);
--> t.a <- u.y IDENTITY | u.x FILTER, t.b FILTER
--> t.* | t.c FILTER, u.x FILTER

-- case: update of several columns
UPDATE t SET (a, b) = (SELECT x, y FROM u WHERE z = t.c);
--> t.a <- u.x IDENTITY | u.z FILTER, t.c FILTER
--> t.b <- u.y IDENTITY | u.z FILTER, t.c FILTER

-- case: recursive subquery factoring
WITH r (id, name, root) AS (SELECT id, name, name FROM emp WHERE boss IS NULL UNION ALL SELECT e.id, e.name, r.root FROM emp e JOIN r ON e.boss = r.id) SELECT id, root FROM r;
--> id <- emp.id IDENTITY
--> root <- emp.name IDENTITY
--> * | emp.boss FILTER, emp.boss JOIN, emp.id JOIN

-- case: minus
SELECT a FROM t MINUS SELECT x FROM u;
--> a <- t.a IDENTITY
--> * | t.a GROUP_BY, u.x GROUP_BY

-- case: analytic functions
SELECT FIRST_VALUE(a) OVER (PARTITION BY b ORDER BY c) AS f, RATIO_TO_REPORT(d) OVER (PARTITION BY b) AS r FROM t;
--> f <- t.a TRANSFORMATION | t.b WINDOW, t.c WINDOW
--> r <- t.d TRANSFORMATION | t.b WINDOW

-- case: pivot
SELECT * FROM (SELECT a, b, c FROM t) PIVOT (SUM(c) FOR b IN ('x' AS px, 'y' AS py));
--> a <- t.a IDENTITY
--> px <- t.c AGGREGATION | t.b CONDITIONAL
--> py <- t.c AGGREGATION | t.b CONDITIONAL
--> * | t.a GROUP_BY

-- case: xml table
SELECT x.b FROM t, XMLTABLE('/r' PASSING t.d COLUMNS b VARCHAR2(10) PATH 'b') x;
--> b <- t.d TRANSFORMATION
--> * | t.d JOIN

-- case: anonymous block
DECLARE
  n NUMBER;
  m NUMBER := 1;
BEGIN
  INSERT INTO dst (p) SELECT a FROM t;
  FOR r IN (SELECT x FROM u) LOOP
    UPDATE dst SET q = r WHERE p = 1;
  END LOOP;
EXCEPTION WHEN OTHERS THEN
  DELETE FROM dst WHERE q = 2;
END;
--> dst.p <- t.a IDENTITY
--> x <- u.x IDENTITY
--> dst.q <- dst.r IDENTITY
--> dst.* | dst.p FILTER
--> dst.* | dst.q FILTER

-- case: procedure with declarations
CREATE OR REPLACE PROCEDURE p (k IN NUMBER) IS
  n NUMBER;
BEGIN
  INSERT INTO dst (p, q) SELECT x, y FROM u WHERE z = 1;
END;
--> dst.p <- u.x IDENTITY
--> dst.q <- u.y IDENTITY
--> dst.* | u.z FILTER

-- case: table function
SELECT f.n FROM TABLE(pkg.rows_of(1)) f;
--> n
--! APPROXIMATE_LINEAGE

-- case: sequences come from nowhere
INSERT INTO dst (p, q) SELECT seq.NEXTVAL, a FROM t;
--> dst.p
--> dst.q <- t.a IDENTITY

-- case: quoted names are exact
SELECT "a" FROM t;
--> a <- t.a IDENTITY
