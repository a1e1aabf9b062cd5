-- schema: t(a, b, c), u(x, y), dst(p, q)

-- case: copy
COPY dst FROM 's3://b/in' IAM_ROLE 'r' CSV;
--> dst.* <- s3://b/in.* IDENTITY ?

-- case: unload
UNLOAD ('SELECT a, b + 1 AS b1 FROM t WHERE c = ''x''') TO 's3://b/out' IAM_ROLE 'r';
--> s3://b/out.a <- t.a IDENTITY
--> s3://b/out.b1 <- t.b TRANSFORMATION
--> s3://b/out.* | t.c FILTER

-- case: create table with keys as
CREATE TABLE n DISTKEY (a) SORTKEY (b) AS SELECT a, b FROM t;
--> n.a <- t.a IDENTITY
--> n.b <- t.b IDENTITY

-- case: lateral alias
SELECT a + 1 AS p, p + 1 AS q FROM t;
--> p <- t.a TRANSFORMATION
--> q <- t.a TRANSFORMATION

-- case: listagg and decode
SELECT LISTAGG(a, ',') WITHIN GROUP (ORDER BY b) AS l, DECODE(c, 1, a, b) AS d FROM t GROUP BY c, a, b;
--> l <- t.a AGGREGATION | t.b WINDOW
--> d <- t.a TRANSFORMATION, t.b TRANSFORMATION | t.c CONDITIONAL
--> * | t.c GROUP_BY, t.a GROUP_BY, t.b GROUP_BY

-- case: select into temp
SELECT a INTO TEMP TABLE #s FROM t;
SELECT * FROM #s;
--> #s.a <- t.a IDENTITY
--> a <- #s.a IDENTITY

-- case: super path
SELECT c.addr.city AS city FROM t;
--> city <- t.c.addr.city IDENTITY

-- case: unnest a super array
SELECT e.sku AS sku FROM t, t.c AS e;
--> sku <- t.c[].sku IDENTITY
--> * | t.c JOIN

-- case: update from with alias
UPDATE dst SET q = s.y FROM u s WHERE dst.p = s.x;
--> dst.q <- u.y IDENTITY
--> dst.* | dst.p FILTER, u.x FILTER

-- case: delete using
DELETE FROM dst USING u WHERE dst.p = u.x;
--> dst.* | dst.p FILTER, u.x FILTER

-- case: insert with a cte inside
INSERT INTO dst (p, q) (WITH s AS (SELECT a, b FROM t) SELECT a, b FROM s);
--> dst.p <- t.a IDENTITY
--> dst.q <- t.b IDENTITY

-- case: create table like
CREATE TABLE n (LIKE u);
SELECT * FROM n;
--> x <- n.x IDENTITY
--> y <- n.y IDENTITY

-- case: qualify
SELECT a FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY b ORDER BY c) = 1;
--> a <- t.a IDENTITY
--> * | t.b FILTER, t.c FILTER

-- case: nvl and nullif
SELECT NVL(a, b) AS n, NULLIF(a, c) AS m FROM t;
--> n <- t.a TRANSFORMATION, t.b TRANSFORMATION | t.a CONDITIONAL, t.b CONDITIONAL
--> m <- t.a TRANSFORMATION | t.a CONDITIONAL, t.c CONDITIONAL

-- case: approximate count
SELECT APPROXIMATE COUNT(DISTINCT a) AS n FROM t;
--> n <- t.a AGGREGATION masked

-- case: the unit of a function of dates is no column
SELECT DATEPART(hour, at) AS h, PGDATE_PART(dow, at) AS d FROM visits GROUP BY DATEPART(hour, at), 2;
--> h <- visits.at TRANSFORMATION
--> d <- visits.at TRANSFORMATION
--> * | visits.at GROUP_BY
--! UNKNOWN_TABLE
