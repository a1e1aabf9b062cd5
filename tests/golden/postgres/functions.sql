-- Functions that give rows, and where they are called.
-- schema: t(b, c), o(i, j), u(p, q)

-- case: a table function in SQL
CREATE FUNCTION f(x int) RETURNS TABLE (a int, z int) LANGUAGE sql AS $$ SELECT b, c FROM t WHERE c = x $$;
INSERT INTO d SELECT f.a, o.j FROM o, f(o.i) AS f;
--> b <- t.b IDENTITY
--> c <- t.c IDENTITY
--> * | t.c FILTER
--> d.a <- t.b IDENTITY
--> d.j <- o.j IDENTITY
--> d.* | t.c FILTER, o.i FILTER

-- case: names of the call
CREATE FUNCTION f(int) RETURNS TABLE (a int, z int) AS 'SELECT b, c FROM t WHERE c = $1' LANGUAGE sql;
SELECT k, l FROM o CROSS JOIN LATERAL f(o.i) AS q(k, l);
--> k <- t.b IDENTITY
--> l <- t.c IDENTITY
--> * | t.c FILTER, o.i FILTER

-- case: the rows of a table
CREATE FUNCTION f(x int) RETURNS SETOF t AS $body$ SELECT * FROM t WHERE c = $1 $body$ LANGUAGE sql;
SELECT b FROM f(3);
--> b <- t.b IDENTITY
--> c <- t.c IDENTITY
--> * | t.c FILTER
--> b <- t.b IDENTITY
--> * | t.c FILTER

-- case: one value by a query
CREATE FUNCTION f(x int) RETURNS int LANGUAGE sql AS $$ SELECT max(b) FROM t WHERE c = x $$;
SELECT f(o.i) AS m FROM o;
--> max <- t.b AGGREGATION
--> * | t.c FILTER
--> m <- t.b AGGREGATION | t.c FILTER, o.i FILTER

-- case: one row, and a field of it
CREATE FUNCTION f(x int) RETURNS SETOF t AS $$ SELECT * FROM t WHERE c = x $$ LANGUAGE sql;
SELECT (f(o.i)).b AS e FROM o;
--> b <- t.b IDENTITY
--> c <- t.c IDENTITY
--> * | t.c FILTER
--> e <- t.b IDENTITY | t.c FILTER, o.i FILTER

-- case: columns that are parameters
CREATE FUNCTION f(x int, OUT a int, OUT z int) RETURNS SETOF record LANGUAGE sql AS $$ SELECT b, c FROM t WHERE c = x $$;
SELECT a, z FROM f(3);
--> b <- t.b IDENTITY
--> c <- t.c IDENTITY
--> * | t.c FILTER
--> a <- t.b IDENTITY
--> z <- t.c IDENTITY
--> * | t.c FILTER

-- case: a body by the standard
CREATE FUNCTION f(x int) RETURNS TABLE (a int) LANGUAGE sql BEGIN ATOMIC
  SELECT b FROM t WHERE c = x;
END;
SELECT a FROM f(3);
--> b <- t.b IDENTITY
--> * | t.c FILTER
--> a <- t.b IDENTITY
--> * | t.c FILTER

-- case: queries that are returned
CREATE FUNCTION f(x int) RETURNS TABLE (a int, z int) LANGUAGE plpgsql AS $$
BEGIN
  IF x > 0 THEN
    RETURN QUERY SELECT t.b, t.c FROM t WHERE t.c = x;
  ELSE
    RETURN QUERY SELECT p, q FROM u;
  END IF;
END $$;
SELECT a, z FROM f(3);
--> b <- t.b IDENTITY
--> c <- t.c IDENTITY
--> * | t.c FILTER
--> p <- u.p IDENTITY
--> q <- u.q IDENTITY
--> a <- t.b IDENTITY, u.p IDENTITY
--> z <- t.c IDENTITY, u.q IDENTITY
--> * | t.c FILTER

-- case: rows of a loop
CREATE FUNCTION f() RETURNS SETOF t LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
  FOR r IN SELECT * FROM t WHERE c > 0 LOOP
    RETURN NEXT r;
  END LOOP;
END $$;
SELECT b FROM f();
--> b <- t.b IDENTITY
--> c <- t.c IDENTITY
--> * | t.c FILTER
--> b <- t.b IDENTITY
--> * | t.c FILTER

-- case: rows that are made one by one
CREATE FUNCTION f(x int) RETURNS TABLE (a int) LANGUAGE plpgsql AS $$ BEGIN a := x; RETURN NEXT; END $$;
SELECT a FROM o, f(o.i);
--> a <- o.i TRANSFORMATION ?
--> * | o.i JOIN
--! APPROXIMATE_LINEAGE

-- case: a text that is executed
CREATE FUNCTION f(x int) RETURNS TABLE (a int) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT t.b FROM t;
  RETURN QUERY EXECUTE 'SELECT 1';
END $$;
SELECT a FROM f(3);
--> b <- t.b IDENTITY
--> ?column?
--> a <- t.b IDENTITY
--! APPROXIMATE_LINEAGE

-- case: another language
CREATE FUNCTION f(x int) RETURNS TABLE (a int) LANGUAGE plpython3u AS $$ for i in range(x): yield i; $$;
SELECT a FROM o, f(o.i);
--> a <- o.i TRANSFORMATION ?
--> * | o.i JOIN
--! APPROXIMATE_LINEAGE

-- case: two functions of one name
CREATE FUNCTION f(x int) RETURNS TABLE (a int) LANGUAGE sql AS $$ SELECT b FROM t WHERE c = x $$;
CREATE FUNCTION f(x int, y int) RETURNS TABLE (a int) LANGUAGE sql AS $$ SELECT p FROM u WHERE q = y $$;
SELECT a FROM f(1, 2);
--> b <- t.b IDENTITY
--> * | t.c FILTER
--> p <- u.p IDENTITY
--> * | u.q FILTER
--> a <- u.p IDENTITY
--> * | u.q FILTER

-- case: a function that calls itself
CREATE FUNCTION f(x int) RETURNS TABLE (a int) LANGUAGE sql AS $$ SELECT b FROM t UNION ALL SELECT a FROM f(x) $$;
SELECT a FROM f(3);
--> b <- t.b IDENTITY
--! APPROXIMATE_LINEAGE
--> a <- t.b IDENTITY
--! APPROXIMATE_LINEAGE

-- case: a function that calls another
CREATE FUNCTION g(y int) RETURNS TABLE (k int) LANGUAGE sql AS $$ SELECT b FROM t WHERE c = y $$;
CREATE FUNCTION f(x int) RETURNS TABLE (a int) LANGUAGE sql AS $$ SELECT k FROM g(x) $$;
SELECT a FROM o, f(o.i);
--> b <- t.b IDENTITY
--> * | t.c FILTER
--> k <- t.b IDENTITY
--> * | t.c FILTER
--> a <- t.b IDENTITY
--> * | t.c FILTER, o.i FILTER

-- case: one item of an array, one field of a row
SELECT (ARRAY[b, c])[2] AS item, (ROW(b, c)).f1 AS field FROM t;
--> item <- t.c IDENTITY
--> field <- t.b IDENTITY

-- case: functions of the same name in two schemas
CREATE FUNCTION early.f(x int) RETURNS TABLE (v int) LANGUAGE sql AS $$ SELECT b FROM t $$;
CREATE FUNCTION late.f(x int) RETURNS TABLE (v int) LANGUAGE sql AS $$ SELECT c FROM t $$;
SELECT v FROM early.f(1);
--> b <- t.b IDENTITY
--> c <- t.c IDENTITY
--> v <- t.b IDENTITY

-- case: functions of the same name that give one value
CREATE FUNCTION early.g(x int) RETURNS int LANGUAGE sql AS $$ SELECT max(b) FROM t $$;
CREATE FUNCTION late.g(x int) RETURNS int LANGUAGE sql AS $$ SELECT max(c) FROM t $$;
SELECT early.g(1) AS v, other.g(p) AS w FROM u;
--> max <- t.b AGGREGATION
--> max <- t.c AGGREGATION
--> v <- t.b AGGREGATION
--> w <- u.p TRANSFORMATION
