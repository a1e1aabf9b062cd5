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

-- case: a function that computes a value by one query gives what the query does
CREATE FUNCTION app.kind_of (@name NVARCHAR(50)) RETURNS INT AS
BEGIN
  DECLARE @id INT, @top INT = 1
  SELECT TOP 1 @id = k.id FROM app.kinds k WHERE k.name = @name
  RETURN @id
END
GO
CREATE FUNCTION app.name_of (@id INT) RETURNS NVARCHAR(50) AS
BEGIN
  RETURN (SELECT name FROM app.kinds WHERE id = @id)
END
GO
INSERT INTO sales (kind, name) SELECT app.kind_of(N'cash'), app.name_of(s.kind) FROM app.staged s
--> id <- app.kinds.id IDENTITY | app.kinds.name FILTER
--! UNKNOWN_TABLE
--> sales.kind <- app.kinds.id IDENTITY | app.kinds.name FILTER
--> sales.name <- app.kinds.name IDENTITY | app.kinds.id FILTER, app.staged.kind FILTER
--! UNKNOWN_TABLE
--! UNKNOWN_TABLE

-- case: a function that chooses between steps is approximate
CREATE FUNCTION app.rate (@day DATE) RETURNS INT AS
BEGIN
  DECLARE @r INT
  SET @r = (SELECT MAX(r.rate) FROM app.rates r WHERE r.day = @day)
  IF @r IS NULL SELECT @r = d.rate FROM app.defaults d
  RETURN @r * 2
END
GO
INSERT INTO bills (amount) SELECT app.rate(b.day) FROM app.billed b
--> r <- app.rates.rate AGGREGATION | app.rates.day FILTER
--! UNKNOWN_TABLE
--> r <- app.defaults.rate IDENTITY
--! UNKNOWN_TABLE
--> bills.amount <- app.rates.rate AGGREGATION, app.defaults.rate IDENTITY | app.rates.day FILTER, app.billed.day FILTER
--! UNKNOWN_TABLE
--! UNKNOWN_TABLE
--! UNKNOWN_TABLE
--! APPROXIMATE_LINEAGE
