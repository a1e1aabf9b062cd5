CREATE TABLE mart.revenue AS
WITH daily AS (
  SELECT day, customer_id, SUM(amount_eur) AS revenue FROM staging.lines GROUP BY day, customer_id
)
SELECT d.day, c.country, SUM(d.revenue) AS revenue, COUNT(DISTINCT c.email_hash) AS buyers
FROM daily d
JOIN staging.customers c USING (customer_id)
GROUP BY d.day, c.country;

MERGE INTO mart.best_sellers t
USING (SELECT sku, SUM(amount_eur) AS revenue FROM staging.lines GROUP BY sku) s
ON t.sku = s.sku
WHEN MATCHED THEN UPDATE SET revenue = s.revenue
WHEN NOT MATCHED THEN INSERT (sku, revenue) VALUES (s.sku, s.revenue);
