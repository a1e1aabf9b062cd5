-- schema: public.t(a, b, c), public.u(x, y), sales.t(a, z)

-- case: the same name in two schemas
SELECT p.a AS p, s.z AS s FROM public.t p JOIN sales.t s ON p.a = s.a;
--> p <- public.t.a IDENTITY
--> s <- sales.t.z IDENTITY
--> * | public.t.a JOIN, sales.t.a JOIN

-- case: qualified by schema and table
SELECT public.t.a, sales.t.z FROM public.t, sales.t;
--> a <- public.t.a IDENTITY
--> z <- sales.t.z IDENTITY

-- case: outputs without a name
SELECT max(a), count(*), a + 1, CASE WHEN b THEN c END FROM public.t GROUP BY a, b, c;
--> max <- public.t.a AGGREGATION
--> count
--> ?column? <- public.t.a TRANSFORMATION
--> case <- public.t.c TRANSFORMATION | public.t.b CONDITIONAL
--> * | public.t.a GROUP_BY, public.t.b GROUP_BY, public.t.c GROUP_BY

-- case: three level correlation
SELECT a FROM public.t WHERE EXISTS (SELECT 1 FROM public.u WHERE EXISTS (SELECT 1 FROM sales.t s WHERE s.z = public.t.b AND s.a = u.x));
--> a <- public.t.a IDENTITY
--> * | sales.t.z FILTER, public.t.b FILTER, sales.t.a FILTER, public.u.x FILTER

-- case: join of a join in brackets
SELECT k.a, l.y FROM (public.t k JOIN public.u l ON k.a = l.x) LEFT JOIN sales.t m ON m.a = k.b;
--> a <- public.t.a IDENTITY
--> y <- public.u.y IDENTITY
--> * | public.t.a JOIN, public.u.x JOIN, sales.t.a JOIN, public.t.b JOIN

-- case: star over a join of ctes with names in common
WITH l AS (SELECT a, b FROM public.t), r AS (SELECT a, z FROM sales.t) SELECT * FROM l JOIN r ON l.a = r.a;
--> a <- public.t.a IDENTITY
--> b <- public.t.b IDENTITY
--> a_1 <- sales.t.a IDENTITY
--> z <- sales.t.z IDENTITY
--> * | public.t.a JOIN, sales.t.a JOIN

-- case: aggregate over a window
SELECT sum(rn) AS s FROM (SELECT row_number() OVER (PARTITION BY a ORDER BY b) AS rn FROM public.t) q;
--> s | public.t.a WINDOW, public.t.b WINDOW

-- case: filter by a windowed alias
SELECT a FROM (SELECT a, row_number() OVER (PARTITION BY b ORDER BY c DESC) AS rn FROM public.t) q WHERE rn = 1;
--> a <- public.t.a IDENTITY
--> * | public.t.b FILTER, public.t.c FILTER

-- case: a condition made of a condition
SELECT CASE WHEN k = 'x' THEN c END AS v FROM (SELECT CASE WHEN a > 1 THEN b END AS k, c FROM public.t) q;
--> v <- public.t.c TRANSFORMATION | public.t.b CONDITIONAL, public.t.a CONDITIONAL

-- case: boolean outputs are values
SELECT a > b AS gt, c IS NULL AS n, a BETWEEN b AND c AS w, c LIKE 'x%' AS l FROM public.t;
--> gt <- public.t.a TRANSFORMATION, public.t.b TRANSFORMATION
--> n <- public.t.c TRANSFORMATION
--> w <- public.t.a TRANSFORMATION, public.t.b TRANSFORMATION, public.t.c TRANSFORMATION
--> l <- public.t.c TRANSFORMATION

-- case: quoted names keep their case
SELECT "A" FROM public.t;
--> A <- public.t.A IDENTITY ?
--! UNKNOWN_COLUMN

-- case: view over an unknown table feeds a known insert
CREATE VIEW v AS SELECT * FROM nowhere;
INSERT INTO public.u (x) SELECT k FROM v;
--> v.* <- nowhere.* IDENTITY ?
--> public.u.x <- v.k IDENTITY
--! UNKNOWN_TABLE
--! APPROXIMATE_LINEAGE

-- case: comments everywhere
/* a */ SELECT -- b
  a /* c */ AS k -- d
FROM public.t /* e */;
--> k <- public.t.a IDENTITY

-- case: one bad statement between two good ones
SELECT a FROM public.t;
SELECT a FROM public.t WHERE (b;
SELECT b FROM public.t;
--> a <- public.t.a IDENTITY
--> <result> <- public.t
--! PARSE_ERROR
--> b <- public.t.b IDENTITY

-- case: grant and comment say nothing
GRANT SELECT ON public.t TO someone;
COMMENT ON TABLE public.t IS 'x';
BEGIN;
COMMIT;

