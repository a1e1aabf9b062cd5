-- schema: stage.orders(id, amount, ts), mart.orders(id, amount, loaded), mart.users(id, name)

-- case: copy with columns
COPY stage.orders (id, amount) FROM 's3://bucket/orders/' IAM_ROLE 'arn' FORMAT AS PARQUET;
--> stage.orders.id <- s3://bucket/orders.* IDENTITY ?
--> stage.orders.amount <- s3://bucket/orders.* IDENTITY ?

-- case: delete and insert from a stage
BEGIN;
DELETE FROM mart.orders USING stage.orders s WHERE mart.orders.id = s.id;
INSERT INTO mart.orders SELECT id, amount, GETDATE() FROM stage.orders;
END;
--> mart.orders.* | mart.orders.id FILTER, stage.orders.id FILTER
--> mart.orders.id <- stage.orders.id IDENTITY
--> mart.orders.amount <- stage.orders.amount IDENTITY
--> mart.orders.loaded

-- case: unload of a join
UNLOAD ($$SELECT o.id, u.name FROM mart.orders o JOIN mart.users u ON u.id = o.id$$) TO 's3://out/x_' IAM_ROLE 'arn' PARQUET;
--> s3://out/x_.id <- mart.orders.id IDENTITY
--> s3://out/x_.name <- mart.users.name IDENTITY
--> s3://out/x_.* | mart.users.id JOIN, mart.orders.id JOIN

-- case: qualify and listagg
SELECT id, LISTAGG(amount, ',') WITHIN GROUP (ORDER BY ts) OVER (PARTITION BY id) AS l FROM stage.orders QUALIFY ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts) = 1;
--> id <- stage.orders.id IDENTITY
--> l <- stage.orders.amount AGGREGATION | stage.orders.ts WINDOW, stage.orders.id WINDOW
--> * | stage.orders.id FILTER, stage.orders.ts FILTER

-- case: append moves rows by the names of columns
ALTER TABLE mart.orders APPEND FROM stage.orders IGNOREEXTRA;
--> mart.orders.id <- stage.orders.id IDENTITY
--> mart.orders.amount <- stage.orders.amount IDENTITY
