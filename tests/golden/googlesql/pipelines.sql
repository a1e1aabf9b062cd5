-- schema: ds.orders(id INT64, customer STRUCT<id INT64, name STRING, address STRUCT<city STRING>>, items ARRAY<STRUCT<sku STRING, qty INT64, tags ARRAY<STRING>>>, ts TIMESTAMP, total NUMERIC), ds.customers(id INT64, name STRING), ds.sales(product STRING, quarter STRING, amount INT64)

-- case: nested unnest with offset
SELECT o.id, i.sku, t AS tag, off FROM ds.orders o, UNNEST(o.items) i WITH OFFSET off, UNNEST(i.tags) t;
--> id <- ds.orders.id IDENTITY
--> sku <- ds.orders.items[].sku IDENTITY
--> tag <- ds.orders.items[].tags[] IDENTITY
--> off
--> * | ds.orders.items[].tags JOIN, ds.orders.items JOIN

-- case: array of structs rebuilt
SELECT id, ARRAY(SELECT AS STRUCT i.sku, i.qty * 2 AS q FROM UNNEST(items) i WHERE i.qty > 0) AS items2 FROM ds.orders;
--> id <- ds.orders.id IDENTITY
--> items2[] | ds.orders.items[].qty FILTER, ds.orders.items JOIN
--> items2[].sku <- ds.orders.items[].sku IDENTITY
--> items2[].q <- ds.orders.items[].qty TRANSFORMATION

-- case: dedupe by array_agg
SELECT latest.* FROM (SELECT ARRAY_AGG(o ORDER BY ts DESC LIMIT 1)[OFFSET(0)] AS latest FROM ds.orders o GROUP BY id);
--> id <- ds.orders.id AGGREGATION | ds.orders.ts WINDOW
--> customer <- ds.orders.customer AGGREGATION | ds.orders.ts WINDOW
--> items <- ds.orders.items AGGREGATION | ds.orders.ts WINDOW
--> ts <- ds.orders.ts AGGREGATION | ds.orders.ts WINDOW
--> total <- ds.orders.total AGGREGATION | ds.orders.ts WINDOW
--> * | ds.orders.id GROUP_BY

-- case: a loop over a query
FOR r IN (SELECT id, total FROM ds.orders WHERE total > 1) DO
  INSERT INTO ds.customers (id, name) VALUES (r.id, CAST(r.total AS STRING));
END FOR;
--> id <- ds.orders.id IDENTITY
--> total <- ds.orders.total IDENTITY
--> * | ds.orders.total FILTER
--> ds.customers.id <- ds.orders.id IDENTITY | ds.orders.total FILTER
--> ds.customers.name <- ds.orders.total TRANSFORMATION | ds.orders.total FILTER

-- case: declare, set and if that read tables
DECLARE n INT64 DEFAULT 0;
SET n = (SELECT COUNT(*) FROM ds.orders WHERE total > 1);
IF n > 1 THEN
  INSERT INTO ds.customers (id) SELECT customer.id FROM ds.orders;
END IF;
--> n | ds.orders.total FILTER
--> condition | ds.orders.total FILTER
--> ds.customers.id <- ds.orders.customer.id IDENTITY

-- case: pivot in a cte
WITH p AS (SELECT * FROM ds.sales PIVOT (SUM(amount) AS s FOR quarter IN ('Q1', 'Q2'))) SELECT product, s_Q1 + s_Q2 AS half FROM p;
--> product <- ds.sales.product IDENTITY
--> half <- ds.sales.amount AGGREGATION | ds.sales.quarter CONDITIONAL
--> * | ds.sales.product GROUP_BY

-- case: merge with insert row
MERGE ds.customers t USING (SELECT customer.id AS id, customer.name AS name FROM ds.orders) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT ROW WHEN MATCHED THEN UPDATE SET name = s.name;
--> ds.customers.id <- ds.orders.customer.id IDENTITY
--> ds.customers.name <- ds.orders.customer.name IDENTITY
--> ds.customers.* | ds.customers.id MERGE, ds.orders.customer.id MERGE

-- case: struct by position through a union
SELECT s.a FROM (SELECT STRUCT(id AS a, name AS b) AS s FROM ds.customers UNION ALL SELECT STRUCT(customer.id, customer.name) FROM ds.orders);
--> a <- ds.customers.id IDENTITY, ds.orders.customer.id IDENTITY

-- case: star replace over a join using
SELECT * EXCEPT (ts) REPLACE (total * 2 AS total) FROM (SELECT id, ts, total FROM ds.orders);
--> id <- ds.orders.id IDENTITY
--> total <- ds.orders.total TRANSFORMATION

-- case: a table function of the script
CREATE TABLE FUNCTION ds.big(m NUMERIC) AS SELECT id, total FROM ds.orders WHERE total > m;
SELECT id, total * 2 AS t2 FROM ds.big(10);
--> id <- ds.orders.id IDENTITY
--> t2 <- ds.orders.total TRANSFORMATION
--> * | ds.orders.total FILTER

-- case: qualify without partition
SELECT id FROM ds.orders WHERE TRUE QUALIFY RANK() OVER (ORDER BY total DESC) <= 3;
--> id <- ds.orders.id IDENTITY
--> * | ds.orders.total FILTER

-- case: window frame over a nested field
SELECT id, SUM(total) OVER (PARTITION BY customer.address.city ORDER BY ts RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS r FROM ds.orders;
--> id <- ds.orders.id IDENTITY
--> r <- ds.orders.total AGGREGATION | ds.orders.customer.address.city WINDOW, ds.orders.ts WINDOW
