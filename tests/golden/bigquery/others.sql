-- Shapes of scripts that others write.

-- case: an element under the name of its array
SELECT arr FROM t, UNNEST(arr) AS arr;
--> arr <- t.arr[] IDENTITY
--> * | t.arr JOIN

-- case: what is missing on one side has no columns there
MERGE d USING s ON d.id = s.id WHEN NOT MATCHED BY SOURCE AND v > 1 THEN UPDATE SET x = v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (id, v);
--> d.x <- d.v IDENTITY
--> d.id <- s.id IDENTITY
--> d.v <- s.v IDENTITY
--> d.* | d.id MERGE, s.id MERGE, d.v MERGE

-- case: a replaced column of an unknown table
SELECT * REPLACE (a + 1 AS a) FROM t;
--> a <- t.a TRANSFORMATION
--> * <- t.* IDENTITY ?
--! APPROXIMATE_LINEAGE

-- case: hidden columns are no part of a star
SELECT *, _TABLE_SUFFIX AS s FROM `p.d.t_*` WHERE _PARTITIONTIME > '2020';
--> s <- p.d.t_*._TABLE_SUFFIX IDENTITY
--> * <- p.d.t_*.* IDENTITY ? | p.d.t_*._PARTITIONTIME FILTER
--! APPROXIMATE_LINEAGE

-- case: hidden columns are no part of a star below
WITH x AS (SELECT * FROM `p.d.t_*` WHERE _TABLE_SUFFIX > '2020') SELECT * FROM x;
--> * <- p.d.t_*.* IDENTITY ? | p.d.t_*._TABLE_SUFFIX FILTER
--! APPROXIMATE_LINEAGE
--! APPROXIMATE_LINEAGE

-- case: a function of a dataset
SELECT norm.os(x) AS o FROM t;
--> o <- t.x TRANSFORMATION

-- case: the row of an unknown table that a condition chooses
SELECT IF(c.id IS NULL, p, c).* FROM p JOIN c ON p.id = c.id;
--> id <- p.id TRANSFORMATION ?, c.id TRANSFORMATION ? | c.id CONDITIONAL
--> * <- p.* TRANSFORMATION ?, c.* TRANSFORMATION ? | c.id CONDITIONAL, p.id JOIN, c.id JOIN

-- case: a function with a raw string
CREATE FUNCTION f(a STRING) AS (REGEXP_EXTRACT(a, r"x")); SELECT f(b) AS o FROM t;
--> o <- t.b TRANSFORMATION

-- case: tables of the information schema
SELECT table_name FROM `p.d.INFORMATION_SCHEMA.TABLES`;
--> table_name <- p.d.INFORMATION_SCHEMA.TABLES.table_name IDENTITY

-- case: replicas and snapshots
CREATE MATERIALIZED VIEW d.m AS REPLICA OF d.o;
CREATE SNAPSHOT TABLE d.s CLONE d.o;
--> d.m.* <- d.o.* IDENTITY ?
--! APPROXIMATE_LINEAGE
--> d.s.* <- d.o.* IDENTITY ?
