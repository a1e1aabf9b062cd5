-- schema: events(id, user_id, kind, value, ts, tags Array(String)), daily(day, kind, total), users(id, name)

-- case: materialized view into a table
CREATE MATERIALIZED VIEW daily_mv TO daily AS SELECT toDate(ts) AS day, kind, sum(value) AS total FROM events GROUP BY day, kind;
--> daily.day <- events.ts TRANSFORMATION
--> daily.kind <- events.kind IDENTITY
--> daily.total <- events.value AGGREGATION
--> daily.* | events.ts GROUP_BY, events.kind GROUP_BY

-- case: materialized view with its own engine
CREATE MATERIALIZED VIEW mv ENGINE = SummingMergeTree ORDER BY kind AS SELECT kind, sumState(value) AS s FROM events GROUP BY kind;
--> mv.kind <- events.kind IDENTITY
--> mv.s <- events.value AGGREGATION
--> mv.* | events.kind GROUP_BY

-- case: array join
SELECT id, t FROM events ARRAY JOIN tags AS t WHERE t != '';
--> id <- events.id IDENTITY
--> t <- events.tags[] IDENTITY
--> * | events.tags[] FILTER, events.tags JOIN

-- case: argmax and conditional aggregates
SELECT user_id, argMax(kind, ts) AS last, sumIf(value, kind = 'a') AS s FROM events FINAL PREWHERE value > 0 GROUP BY user_id;
--> user_id <- events.user_id IDENTITY
--> last <- events.kind AGGREGATION | events.ts CONDITIONAL
--> s <- events.value AGGREGATION | events.kind CONDITIONAL
--> * | events.value FILTER, events.user_id GROUP_BY

-- case: alias used in where and in another item
SELECT value * 2 AS v2, v2 + 1 AS v3 FROM events WHERE v2 > 3;
--> v2 <- events.value TRANSFORMATION
--> v3 <- events.value TRANSFORMATION
--> * | events.value FILTER

-- case: limit by and with fill
SELECT id, ts FROM events ORDER BY ts WITH FILL LIMIT 1 BY user_id;
--> id <- events.id IDENTITY
--> ts <- events.ts IDENTITY
--> * | events.ts SORT

-- case: exchanged tables have each other's columns
EXCHANGE TABLES users AND daily; SELECT * FROM users;
--> daily.id <- users.id IDENTITY
--> daily.name <- users.name IDENTITY
--> users.day <- daily.day IDENTITY
--> users.kind <- daily.kind IDENTITY
--> users.total <- daily.total IDENTITY
--> day <- users.day IDENTITY
--> kind <- users.kind IDENTITY
--> total <- users.total IDENTITY
