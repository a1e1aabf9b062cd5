-- schema: orders(id, cust, amount, ts), monthly(emp, jan, feb)

-- case: unpivot statement
UNPIVOT monthly ON jan, feb INTO NAME month VALUE sales;
--> emp <- monthly.emp IDENTITY
--> month
--> sales <- monthly.jan IDENTITY, monthly.feb IDENTITY
--> * | monthly.jan FILTER, monthly.feb FILTER

-- case: struct pack and list comprehension
SELECT {'a': id, 'b': amount} AS s, [x + 1 FOR x IN [id, amount]] AS l FROM orders;
--> s.a <- orders.id IDENTITY
--> s.b <- orders.amount IDENTITY
--> l <- orders.id TRANSFORMATION, orders.amount TRANSFORMATION

-- case: union by name with different columns
SELECT id, amount FROM orders UNION ALL BY NAME SELECT cust, id FROM orders;
--> id <- orders.id IDENTITY
--> amount <- orders.amount IDENTITY
--> cust <- orders.cust IDENTITY

-- case: asof join
SELECT o.id, p.amount FROM orders o ASOF JOIN orders p ON o.cust = p.cust AND o.ts >= p.ts;
--> id <- orders.id IDENTITY
--> amount <- orders.amount IDENTITY
--> * | orders.cust JOIN, orders.ts JOIN

-- case: insert or replace by name
INSERT OR REPLACE INTO orders BY NAME SELECT 1 AS amount, emp AS id FROM monthly;
--> orders.amount
--> orders.id <- monthly.emp IDENTITY

-- case: copy a query to a file
COPY (SELECT id, amount FROM orders) TO 'out.parquet' (FORMAT parquet);
--> out.parquet.id <- orders.id IDENTITY
--> out.parquet.amount <- orders.amount IDENTITY

-- case: columns by a pattern
SELECT COLUMNS('^j|^f') FROM monthly;
--> jan <- monthly.jan IDENTITY
--> feb <- monthly.feb IDENTITY

-- case: an aggregate of columns
SELECT max(COLUMNS(* EXCLUDE (emp))) FROM monthly;
--> jan <- monthly.jan AGGREGATION
--> feb <- monthly.feb AGGREGATION
