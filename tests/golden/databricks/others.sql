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
