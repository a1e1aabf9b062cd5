-- schema: raw.events(id BIGINT, user STRUCT<id: BIGINT, geo: STRUCT<city: STRING>>, items ARRAY<STRUCT<sku: STRING, qty: INT>>, props MAP<STRING, STRING>, ds STRING), dim.users(id, name, city), out.daily(city, n, ds)

-- case: insert overwrite of a partition
INSERT OVERWRITE TABLE out.daily PARTITION (ds = '2024-01-01') SELECT user.geo.city, COUNT(DISTINCT user.id) FROM raw.events WHERE ds = '2024-01-01' GROUP BY user.geo.city;
--> out.daily.city <- raw.events.user.geo.city IDENTITY
--> out.daily.n <- raw.events.user.id AGGREGATION masked
--> out.daily.* | raw.events.ds FILTER, raw.events.user.geo.city GROUP_BY

-- case: insert overwrite of a dynamic partition
INSERT OVERWRITE TABLE out.daily PARTITION (ds) SELECT u.city, 1, e.ds FROM raw.events e JOIN dim.users u ON u.id = e.user.id;
--> out.daily.city <- dim.users.city IDENTITY
--> out.daily.n
--> out.daily.ds <- raw.events.ds IDENTITY
--> out.daily.* | dim.users.id JOIN, raw.events.user.id JOIN

-- case: lateral view outer with a struct
SELECT e.id, x.sku, x.qty * 2 AS q FROM raw.events e LATERAL VIEW OUTER explode(e.items) t AS x WHERE x.qty > 0;
--> id <- raw.events.id IDENTITY
--> sku <- raw.events.items[].sku IDENTITY
--> q <- raw.events.items[].qty TRANSFORMATION
--> * | raw.events.items[].qty FILTER, raw.events.items JOIN

-- case: merge star
MERGE INTO dim.users t USING (SELECT user.id AS id, 'x' AS name, user.geo.city AS city FROM raw.events) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
--> dim.users.id <- raw.events.user.id IDENTITY
--> dim.users.name
--> dim.users.city <- raw.events.user.geo.city IDENTITY
--> dim.users.* | dim.users.id MERGE, raw.events.user.id MERGE

-- case: temp views in a chain
CREATE OR REPLACE TEMP VIEW a AS SELECT id, user.geo.city AS city FROM raw.events;
CREATE OR REPLACE TEMP VIEW b AS SELECT city, COUNT(1) AS n FROM a GROUP BY city;
INSERT INTO out.daily SELECT city, n, '2024' FROM b;
--> a.id <- raw.events.id IDENTITY
--> a.city <- raw.events.user.geo.city IDENTITY
--> b.city <- a.city IDENTITY
--> b.n
--> b.* | a.city GROUP_BY
--> out.daily.city <- b.city IDENTITY
--> out.daily.n <- b.n IDENTITY
--> out.daily.ds

-- case: cube with a having
SELECT city, name, COUNT(*) AS n FROM dim.users GROUP BY CUBE (city, name) HAVING COUNT(id) > 1;
--> city <- dim.users.city IDENTITY
--> name <- dim.users.name IDENTITY
--> n
--> * | dim.users.city GROUP_BY, dim.users.name GROUP_BY, dim.users.id FILTER

-- case: higher order functions
SELECT aggregate(items, 0, (acc, i) -> acc + i.qty) AS total, filter(items, i -> i.qty > 1) AS big, exists(items, i -> i.sku = 'a') AS has FROM raw.events;
--> total <- raw.events.items[].qty TRANSFORMATION
--> big <- raw.events.items TRANSFORMATION | raw.events.items[].qty CONDITIONAL
--> has <- raw.events.items TRANSFORMATION

-- case: map access and named_struct
SELECT props['k'] AS k, named_struct('c', user.geo.city, 'i', id) AS s FROM raw.events;
--> k <- raw.events.props.k IDENTITY
--> s.c <- raw.events.user.geo.city IDENTITY
--> s.i <- raw.events.id IDENTITY

-- case: stack as unpivot
SELECT id, k, v FROM dim.users LATERAL VIEW stack(2, 'name', name, 'city', city) s AS k, v;
--> id <- dim.users.id IDENTITY
--> k
--> v <- dim.users.name IDENTITY, dim.users.city IDENTITY

-- case: fields in another case
SELECT User.GEO.City AS c FROM raw.events;
--> c <- raw.events.user.geo.city IDENTITY
