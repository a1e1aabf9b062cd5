-- schema: orders(id, cust_id, amount, status), customers(id, name, total, city), audit(id, old_total, new_total)

-- case: update of two tables
UPDATE customers c JOIN orders o ON o.cust_id = c.id SET c.total = c.total + o.amount, o.status = 'done' WHERE o.status = 'new';
--> customers.total <- customers.total TRANSFORMATION, orders.amount TRANSFORMATION
--> customers.* | orders.cust_id JOIN, customers.id JOIN, orders.status FILTER
--> orders.status
--> orders.* | orders.cust_id JOIN, customers.id JOIN, orders.status FILTER

-- case: update with a derived table
UPDATE customers c JOIN (SELECT cust_id, SUM(amount) AS s FROM orders GROUP BY cust_id) x ON x.cust_id = c.id SET c.total = x.s;
--> customers.total <- orders.amount AGGREGATION
--> customers.* | orders.cust_id JOIN, customers.id JOIN, orders.cust_id GROUP_BY

-- case: upsert with values and a row alias
INSERT INTO customers (id, total) SELECT cust_id, amount FROM orders ON DUPLICATE KEY UPDATE total = total + VALUES(total);
--> customers.id <- orders.cust_id IDENTITY
--> customers.total <- orders.amount IDENTITY, orders.amount TRANSFORMATION, customers.total TRANSFORMATION

-- case: upsert of constants with a row alias
INSERT INTO customers (id, total) VALUES (1, 2) AS n ON DUPLICATE KEY UPDATE total = n.total + customers.total;
--> customers.id
--> customers.total <- customers.total TRANSFORMATION

-- case: delete from two tables
DELETE o, c FROM orders o JOIN customers c ON c.id = o.cust_id WHERE c.city = 'x';
--> orders.* | customers.id JOIN, orders.cust_id JOIN, customers.city FILTER
--> customers.* | customers.id JOIN, orders.cust_id JOIN, customers.city FILTER

-- case: insert set
INSERT INTO audit SET id = 1, old_total = (SELECT MAX(total) FROM customers);
--> audit.id
--> audit.old_total <- customers.total AGGREGATION

-- case: select into variables
SELECT MAX(amount) INTO @m FROM orders;
UPDATE customers SET total = @m;
--> m <- orders.amount AGGREGATION
--> customers.total <- orders.amount AGGREGATION

-- case: backticks, and columns without case
SELECT `ID`, Amount FROM orders;
--> ID <- orders.id IDENTITY
--> Amount <- orders.amount IDENTITY

-- case: group_concat ordered
SELECT cust_id, GROUP_CONCAT(DISTINCT status ORDER BY id SEPARATOR ';') AS s FROM orders GROUP BY cust_id WITH ROLLUP;
--> cust_id <- orders.cust_id IDENTITY
--> s <- orders.status AGGREGATION | orders.id WINDOW
--> * | orders.cust_id GROUP_BY

-- case: json table
SELECT o.id, j.sku FROM orders o, JSON_TABLE(o.status, '$[*]' COLUMNS (sku VARCHAR(10) PATH '$.sku')) j;
--> id <- orders.id IDENTITY
--> sku <- orders.status[].sku TRANSFORMATION
--> * | orders.status JOIN
