-- schema: ds.t(a INT64, b INT64), ds.u(x INT64), ds.d(x INT64)

-- case: a computed string is executed
DECLARE tab STRING DEFAULT "t";
DECLARE s STRING;
SET s = CONCAT("INSERT INTO ds.d (x) SELECT a FROM ds.", tab);
EXECUTE IMMEDIATE s;
--> s
--> ds.d.x <- ds.t.a IDENTITY

-- case: a formatted string with arguments
DECLARE m INT64 DEFAULT (SELECT MAX(x) FROM ds.u);
EXECUTE IMMEDIATE FORMAT("INSERT INTO ds.%s (x) SELECT a + @p FROM ds.t", "d") USING m AS p;
--> m <- ds.u.x AGGREGATION
--> ds.d.x <- ds.t.a TRANSFORMATION, ds.u.x AGGREGATION

-- case: each branch may have set the string
DECLARE s STRING;
IF RAND() > 0.5 THEN
  SET s = "INSERT INTO ds.d (x) SELECT a FROM ds.t";
ELSE
  SET s = "INSERT INTO ds.d (x) SELECT x FROM ds.u";
END IF;
EXECUTE IMMEDIATE s;
--> condition
--> ds.d.x <- ds.u.x IDENTITY
--> ds.d.x <- ds.t.a IDENTITY

-- case: a branch sees what it has set itself
DECLARE s STRING DEFAULT "INSERT INTO ds.d (x) SELECT a FROM ds.t";
IF RAND() > 0.5 THEN
  SET s = "INSERT INTO ds.d (x) SELECT x FROM ds.u";
  EXECUTE IMMEDIATE s;
END IF;
--> condition
--> ds.d.x <- ds.u.x IDENTITY

-- case: a string that grows in a loop by what is constant
DECLARE s STRING DEFAULT "SELECT a FROM ds.t";
WHILE RAND() > 0.5 DO
  SET s = s || " UNION ALL SELECT a FROM ds.t";
  EXECUTE IMMEDIATE s;
END WHILE;
--> condition
--> s
--> a <- ds.t.a IDENTITY

-- case: the table is read from a table
DECLARE n STRING DEFAULT (SELECT MAX(CAST(x AS STRING)) FROM ds.u);
EXECUTE IMMEDIATE "INSERT INTO ds.d (x) SELECT a FROM ds." || n;
--> n <- ds.u.x AGGREGATION
--! APPROXIMATE_LINEAGE

-- case: a value that is not known is in doubt
DECLARE n STRING DEFAULT CAST(CURRENT_DATE() AS STRING);
EXECUTE IMMEDIATE "INSERT INTO ds.d (x) SELECT a FROM ds.t WHERE b = " || n;
--> n
--> ds.d.x <- ds.t.a IDENTITY
--> ds.d.* | ds.t.b FILTER
--! APPROXIMATE_LINEAGE
--! APPROXIMATE_LINEAGE

-- case: the second statement of a string sees the first
EXECUTE IMMEDIATE "CREATE TEMP TABLE w AS SELECT a AS q FROM ds.t; INSERT INTO ds.d (x) SELECT q FROM w";
--> w.q <- ds.t.a IDENTITY
--> ds.d.x <- w.q IDENTITY

-- case: a variable of a procedure is not that of the script
DECLARE s STRING DEFAULT "INSERT INTO ds.d (x) SELECT a FROM ds.t";
CREATE PROCEDURE ds.p() BEGIN DECLARE s STRING; SET s = "INSERT INTO ds.d (x) SELECT x FROM ds.u"; END;
EXECUTE IMMEDIATE s;
--! APPROXIMATE_LINEAGE

-- case: a table that is named by the counter of a loop
DECLARE n INT64 DEFAULT 1;
WHILE n < 9 DO
  EXECUTE IMMEDIATE "INSERT INTO ds.d (x) SELECT a FROM ds.t" || CAST(n AS STRING);
  SET n = n + 1;
END WHILE;
--> condition
--! APPROXIMATE_LINEAGE
--> n
