-- Functions that give rows, and where they are called.
-- schema: t(a, b), o(id), w(p, q)

-- case: one query
CREATE FUNCTION dbo.f(@x INT) RETURNS TABLE AS RETURN (SELECT a, b AS c FROM t WHERE b = @x);
GO
SELECT f.c, o.id FROM o CROSS APPLY dbo.f(o.id) f;
--> c <- t.b IDENTITY
--> id <- o.id IDENTITY
--> * | t.b FILTER, o.id FILTER

-- case: a table that is filled
CREATE FUNCTION dbo.f(@x INT) RETURNS @r TABLE (k INT PRIMARY KEY, l INT, UNIQUE (l)) AS
BEGIN
  INSERT INTO @r SELECT a, b FROM t WHERE b = @x;
  INSERT @r (l, k) SELECT p, q FROM w
  RETURN
END
GO
SELECT f.k, f.l FROM o OUTER APPLY dbo.f(o.id) AS f;
--> @r.a <- t.a IDENTITY
--> @r.b <- t.b IDENTITY
--> @r.* | t.b FILTER
--> @r.l <- w.p IDENTITY
--> @r.k <- w.q IDENTITY
--> k <- t.a IDENTITY, w.q IDENTITY
--> l <- t.b IDENTITY, w.p IDENTITY
--> * | t.b FILTER, o.id FILTER

-- case: a table that is filled and changed
CREATE FUNCTION dbo.f(@x INT) RETURNS @r TABLE (k INT) AS
BEGIN
  INSERT INTO @r SELECT a FROM t;
  UPDATE @r SET k = @x;
  RETURN
END
GO
SELECT k FROM dbo.f(3);
--> @r.a <- t.a IDENTITY
--> @r.k
--> k <- t.a IDENTITY
--! APPROXIMATE_LINEAGE
