-- What the board sees: read from the tables that the nightly job makes.
CREATE OR REPLACE VIEW report.country_month AS
SELECT country, DATE_TRUNC('month', day) AS month, SUM(revenue) AS revenue, MAX(buyers) AS most_buyers
FROM gold.revenue
GROUP BY 1, 2;

CREATE OR REPLACE TABLE report.ranking AS
SELECT country, month, revenue, RANK() OVER (PARTITION BY month ORDER BY revenue DESC) AS place
FROM report.country_month;
