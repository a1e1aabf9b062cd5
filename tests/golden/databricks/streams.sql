-- Streaming tables, materialized views, flows.
-- schema: src(a, b)

-- case: streaming tables and materialized views
CREATE OR REFRESH STREAMING TABLE st SCHEDULE EVERY 1 HOUR AS SELECT a FROM STREAM(src);
CREATE OR REFRESH PRIVATE MATERIALIZED VIEW mv AS SELECT a FROM st;
CREATE OR REPLACE MATERIALIZED VIEW mv2 (k COMMENT 'x') SCHEDULE CRON '0 0 * * * ?' AT TIME ZONE 'UTC' AS SELECT a FROM STREAM src;
--> st.a <- src.a IDENTITY
--> mv.a <- st.a IDENTITY
--> mv2.k <- src.a IDENTITY

-- case: a flow
CREATE STREAMING TABLE st;
CREATE FLOW f AS INSERT INTO st BY NAME SELECT * FROM STREAM(src);
--> st.a <- src.a IDENTITY
--> st.b <- src.b IDENTITY
