-- schema: orders(id, cust_id, amount, status, placed), customers(id, name, city), fact(id, total, city), emp(id, boss, name)

-- case: select into a variable
DECLARE
  v_max NUMBER;
BEGIN
  SELECT MAX(amount) INTO v_max FROM orders;
  UPDATE fact SET total = v_max WHERE id = 1;
END;
--> v_max <- orders.amount AGGREGATION
--> fact.total <- orders.amount AGGREGATION
--> fact.* | fact.id FILTER

-- case: cursor for loop
BEGIN
  FOR r IN (SELECT id, amount FROM orders WHERE status = 'n') LOOP
    INSERT INTO fact (id, total) VALUES (r.id, r.amount);
  END LOOP;
END;
--> id <- orders.id IDENTITY
--> amount <- orders.amount IDENTITY
--> * | orders.status FILTER
--> fact.id <- orders.id IDENTITY | orders.status FILTER
--> fact.total <- orders.amount IDENTITY | orders.status FILTER

-- case: a procedure with parameters
CREATE OR REPLACE PROCEDURE load_fact (p_id IN NUMBER) IS
  v_n NUMBER;
BEGIN
  DELETE FROM fact WHERE id = p_id;
  INSERT INTO fact (id, total) SELECT id, amount FROM orders WHERE id = p_id;
END;
--> fact.* | fact.id FILTER
--> fact.id <- orders.id IDENTITY
--> fact.total <- orders.amount IDENTITY
--> fact.* | orders.id FILTER

-- case: connect by with prior and a root
SELECT id, CONNECT_BY_ROOT name AS top, LEVEL AS l FROM emp START WITH boss IS NULL CONNECT BY PRIOR id = boss;
--> id <- emp.id IDENTITY
--> top <- emp.name TRANSFORMATION
--> l
--> * | emp.boss FILTER, emp.id FILTER

-- case: outer join by plus
SELECT o.id, c.name FROM orders o, customers c WHERE o.cust_id = c.id (+);
--> id <- orders.id IDENTITY
--> name <- customers.name IDENTITY
--> * | orders.cust_id FILTER, customers.id FILTER

-- case: keep dense rank
SELECT cust_id, MAX(amount) KEEP (DENSE_RANK LAST ORDER BY placed) AS latest FROM orders GROUP BY cust_id;
--> cust_id <- orders.cust_id IDENTITY
--> latest <- orders.amount AGGREGATION | orders.placed WINDOW
--> * | orders.cust_id GROUP_BY

-- case: insert all
INSERT ALL INTO fact (id, total) VALUES (id, amount) INTO customers (id) VALUES (cust_id) SELECT id, cust_id, amount FROM orders;
--> fact.id <- orders.id IDENTITY
--> fact.total <- orders.amount IDENTITY
--> customers.id <- orders.cust_id IDENTITY

-- case: correlated update of two columns
UPDATE fact f SET (total, city) = (SELECT o.amount, c.city FROM orders o JOIN customers c ON c.id = o.cust_id WHERE o.id = f.id) WHERE EXISTS (SELECT 1 FROM orders x WHERE x.id = f.id);
--> fact.total <- orders.amount IDENTITY | customers.id JOIN, orders.cust_id JOIN, orders.id FILTER, fact.id FILTER
--> fact.city <- customers.city IDENTITY | customers.id JOIN, orders.cust_id JOIN, orders.id FILTER, fact.id FILTER
--> fact.* | orders.id FILTER, fact.id FILTER

-- case: decode and nvl2
SELECT DECODE(status, 'a', amount, 0) AS d, NVL2(placed, id, cust_id) AS n FROM orders;
--> d <- orders.amount TRANSFORMATION | orders.status CONDITIONAL
--> n <- orders.id TRANSFORMATION, orders.cust_id TRANSFORMATION | orders.placed CONDITIONAL

-- case: rownum paging
SELECT id FROM (SELECT id, ROWNUM rn FROM (SELECT id FROM orders ORDER BY placed) WHERE ROWNUM <= 20) WHERE rn > 10;
--> id <- orders.id IDENTITY
--> * | orders.placed SORT
