-- schema: RAW.EVENTS(ID, PAYLOAD VARIANT, LOADED_AT), ORDERS(ID, CUSTOMER_ID, AMOUNT, STATUS, TS), CUSTOMERS(ID, NAME, CITY), DIM(ID, NAME, CITY), MONTHLY(EMP, JAN, FEB, MAR)

-- case: variant paths with casts and brackets
SELECT payload:user.address['city']::string AS city, payload:items[0].sku::string AS sku, id FROM raw.events;
--> city <- RAW.EVENTS.PAYLOAD.user.address.city TRANSFORMATION
--> sku <- RAW.EVENTS.PAYLOAD.items[].sku TRANSFORMATION
--> id <- RAW.EVENTS.ID IDENTITY

-- case: flatten with keys
SELECT e.id, f.key AS k, f.value::number AS v FROM raw.events e, LATERAL FLATTEN(input => e.payload:attrs) f WHERE f.key <> 'x';
--> id <- RAW.EVENTS.ID IDENTITY
--> k <- RAW.EVENTS.PAYLOAD.attrs TRANSFORMATION
--> v <- RAW.EVENTS.PAYLOAD.attrs[] TRANSFORMATION
--> * | RAW.EVENTS.PAYLOAD.attrs FILTER, RAW.EVENTS.PAYLOAD.attrs JOIN

-- case: qualify keeps the newest
CREATE OR REPLACE TABLE latest AS SELECT id, status FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts DESC) = 1;
--> latest.id <- ORDERS.ID IDENTITY
--> latest.status <- ORDERS.STATUS IDENTITY
--> latest.* | ORDERS.ID FILTER, ORDERS.TS FILTER

-- case: copy into a stage
COPY INTO @out/daily FROM (SELECT id, amount FROM orders WHERE status = 'done') FILE_FORMAT = (TYPE = PARQUET);
--> @out/daily.id <- ORDERS.ID IDENTITY
--> @out/daily.amount <- ORDERS.AMOUNT IDENTITY
--> @out/daily.* | ORDERS.STATUS FILTER

-- case: swap in the middle
CREATE TABLE a1 AS SELECT id FROM orders;
CREATE TABLE b1 AS SELECT name FROM customers;
ALTER TABLE a1 SWAP WITH b1;
SELECT * FROM a1;
--> a1.id <- ORDERS.ID IDENTITY
--> b1.name <- CUSTOMERS.NAME IDENTITY
--> b1.id <- a1.id IDENTITY
--> a1.name <- b1.name IDENTITY
--> name <- a1.name IDENTITY

-- case: aliases used beside
SELECT amount * 2 AS dbl, dbl + 1 AS more FROM orders WHERE dbl > 3;
--> dbl <- ORDERS.AMOUNT TRANSFORMATION
--> more <- ORDERS.AMOUNT TRANSFORMATION
--> * | ORDERS.AMOUNT FILTER

-- case: unpivot months
SELECT emp, month, sales FROM monthly UNPIVOT (sales FOR month IN (jan, feb, mar));
--> emp <- MONTHLY.EMP IDENTITY
--> month
--> sales <- MONTHLY.JAN IDENTITY, MONTHLY.FEB IDENTITY, MONTHLY.MAR IDENTITY
--> * | MONTHLY.JAN FILTER, MONTHLY.FEB FILTER, MONTHLY.MAR FILTER

-- case: quoted names are exact, others upper
CREATE TABLE q ("lower" INT, Upper INT);
SELECT "lower", upper FROM q;
--> lower <- q.lower IDENTITY
--> upper <- q.Upper IDENTITY

-- case: unquoted does not find a quoted lower name
CREATE TABLE q ("lower" INT);
SELECT lower FROM q;
--> lower <- q.lower IDENTITY ?
--! UNKNOWN_COLUMN

-- case: insert all with conditions
INSERT ALL WHEN amount > 10 THEN INTO dim (id, name) VALUES (id, status) ELSE INTO customers (id) VALUES (customer_id) SELECT id, customer_id, amount, status FROM orders;
--> DIM.ID <- ORDERS.ID IDENTITY
--> DIM.NAME <- ORDERS.STATUS IDENTITY
--> DIM.* | ORDERS.AMOUNT FILTER
--> CUSTOMERS.ID <- ORDERS.CUSTOMER_ID IDENTITY
--> CUSTOMERS.* | ORDERS.AMOUNT FILTER

-- case: scripting block
EXECUTE IMMEDIATE $$
DECLARE
  top NUMBER;
BEGIN
  SELECT MAX(amount) INTO :top FROM orders;
  INSERT INTO dim (id) SELECT id FROM customers WHERE id < :top;
  RETURN 1;
END;
$$;
--> top <- ORDERS.AMOUNT AGGREGATION
--> DIM.ID <- CUSTOMERS.ID IDENTITY
--> DIM.* | CUSTOMERS.ID FILTER, ORDERS.AMOUNT FILTER

-- case: dynamic table
CREATE DYNAMIC TABLE dyn TARGET_LAG = '1 minute' WAREHOUSE = w AS SELECT c.city, SUM(o.amount) AS s FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY ALL;
--> dyn.city <- CUSTOMERS.CITY IDENTITY
--> dyn.s <- ORDERS.AMOUNT AGGREGATION
--> dyn.* | CUSTOMERS.ID JOIN, ORDERS.CUSTOMER_ID JOIN, CUSTOMERS.CITY GROUP_BY

-- case: match of an object aggregate
SELECT city, OBJECT_AGG(name, id) AS o FROM customers GROUP BY 1;
--> city <- CUSTOMERS.CITY IDENTITY
--> o <- CUSTOMERS.NAME AGGREGATION, CUSTOMERS.ID AGGREGATION
--> * | CUSTOMERS.CITY GROUP_BY

-- case: merge from a stream
CREATE STREAM s ON TABLE customers;
MERGE INTO dim d USING s ON d.id = s.id WHEN MATCHED AND s.METADATA$ACTION = 'DELETE' THEN DELETE WHEN MATCHED THEN UPDATE SET d.name = s.name WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, s.name);
--> s.ID <- CUSTOMERS.ID IDENTITY
--> s.NAME <- CUSTOMERS.NAME IDENTITY
--> s.CITY <- CUSTOMERS.CITY IDENTITY
--> s.METADATA$ACTION
--> s.METADATA$ISUPDATE
--> s.METADATA$ROW_ID
--> DIM.NAME <- s.NAME IDENTITY
--> DIM.ID <- s.ID IDENTITY
--> DIM.* | DIM.ID MERGE, s.ID MERGE, s.METADATA$ACTION MERGE

-- case: copy from a stage with a query
COPY INTO orders (id, amount) FROM (SELECT $1, $2::number FROM @landing/orders/ (FILE_FORMAT => 'csv') t);
--> ORDERS.ID <- @landing/orders.$1 IDENTITY
--> ORDERS.AMOUNT <- @landing/orders.$2 TRANSFORMATION
