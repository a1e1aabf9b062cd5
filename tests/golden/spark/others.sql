-- Shapes of scripts that others write.

-- case: stacked columns in the list
SELECT stack(2, 'a', x, 'b', y) AS (k, v) FROM t;
--> k
--> v <- t.x IDENTITY, t.y IDENTITY

-- case: fields of a struct that was made below
SELECT s.* FROM (SELECT named_struct('p', a, 'q', b) AS s FROM t);
--> p <- t.a IDENTITY
--> q <- t.b IDENTITY

-- case: positions of exploded elements
SELECT posexplode(arr) AS (i, x) FROM t;
--> i <- t.arr TRANSFORMATION
--> x <- t.arr[] IDENTITY
--> * | t.arr JOIN

-- case: a variable is no column of an unknown table
DECLARE VARIABLE since TIMESTAMP DEFAULT (SELECT max(seen) FROM missing);
SELECT x > since AS is_new FROM other;
--> since <- missing.seen AGGREGATION
--> is_new <- other.x TRANSFORMATION, missing.seen AGGREGATION
