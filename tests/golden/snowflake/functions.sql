-- Functions that give rows, and where they are called.
-- schema: t(b, c), o(i)

-- case: a table function
CREATE FUNCTION f(x INT) RETURNS TABLE (a INT) AS $$ SELECT b FROM t WHERE c = x $$;
SELECT q.a FROM o, TABLE(f(o.i)) q;
--> b <- t.b IDENTITY
--> * | t.c FILTER
--> a <- t.b IDENTITY
--> * | t.c FILTER, o.i FILTER

-- case: in quotes, with a named argument
CREATE OR REPLACE SECURE FUNCTION f(x INT, y INT) RETURNS TABLE (a INT) AS 'SELECT b FROM t WHERE c = y';
SELECT q.a FROM o, TABLE(f(y => o.i, x => 1)) q;
--> a <- t.b IDENTITY
--> * | t.c FILTER, o.i FILTER

-- case: an expression
CREATE FUNCTION twice(x INT) RETURNS INT AS $$ x * 2 + (SELECT MAX(b) FROM t) $$;
SELECT twice(i) AS d FROM o;
--> d <- o.i TRANSFORMATION, t.b AGGREGATION

-- case: another language
CREATE FUNCTION f(x INT) RETURNS TABLE (a INT) LANGUAGE JAVASCRIPT AS $$ { processRow: function (row, w) { w.writeRow({A: row.X}); } } $$;
SELECT q.a FROM o, TABLE(f(o.i)) q;
--> a <- o.i TRANSFORMATION ?
--> * | o.i JOIN
--! APPROXIMATE_LINEAGE
