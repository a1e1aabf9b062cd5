-- schema: t(a INT64, b INT64), ds.orders(id INT64, cid INT64, amount NUMERIC, items ARRAY<STRUCT<sku STRING, qty INT64>>), proj.ds.cust(id INT64, name STRING, addr STRUCT<city STRING, zip STRING>), my-proj.ds.dashed(k INT64), ds.events_20240101(id INT64, name STRING), ds.events_20240102(id INT64, name STRING, extra STRING)

-- case: dotted name
SELECT id FROM ds.orders;
--> id <- ds.orders.id IDENTITY

-- case: one pair of backticks
SELECT id FROM `ds.orders`;
--> id <- ds.orders.id IDENTITY

-- case: backticks around each part
SELECT id FROM `ds`.`orders`;
--> id <- ds.orders.id IDENTITY

-- case: the same table in two spellings
SELECT x.id, y.cid FROM ds.orders AS x JOIN `ds.orders` AS y USING (id);
--> id <- ds.orders.id IDENTITY
--> cid <- ds.orders.cid IDENTITY
--> * | ds.orders.id JOIN

-- case: project, dataset, table
SELECT name, addr.city FROM proj.ds.cust UNION ALL SELECT name, addr.zip FROM `proj.ds.cust`;
--> name <- proj.ds.cust.name IDENTITY
--> city <- proj.ds.cust.addr.city IDENTITY, proj.ds.cust.addr.zip IDENTITY

-- case: backticks around two parts
SELECT id FROM `proj.ds`.cust;
--> id <- proj.ds.cust.id IDENTITY

-- case: dashes without quotes
SELECT k FROM my-proj.ds.dashed;
--> k <- my-proj.ds.dashed.k IDENTITY

-- case: dashes in backticks
SELECT k FROM `my-proj.ds.dashed`;
--> k <- my-proj.ds.dashed.k IDENTITY

-- case: alias is not a table
SELECT o.id, i.sku, i.qty FROM ds.orders AS o, o.items AS i;
--> id <- ds.orders.id IDENTITY
--> sku <- ds.orders.items[].sku IDENTITY
--> qty <- ds.orders.items[].qty IDENTITY
--> * | ds.orders.items JOIN

-- case: tables of the same short name are not one
CREATE TABLE other.orders AS SELECT id, cid AS amount FROM ds.orders;
SELECT x.amount AS a1, y.amount AS a2 FROM ds.orders AS x JOIN other.orders AS y USING (id);
--> other.orders.id <- ds.orders.id IDENTITY
--> other.orders.amount <- ds.orders.cid IDENTITY
--> a1 <- ds.orders.amount IDENTITY
--> a2 <- other.orders.amount IDENTITY
--> * | ds.orders.id JOIN, other.orders.id JOIN

-- case: wildcard table
SELECT id, extra, _TABLE_SUFFIX AS suffix FROM `ds.events_*` WHERE _TABLE_SUFFIX > '2024';
--> id <- ds.events_*.id IDENTITY
--> extra <- ds.events_*.extra IDENTITY
--> suffix <- ds.events_*._TABLE_SUFFIX IDENTITY
--> * | ds.events_*._TABLE_SUFFIX FILTER

-- case: partition pseudo-columns
SELECT id, _PARTITIONTIME AS pt FROM ds.orders WHERE _PARTITIONDATE = '2024-01-01';
--> id <- ds.orders.id IDENTITY
--> pt <- ds.orders._PARTITIONTIME IDENTITY
--> * | ds.orders._PARTITIONDATE FILTER

-- case: pseudo-columns are no part of a star
SELECT * FROM t WHERE _PARTITIONTIME IS NOT NULL;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> * | t._PARTITIONTIME FILTER

-- case: information schema
SELECT table_name, ddl FROM ds.INFORMATION_SCHEMA.TABLES WHERE table_type = 'VIEW';
--> table_name <- ds.INFORMATION_SCHEMA.TABLES.table_name IDENTITY
--> ddl <- ds.INFORMATION_SCHEMA.TABLES.ddl IDENTITY
--> * | ds.INFORMATION_SCHEMA.TABLES.table_type FILTER

-- case: information schema of a region
SELECT job_id, ref.table_id FROM `region-us`.INFORMATION_SCHEMA.JOBS, UNNEST(referenced_tables) AS ref;
--> job_id <- region-us.INFORMATION_SCHEMA.JOBS.job_id IDENTITY
--> table_id <- region-us.INFORMATION_SCHEMA.JOBS.referenced_tables[].table_id IDENTITY
--> * | region-us.INFORMATION_SCHEMA.JOBS.referenced_tables JOIN

-- case: search and contains_substr
SELECT SEARCH(name, 'x') AS s, CONTAINS_SUBSTR(name, 'y') AS c FROM proj.ds.cust;
--> s <- proj.ds.cust.name TRANSFORMATION
--> c <- proj.ds.cust.name TRANSFORMATION

-- case: type names of other engines
SELECT CAST(a AS INT) AS i, CAST(b AS BIGINT) AS l, CAST(a AS DECIMAL) AS d FROM t;
--> i <- t.a IDENTITY
--> l <- t.b IDENTITY
--> d <- t.a TRANSFORMATION

-- case: bigquery system variables
SELECT @@project_id AS p, @@script.job_id AS jid, a FROM t;
--> p
--> jid
--> a <- t.a IDENTITY
