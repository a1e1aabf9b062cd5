-- schema: dbo.orders(id, customer_id, amount, status, placed), dbo.customers(id, name, city), dbo.fact(id, total, city, loaded)

-- case: a procedure with a temp table chain
CREATE PROCEDURE dbo.load_fact @since date AS
BEGIN
  SET NOCOUNT ON;
  SELECT o.id, SUM(o.amount) AS total, o.customer_id INTO #agg FROM dbo.orders o WHERE o.placed >= @since GROUP BY o.id, o.customer_id;
  INSERT INTO dbo.fact (id, total, city) SELECT a.id, a.total, c.city FROM #agg a LEFT JOIN dbo.customers c ON c.id = a.customer_id;
  DROP TABLE #agg;
END
--> #agg.id <- dbo.orders.id IDENTITY
--> #agg.total <- dbo.orders.amount AGGREGATION
--> #agg.customer_id <- dbo.orders.customer_id IDENTITY
--> #agg.* | dbo.orders.placed FILTER, dbo.orders.id GROUP_BY, dbo.orders.customer_id GROUP_BY
--> dbo.fact.id <- #agg.id IDENTITY
--> dbo.fact.total <- #agg.total IDENTITY
--> dbo.fact.city <- dbo.customers.city IDENTITY
--> dbo.fact.* | dbo.customers.id JOIN, #agg.customer_id JOIN

-- case: merge with output
MERGE dbo.fact AS t USING dbo.orders AS s ON t.id = s.id WHEN MATCHED AND s.status = 'x' THEN DELETE WHEN MATCHED THEN UPDATE SET t.total = s.amount WHEN NOT MATCHED BY TARGET THEN INSERT (id, total) VALUES (s.id, s.amount) WHEN NOT MATCHED BY SOURCE THEN UPDATE SET t.loaded = 0 OUTPUT inserted.id;
--> dbo.fact.total <- dbo.orders.amount IDENTITY
--> dbo.fact.id <- dbo.orders.id IDENTITY
--> dbo.fact.loaded
--> dbo.fact.* | dbo.fact.id MERGE, dbo.orders.id MERGE, dbo.orders.status MERGE

-- case: update through an alias
UPDATE f SET f.city = c.city FROM dbo.fact f INNER JOIN dbo.customers c ON c.id = f.id;
--> dbo.fact.city <- dbo.customers.city IDENTITY
--> dbo.fact.* | dbo.customers.id JOIN, dbo.fact.id JOIN

-- case: cross apply
SELECT c.name, x.amount FROM dbo.customers c CROSS APPLY (SELECT TOP 1 o.amount FROM dbo.orders o WHERE o.customer_id = c.id ORDER BY o.placed DESC) x;
--> name <- dbo.customers.name IDENTITY
--> amount <- dbo.orders.amount IDENTITY
--> * | dbo.orders.customer_id FILTER, dbo.customers.id FILTER, dbo.orders.placed SORT

-- case: variables read by select
DECLARE @m int;
SELECT @m = MAX(amount) FROM dbo.orders;
INSERT INTO dbo.fact (total) VALUES (@m);
--> m <- dbo.orders.amount AGGREGATION
--> dbo.fact.total <- dbo.orders.amount AGGREGATION

-- case: bracketed names in another case
SELECT [ID], [Total] FROM [dbo].[FACT];
--> ID <- dbo.fact.id IDENTITY
--> Total <- dbo.fact.total IDENTITY

-- case: pivot of statuses
SELECT customer_id, [open], [done] FROM (SELECT customer_id, status, amount FROM dbo.orders) s PIVOT (SUM(amount) FOR status IN ([open], [done])) p;
--> customer_id <- dbo.orders.customer_id IDENTITY
--> open <- dbo.orders.amount AGGREGATION | dbo.orders.status CONDITIONAL
--> done <- dbo.orders.amount AGGREGATION | dbo.orders.status CONDITIONAL
--> * | dbo.orders.customer_id GROUP_BY

-- case: delete with a join
DELETE f FROM dbo.fact f JOIN dbo.orders o ON o.id = f.id WHERE o.status = 'void';
--> dbo.fact.* | dbo.orders.id JOIN, dbo.fact.id JOIN, dbo.orders.status FILTER

-- case: string_agg within group and iif
SELECT STRING_AGG(name, ',') WITHIN GROUP (ORDER BY id) AS l, MAX(IIF(city = 'x', name, NULL)) AS m FROM dbo.customers;
--> l <- dbo.customers.name AGGREGATION | dbo.customers.id WINDOW
--> m <- dbo.customers.name AGGREGATION | dbo.customers.city CONDITIONAL

-- case: recursive cte without the word
WITH r AS (SELECT id, customer_id AS boss FROM dbo.orders WHERE customer_id IS NULL UNION ALL SELECT o.id, r.id FROM dbo.orders o JOIN r ON r.id = o.customer_id) SELECT id, boss FROM r;
--> id <- dbo.orders.id IDENTITY
--> boss <- dbo.orders.customer_id IDENTITY, dbo.orders.id IDENTITY
--> * | dbo.orders.customer_id FILTER, dbo.orders.id JOIN, dbo.orders.customer_id JOIN

-- case: table variable
DECLARE @t TABLE (id int, total money);
INSERT INTO @t (id, total) SELECT id, amount FROM dbo.orders;
INSERT INTO dbo.fact (id, total) SELECT id, total FROM @t;
--> @t.id <- dbo.orders.id IDENTITY
--> @t.total <- dbo.orders.amount IDENTITY
--> dbo.fact.id <- @t.id IDENTITY
--> dbo.fact.total <- @t.total IDENTITY
