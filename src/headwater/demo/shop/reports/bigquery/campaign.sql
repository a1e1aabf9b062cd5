-- Marketing looks at what sells to whom, in BigQuery.
DECLARE since DATE DEFAULT DATE '2026-03-01';

CREATE TEMP TABLE recent AS
SELECT customer_id, sku, SUM(amount) AS spent FROM silver.lines WHERE day >= since GROUP BY 1, 2;

CREATE OR REPLACE TABLE marketing.favourites AS
SELECT c.email_hash, c.country, ARRAY_AGG(r.sku ORDER BY r.spent DESC LIMIT 3) AS skus, SUM(r.spent) AS spent
FROM recent AS r
JOIN silver.customers AS c ON c.customer_id = r.customer_id
GROUP BY 1, 2;
