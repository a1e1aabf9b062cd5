-- schema: c.s.o(items ARRAY(ROW(sku VARCHAR, qty INTEGER)), tags ARRAY(VARCHAR))

-- case: unnest an array of rows
SELECT u.n, u.s FROM c.s.o CROSS JOIN UNNEST(items) AS u (s, n);
--> n <- c.s.o.items[].qty IDENTITY
--> s <- c.s.o.items[].sku IDENTITY
--> * | c.s.o.items JOIN

-- case: unnest rows beside an array
SELECT s, t FROM c.s.o CROSS JOIN UNNEST(items, tags) AS u (s, n, t);
--> s <- c.s.o.items[].sku IDENTITY
--> t <- c.s.o.tags[] IDENTITY
--> * | c.s.o.items JOIN, c.s.o.tags JOIN
