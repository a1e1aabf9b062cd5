-- schema: T(A, B, C, D), U(X, Y, Z), EV(ID, V VARIANT, ARR)

-- case: case of names does not matter
SELECT a, "B" FROM t;
--> a <- T.A IDENTITY
--> B <- T.B IDENTITY

-- case: variant path
SELECT v:user.name::string AS n, v:items[0].sku AS s FROM ev;
--> n <- EV.V.user.name TRANSFORMATION
--> s <- EV.V.items[].sku IDENTITY

-- case: flatten
SELECT f.value:sku::string AS sku, f.index AS i FROM ev, LATERAL FLATTEN(input => ev.v:items) f;
--> sku <- EV.V.items[].sku TRANSFORMATION
--> i
--> * | EV.V.items JOIN

-- case: flatten as a table function
SELECT f.value AS e FROM ev, TABLE(FLATTEN(input => arr)) f;
--> e <- EV.ARR[] IDENTITY
--> * | EV.ARR JOIN

-- case: nested flatten
SELECT g.value:k AS k FROM ev, LATERAL FLATTEN(v:a) f, LATERAL FLATTEN(f.value:b) g;
--> k <- EV.V.a[].b[].k IDENTITY
--> * | EV.V.a[].b JOIN, EV.V.a JOIN

-- case: object construct
SELECT OBJECT_CONSTRUCT('k', a, 'l', b + 1) AS o FROM t;
--> o.k <- T.A IDENTITY
--> o.l <- T.B TRANSFORMATION

-- case: iff, decode and zeroifnull
SELECT IFF(a > 1, b, c) AS i, DECODE(a, 1, b, c) AS d1, ZEROIFNULL(d) AS z FROM t;
--> i <- T.B TRANSFORMATION, T.C TRANSFORMATION | T.A CONDITIONAL
--> d1 <- T.B TRANSFORMATION, T.C TRANSFORMATION | T.A CONDITIONAL
--> z <- T.D TRANSFORMATION | T.D CONDITIONAL

-- case: qualify
SELECT a FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY b ORDER BY c) = 1;
--> a <- T.A IDENTITY
--> * | T.B FILTER, T.C FILTER

-- case: alias in where
SELECT a + b AS s FROM t WHERE s > 3;
--> s <- T.A TRANSFORMATION, T.B TRANSFORMATION
--> * | T.A FILTER, T.B FILTER

-- case: alias in the select list
SELECT a AS p, p + b AS q FROM t;
--> p <- T.A IDENTITY
--> q <- T.A TRANSFORMATION, T.B TRANSFORMATION

-- case: star exclude and rename
SELECT * EXCLUDE (c, d) RENAME (a AS k) FROM t;
--> k <- T.A IDENTITY
--> B <- T.B IDENTITY

-- case: pivot with names
SELECT * FROM (SELECT a, b, c FROM t) PIVOT (SUM(c) FOR b IN ('x', 'y')) AS p (k, px, py);
--> k <- T.A IDENTITY
--> px <- T.C AGGREGATION | T.B CONDITIONAL
--> py <- T.C AGGREGATION | T.B CONDITIONAL
--> * | T.A GROUP_BY

-- case: unpivot
SELECT k, v FROM t UNPIVOT (v FOR k IN (b, c));
--> k
--> v <- T.B IDENTITY, T.C IDENTITY
--> * | T.B FILTER, T.C FILTER

-- case: listagg
SELECT LISTAGG(a, ',') WITHIN GROUP (ORDER BY b) AS l FROM t;
--> l <- T.A AGGREGATION | T.B WINDOW

-- case: lag ignoring nulls
SELECT LAG(a) IGNORE NULLS OVER (PARTITION BY b ORDER BY c) AS p FROM t;
--> p <- T.A TRANSFORMATION | T.B WINDOW, T.C WINDOW

-- case: sample and time travel
SELECT a FROM t AT (OFFSET => -60) SAMPLE (10);
--> a <- T.A IDENTITY

-- case: values
SELECT column1 AS k FROM VALUES (1), (2);
--> k

-- case: asof join
SELECT t.a, u.y FROM t ASOF JOIN u MATCH_CONDITION (t.b >= u.x) ON t.c = u.z;
--> a <- T.A IDENTITY
--> y <- U.Y IDENTITY
--> * | T.B JOIN, U.X JOIN, T.C JOIN, U.Z JOIN

-- case: recursive without saying so
WITH r AS (SELECT x, y FROM u WHERE z IS NULL UNION ALL SELECT u.x, r.y FROM u JOIN r ON u.z = r.x) SELECT x, y FROM r;
--> x <- U.X IDENTITY
--> y <- U.Y IDENTITY
--> * | U.Z FILTER, U.Z JOIN, U.X JOIN

-- case: connect by
SELECT x FROM u START WITH z IS NULL CONNECT BY z = PRIOR x;
--> x <- U.X IDENTITY
--> * | U.Z FILTER, U.X FILTER

-- case: positional columns of a stage
SELECT $1 AS c1, $2:k AS c2 FROM @stage/in;
--> c1 <- @stage/in.$1 IDENTITY
--> c2 <- @stage/in.$2.k IDENTITY

-- case: array functions
SELECT ARRAY_AGG(a) WITHIN GROUP (ORDER BY b)[0] AS f, ARRAY_CONSTRUCT(a, b)[1] AS g FROM t;
--> f <- T.A AGGREGATION | T.B WINDOW
--> g <- T.B IDENTITY

-- case: hashes
SELECT SHA2(a) AS h, MD5(b) AS m, HASH(c) AS x, APPROX_COUNT_DISTINCT(d) AS n FROM t GROUP BY 1, 2, 3;
--> h <- T.A TRANSFORMATION masked
--> m <- T.B TRANSFORMATION masked
--> x <- T.C TRANSFORMATION masked
--> n <- T.D AGGREGATION masked
--> * | T.A GROUP_BY, T.B GROUP_BY, T.C GROUP_BY

-- case: table function
SELECT r.n FROM TABLE(my_function(1)) r;
--> n
--! APPROXIMATE_LINEAGE

-- case: table function over a column
SELECT t.a, r.n FROM t, TABLE(my_function(t.b)) r;
--> a <- T.A IDENTITY
--> n <- T.B TRANSFORMATION ?
--> * | T.B JOIN
--! APPROXIMATE_LINEAGE
