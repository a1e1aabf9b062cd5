-- schema: orders(id, customer_id, amount, status, placed_at, payload JSONB), customers(id, name, email, city, updated_at), items(order_id, sku, qty, price), stock(sku, on_hand, reserved), dim(id, name, email, valid_from, valid_to)

-- case: upsert with excluded, a condition and returning
INSERT INTO stock AS s (sku, on_hand) SELECT sku, SUM(qty) FROM items GROUP BY sku ON CONFLICT (sku) DO UPDATE SET on_hand = s.on_hand + EXCLUDED.on_hand WHERE s.reserved = 0 RETURNING s.sku;
--> stock.sku <- items.sku IDENTITY
--> stock.on_hand <- items.qty AGGREGATION, items.qty AGGREGATION, stock.on_hand TRANSFORMATION
--> stock.* | items.sku GROUP_BY, stock.reserved FILTER

-- case: rows moved by a deleting cte
WITH gone AS (DELETE FROM orders WHERE status = 'old' RETURNING id, amount) INSERT INTO archive (id, amount) SELECT id, amount FROM gone;
--> orders.* | orders.status FILTER
--> archive.id <- orders.id IDENTITY
--> archive.amount <- orders.amount IDENTITY
--> archive.* | orders.status FILTER

-- case: three levels of correlation
SELECT c.name, (SELECT SUM(o.amount) FROM orders o WHERE o.customer_id = c.id AND EXISTS (SELECT 1 FROM items i WHERE i.order_id = o.id AND i.price > (SELECT AVG(p.price) FROM items p WHERE p.sku = i.sku))) AS spent FROM customers c;
--> name <- customers.name IDENTITY
--> spent <- orders.amount AGGREGATION | orders.customer_id FILTER, customers.id FILTER, items.order_id FILTER, orders.id FILTER, items.price FILTER, items.sku FILTER

-- case: lateral top one
SELECT c.id, l.amount FROM customers c CROSS JOIN LATERAL (SELECT o.amount FROM orders o WHERE o.customer_id = c.id ORDER BY o.placed_at DESC LIMIT 1) l;
--> id <- customers.id IDENTITY
--> amount <- orders.amount IDENTITY
--> * | orders.customer_id FILTER, customers.id FILTER, orders.placed_at SORT

-- case: grouping sets with grouping
SELECT city, status, GROUPING(city) AS g, SUM(amount) AS s FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY GROUPING SETS ((city, status), (city), ());
--> city <- customers.city IDENTITY
--> status <- orders.status IDENTITY
--> g <- customers.city TRANSFORMATION
--> s <- orders.amount AGGREGATION
--> * | customers.id JOIN, orders.customer_id JOIN, customers.city GROUP_BY, orders.status GROUP_BY

-- case: filter clause and ordered aggregate
SELECT customer_id, COUNT(*) FILTER (WHERE status = 'open') AS n, STRING_AGG(status, ',' ORDER BY placed_at) AS l FROM orders GROUP BY customer_id;
--> customer_id <- orders.customer_id IDENTITY
--> n | orders.status CONDITIONAL
--> l <- orders.status AGGREGATION | orders.placed_at WINDOW
--> * | orders.customer_id GROUP_BY

-- case: distinct on
SELECT DISTINCT ON (customer_id) customer_id, amount FROM orders ORDER BY customer_id, placed_at DESC;
--> customer_id <- orders.customer_id IDENTITY
--> amount <- orders.amount IDENTITY
--> * | orders.customer_id GROUP_BY, orders.customer_id SORT, orders.placed_at SORT

-- case: json paths
SELECT payload->'ship'->>'city' AS city, payload#>>'{a,b}' AS deep FROM orders;
--> city <- orders.payload.ship.city TRANSFORMATION
--> deep <- orders.payload.a.b TRANSFORMATION

-- case: views over views
CREATE VIEW v1 AS SELECT id, amount * 2 AS dbl FROM orders;
CREATE VIEW v2 (k, m) AS SELECT id, dbl + 1 FROM v1;
SELECT m FROM v2 WHERE k = 1;
--> v1.id <- orders.id IDENTITY
--> v1.dbl <- orders.amount TRANSFORMATION
--> v2.k <- v1.id IDENTITY
--> v2.m <- v1.dbl TRANSFORMATION
--> m <- v2.m IDENTITY
--> * | v2.k FILTER

-- case: rename in the middle of a script
CREATE TABLE stage AS SELECT id, amount FROM orders;
ALTER TABLE stage RENAME COLUMN amount TO total;
ALTER TABLE stage RENAME TO final;
SELECT * FROM final;
--> stage.id <- orders.id IDENTITY
--> stage.amount <- orders.amount IDENTITY
--> stage.total <- stage.amount IDENTITY
--> final.id <- stage.id IDENTITY
--> final.total <- stage.total IDENTITY
--> id <- final.id IDENTITY
--> total <- final.total IDENTITY

-- case: quoted mixed case names are exact, others lower
CREATE TABLE "Mixed" ("Id" int, plain int);
SELECT "Id", PLAIN FROM "Mixed";
--> Id <- Mixed.Id IDENTITY
--> PLAIN <- Mixed.plain IDENTITY

-- case: a quoted column in the wrong case is not there
CREATE TABLE "Mixed" ("Id" int);
SELECT Id FROM "Mixed";
--> Id <- Mixed.Id IDENTITY ?
--! UNKNOWN_COLUMN

-- case: update from with an alias and a join
UPDATE dim d SET email = c.email, valid_to = NULL FROM customers c JOIN orders o ON o.customer_id = c.id WHERE d.id = c.id AND o.amount > 10;
--> dim.email <- customers.email IDENTITY
--> dim.valid_to
--> dim.* | orders.customer_id JOIN, customers.id JOIN, dim.id FILTER, customers.id FILTER, orders.amount FILTER

-- case: window frame and named window
SELECT id, SUM(amount) OVER w AS running, amount - LAG(amount, 1) OVER w AS delta FROM orders WINDOW w AS (PARTITION BY customer_id ORDER BY placed_at ROWS BETWEEN 6 PRECEDING AND CURRENT ROW);
--> id <- orders.id IDENTITY
--> running <- orders.amount AGGREGATION | orders.customer_id WINDOW, orders.placed_at WINDOW
--> delta <- orders.amount TRANSFORMATION | orders.customer_id WINDOW, orders.placed_at WINDOW

-- case: do block with a query into a variable
DO $$
DECLARE m numeric;
BEGIN
  SELECT MAX(amount) INTO m FROM orders;
  UPDATE stock SET reserved = m WHERE sku = 'x';
END $$;
--> m <- orders.amount AGGREGATION
--> stock.reserved <- orders.amount AGGREGATION
--> stock.* | stock.sku FILTER

-- case: for loop over a query
DO $$
DECLARE r record;
BEGIN
  FOR r IN SELECT sku, qty FROM items LOOP
    UPDATE stock SET on_hand = on_hand - r.qty WHERE sku = r.sku;
  END LOOP;
END $$;
--> sku <- items.sku IDENTITY
--> qty <- items.qty IDENTITY
--> stock.on_hand <- stock.on_hand TRANSFORMATION, items.qty TRANSFORMATION
--> stock.* | stock.sku FILTER, items.sku FILTER

-- case: jsonb records
SELECT x.sku, x.n FROM orders, jsonb_to_recordset(payload) AS x(sku text, n int);
--> sku <- orders.payload TRANSFORMATION ?
--> n <- orders.payload TRANSFORMATION ?
--> * | orders.payload JOIN
--! APPROXIMATE_LINEAGE

-- case: values joined
SELECT o.id, m.label FROM orders o JOIN (VALUES ('a', 'Alpha'), ('b', 'Beta')) AS m(code, label) ON m.code = o.status;
--> id <- orders.id IDENTITY
--> label
--> * | orders.status JOIN

-- case: except takes rows away and keeps the left names
SELECT id AS k FROM customers EXCEPT SELECT customer_id FROM orders;
--> k <- customers.id IDENTITY
--> * | customers.id GROUP_BY, orders.customer_id GROUP_BY
