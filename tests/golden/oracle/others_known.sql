-- Shapes of scripts that others write.
-- schema: ticks(sid, ts, price)

-- case: measures of a pattern
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY sid ORDER BY ts MEASURES LAST(a.price) AS a_price ONE ROW PER MATCH PATTERN (a b+) DEFINE a AS price > 10) m;
--> sid <- ticks.sid IDENTITY
--> a_price <- ticks.price AGGREGATION
--> * | ticks.price FILTER, ticks.ts SORT
