-- schema: h.w.orders(id, cust ROW(id BIGINT, addr ROW(city VARCHAR)), items ARRAY(ROW(sku VARCHAR, qty INTEGER)), ts, total), h.w.users(id, name)

-- case: row fields
SELECT cust.addr.city AS city, cust.id FROM h.w.orders;
--> city <- h.w.orders.cust.addr.city IDENTITY
--> id <- h.w.orders.cust.id IDENTITY

-- case: reduce and transform
SELECT reduce(items, 0, (s, x) -> s + x.qty, s -> s) AS n, transform(items, x -> x.sku) AS skus FROM h.w.orders;
--> n <- h.w.orders.items[].qty TRANSFORMATION
--> skus <- h.w.orders.items[].sku TRANSFORMATION

-- case: max_by and filter
SELECT cust.id AS c, max_by(total, ts) AS last, sum(total) FILTER (WHERE id > 1) AS s FROM h.w.orders GROUP BY 1;
--> c <- h.w.orders.cust.id IDENTITY
--> last <- h.w.orders.total AGGREGATION | h.w.orders.ts CONDITIONAL
--> s <- h.w.orders.total AGGREGATION | h.w.orders.id CONDITIONAL
--> * | h.w.orders.cust.id GROUP_BY

-- case: recursive with a column list
WITH RECURSIVE n (k, d) AS (SELECT id, 1 FROM h.w.users UNION ALL SELECT k + 1, d + 1 FROM n WHERE d < 5) SELECT k, d FROM n;
--> k <- h.w.users.id TRANSFORMATION
--> d

-- case: intersect with other names
SELECT id AS a FROM h.w.orders INTERSECT SELECT id AS b FROM h.w.users;
--> a <- h.w.orders.id IDENTITY, h.w.users.id IDENTITY
--> * | h.w.orders.id GROUP_BY, h.w.users.id GROUP_BY

-- case: a row made and read
SELECT r.a, r.b FROM (SELECT CAST(ROW(id, total) AS ROW(a BIGINT, b DOUBLE)) AS r FROM h.w.orders);
--> a <- h.w.orders.id TRANSFORMATION
--> b <- h.w.orders.total TRANSFORMATION
