-- GoogleSQL, read by the real ZetaSQL analyzer: nested columns, variables and temporary tables keep their lineage.
DECLARE since TIMESTAMP DEFAULT (SELECT TIMESTAMP_SUB(MAX(seen_at), INTERVAL 30 DAY) FROM web.events);

CREATE TEMP TABLE recent AS
SELECT visitor, page.path AS landing, items, seen_at > since AS is_new FROM web.events;

CREATE TABLE web.interest AS
SELECT r.visitor, item.sku, SUM(item.price) AS seen_value, ANY_VALUE(r.landing) AS landing, LOGICAL_OR(is_new) AS is_new
FROM recent AS r, UNNEST(r.items) AS item
GROUP BY 1, 2;
