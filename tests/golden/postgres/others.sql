-- Shapes of scripts that others write.

-- case: a row assigned to columns
UPDATE t SET (c1, c2) = ROW(x, y);
--> t.c1 <- t.x IDENTITY
--> t.c2 <- t.y IDENTITY

-- case: the order of an aggregate is no value
SELECT jsonb_agg(x ORDER BY k) AS j FROM t;
--> j <- t.x AGGREGATION | t.k WINDOW

-- case: a qualifier that nothing answers to
SELECT z.a, z.b FROM t;
--> a
--> b
--! UNKNOWN_COLUMN
--! UNKNOWN_COLUMN

-- case: joins in brackets in brackets
SELECT a.x, b.y, c.z FROM ((a JOIN b ON a.id = b.id) JOIN c ON b.id = c.id);
--> x <- a.x IDENTITY
--> y <- b.y IDENTITY
--> z <- c.z IDENTITY
--> * | b.id JOIN, c.id JOIN, a.id JOIN

-- case: a materialized view without data
CREATE MATERIALIZED VIEW m AS SELECT a FROM t WITH NO DATA;
--> m.a <- t.a IDENTITY

-- case: a materialized view with data
CREATE MATERIALIZED VIEW m AS SELECT a FROM t WITH DATA;
--> m.a <- t.a IDENTITY

-- case: several variables at once
CREATE FUNCTION f() RETURNS void AS $$ DECLARE c constant varchar := 'x'; a int; b int; BEGIN SELECT x, y INTO a, b FROM t; INSERT INTO d (p, q, r) VALUES (a, b, c); END $$ LANGUAGE plpgsql;
--> a <- t.x IDENTITY
--> b <- t.y IDENTITY
--> d.p <- t.x IDENTITY
--> d.q <- t.y IDENTITY
--> d.r

-- case: a variable assigned from itself
DO $$ DECLARE p text; BEGIN p := TRIM(p); p := COALESCE(p, (SELECT v FROM t)); INSERT INTO d (x) VALUES (p); END $$;
--> p <- t.v TRANSFORMATION | t.v CONDITIONAL
--> d.x <- t.v TRANSFORMATION | t.v CONDITIONAL

-- case: commands of psql
\set x 1
SELECT a FROM t \gset
\echo it's here
INSERT INTO d SELECT a FROM t;
--> a <- t.a IDENTITY
--> d.a <- t.a IDENTITY

-- case: rows of a dump
COPY t (a, b) FROM stdin;
1	it's
2	;
\.
INSERT INTO d SELECT a FROM t;
--> t.a <- stdin.* IDENTITY ?
--> t.b <- stdin.* IDENTITY ?
--> d.a <- t.a IDENTITY

-- case: a copy by psql
\copy t (a) from '/tmp/x.csv'
INSERT INTO d SELECT a FROM t;
--> t.a <- /tmp/x.csv.* IDENTITY ?
--> d.a <- t.a IDENTITY

-- case: operators of an extension
SELECT a <<| b AS c, d @-@ e AS f FROM t WHERE p ?# q;
--> c <- t.a TRANSFORMATION, t.b TRANSFORMATION
--> f <- t.d TRANSFORMATION, t.e TRANSFORMATION
--> * | t.p FILTER, t.q FILTER

-- case: text that is not SQL keeps its tables
SELEC a FROM t JOIN s.u ON x, (SELECT 1 FROM v) WHERE EXTRACT(year FROM d) = 1 AND a IS DISTINCT FROM b;
--> <result> <- t, s.u, v
--! PARSE_ERROR

-- case: a recursive query that reads itself in a condition
WITH RECURSIVE x(n) AS (SELECT a FROM t UNION ALL SELECT n + 1 FROM x WHERE n IN (SELECT * FROM x)) SELECT n FROM x;
--> n <- t.a TRANSFORMATION
--> * | t.a FILTER

-- case: declarations without a block
DECLARE x INT := 3; y text;
SELECT a FROM t;
INSERT INTO d SELECT b FROM u;
--> a <- t.a IDENTITY
--> d.b <- u.b IDENTITY

-- case: a name of the target and of the table in a subquery
UPDATE x SET a = (SELECT a FROM y WHERE y.k = x.k);
--> x.a <- y.a IDENTITY | y.k FILTER, x.k FILTER

-- case: variables end with their block
DO $$ DECLARE price INT; BEGIN SELECT max(cost) INTO price FROM costs; INSERT INTO d VALUES (price); END $$;
CREATE VIEW v AS SELECT price FROM goods;
--> price <- costs.cost AGGREGATION
--> d.column1 <- costs.cost AGGREGATION
--> v.price <- goods.price IDENTITY

-- case: joins of subqueries in brackets
SELECT p.a, q.b FROM ((SELECT a, k FROM t) p JOIN (SELECT b, k FROM u) q ON p.k = q.k);
--> a <- t.a IDENTITY
--> b <- u.b IDENTITY
--> * | t.k JOIN, u.k JOIN

-- case: joins in brackets with a name
SELECT j.a, j.b FROM ((SELECT a, k FROM t) p JOIN (SELECT b, k FROM u) q ON p.k = q.k) AS j;
--> a <- t.a IDENTITY
--> b <- u.b IDENTITY
--> * | t.k JOIN, u.k JOIN

-- case: only a table in brackets
SELECT x.a FROM ONLY (s.t) x;
--> a <- s.t.a IDENTITY

-- case: a table with a quoted name qualifies its columns without an alias
CREATE TABLE m."Big Ones" (id int, "Full Name" text);
CREATE VIEW m.v AS SELECT "Big Ones"."Full Name" FROM m."Big Ones" WHERE "Big Ones".id > 1;
--> m.v.Full Name <- m.Big Ones.Full Name IDENTITY
--> m.v.* | m.Big Ones.id FILTER

-- case: EXCLUDED has quoted columns, and the target a quoted name
INSERT INTO m."Big" (id, "Full Name") SELECT k, n FROM s
ON CONFLICT (id) DO UPDATE SET "Full Name" = EXCLUDED."Full Name" || "Big".note;
--> m.Big.id <- s.k IDENTITY
--> m.Big.Full Name <- s.n IDENTITY, s.n TRANSFORMATION, m.Big.note TRANSFORMATION

-- case: a parameter behind the name of its function
CREATE FUNCTION m.f(lim int) RETURNS TABLE (n text) LANGUAGE sql AS $$ SELECT t.name FROM t WHERE t.id > f.lim $$;
CREATE VIEW m.v AS SELECT g.n FROM m.f(5) g(n);
--> name <- t.name IDENTITY
--> * | t.id FILTER
--> m.v.n <- t.name IDENTITY
--> m.v.* | t.id FILTER
