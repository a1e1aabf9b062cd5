-- Shapes of scripts that others write.

-- case: measures of a pattern
SELECT m.a_price, sid FROM ticks MATCH_RECOGNIZE (PARTITION BY sid ORDER BY ts MEASURES LAST(a.price) AS a_price, FIRST(b.ts) AS b_ts ONE ROW PER MATCH PATTERN (a b+) DEFINE a AS price > 10) m;
--> a_price <- ticks.price AGGREGATION
--> sid <- ticks.sid IDENTITY
--> * | ticks.price FILTER, ticks.ts SORT

-- case: renamed columns of an unknown table
SELECT * RENAME (a AS b) FROM t;
--> b <- t.a IDENTITY
--> * <- t.* IDENTITY ?
--! APPROXIMATE_LINEAGE

-- case: replaced and renamed columns of an unknown table
SELECT * EXCLUDE (c) REPLACE (a + 1 AS a) RENAME (d AS e) FROM t;
--> a <- t.a TRANSFORMATION
--> e <- t.d IDENTITY
--> * <- t.* IDENTITY ?
--! APPROXIMATE_LINEAGE

-- case: parts of a text as rows
SELECT id, value FROM t, LATERAL SPLIT_TO_TABLE(t.csv, ',');
--> id <- t.id IDENTITY
--> value <- t.csv TRANSFORMATION
--> * | t.csv JOIN

-- case: parts of a text as a table
SELECT t.id, f.value, f.index FROM t, TABLE(SPLIT_TO_TABLE(t.csv, ',')) f;
--> id <- t.id IDENTITY
--> value <- t.csv TRANSFORMATION
--> index
--> * | t.csv JOIN

-- case: a function of another schema
SELECT db.norm.os(x) AS o FROM t;
--> o <- t.x TRANSFORMATION

-- case: parameters end with their function
CREATE FUNCTION f(cust INT) RETURNS TABLE (n INT) AS $$ SELECT n FROM notes WHERE owner = cust $$;
CREATE FUNCTION g(day DATE) RETURNS TABLE (n INT) AS $$ SELECT max(n) AS n FROM calls WHERE at = day GROUP BY cust $$;
--> n <- notes.n IDENTITY
--> * | notes.owner FILTER
--> n <- calls.n AGGREGATION
--> * | calls.cust GROUP_BY, calls.at FILTER

-- case: the unit of a rounded date is no column
SELECT TRUNC(sold_at, month) AS m, TRUNC(price, d) AS p FROM sales;
--> m <- sales.sold_at TRANSFORMATION
--> p <- sales.price TRANSFORMATION, sales.d TRANSFORMATION
