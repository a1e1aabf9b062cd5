-- GoogleSQL: read by the real ZetaSQL analyzer. Nested columns, variables and temporary tables keep their lineage.
CREATE TABLE web.events (visitor STRING, at TIMESTAMP, page STRUCT<path STRING, title STRING>, items ARRAY<STRUCT<sku STRING, price NUMERIC>>);

DECLARE since TIMESTAMP DEFAULT (SELECT TIMESTAMP_SUB(MAX(at), INTERVAL 30 DAY) FROM web.events);

CREATE TEMP TABLE recent AS
SELECT visitor, page.path AS landing, items FROM web.events WHERE at > since;

CREATE TABLE web.interest AS
SELECT r.visitor, item.sku, SUM(item.price) AS seen_value, ANY_VALUE(r.landing) AS landing
FROM recent AS r, UNNEST(r.items) AS item
GROUP BY 1, 2;
