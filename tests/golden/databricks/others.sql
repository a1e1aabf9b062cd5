-- Shapes of scripts that others write.

-- case: merge with schema evolution
MERGE WITH SCHEMA EVOLUTION INTO d USING s ON d.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v;
--> d.v <- s.v IDENTITY
--> d.* | d.id MERGE, s.id MERGE

-- case: a live table with an expectation
CREATE OR REFRESH LIVE TABLE d (CONSTRAINT ok EXPECT (a > 0) ON VIOLATION DROP ROW) AS SELECT a FROM LIVE.s;
--> d.a <- LIVE.s.a IDENTITY
--! APPROXIMATE_LINEAGE

-- case: a streaming table with an expectation
CREATE OR REFRESH STREAMING TABLE d (CONSTRAINT ok EXPECT (a > 0) ON VIOLATION FAIL UPDATE) AS SELECT a FROM STREAM(s);
--> d.a <- s.a IDENTITY
--! APPROXIMATE_LINEAGE

-- case: apply changes
APPLY CHANGES INTO LIVE.d FROM STREAM(LIVE.s) KEYS (id) SEQUENCE BY ts;
--> LIVE.d.* <- LIVE.s.* IDENTITY ?
--! APPROXIMATE_LINEAGE
--! APPROXIMATE_LINEAGE

-- case: the name of a stream stands outside its brackets
CREATE STREAMING TABLE d AS SELECT c.x, e.y FROM STREAM(live.b) c JOIN e ON c.k = e.k;
--> d.x <- live.b.x IDENTITY
--> d.y <- e.y IDENTITY
--> d.* | live.b.k JOIN, e.k JOIN

-- case: the name of a table in brackets
SELECT x.a FROM (t) AS x;
--> a <- t.a IDENTITY

-- case: variables of a client inside names
INSERT OVERWRITE ${catalog}.${stage}_${size}.sales SELECT a, ${batch} AS b FROM raw_${size}.sales;
--> ${catalog}.${stage}_${size}.sales.a <- raw_${size}.sales.a IDENTITY
--> ${catalog}.${stage}_${size}.sales.b
--! UNKNOWN_TABLE
--! UNKNOWN_TABLE

-- case: names that are put together
INSERT INTO IDENTIFIER(:catalog || '.' || :stage || '_x.sales') SELECT a FROM IDENTIFIER(:catalog || '.raw.sales');
--> ${catalog}.${stage}_x.sales.a <- ${catalog}.raw.sales.a IDENTITY
--! UNKNOWN_TABLE
--! UNKNOWN_TABLE

-- case: a flow that runs once
INSERT INTO ONCE sales BY NAME SELECT id, price FROM old_sales;
--> sales.id <- old_sales.id IDENTITY
--> sales.price <- old_sales.price IDENTITY

-- case: the unit of a difference of times is no column
SELECT TIMEDIFF(HOUR, began, ended) AS h FROM visits;
--> h <- visits.began TRANSFORMATION, visits.ended TRANSFORMATION
