-- schema: dbo.t(a, b, c), dbo.u(x, y), dbo.dst(p, q)

-- case: two queries on two lines
SELECT a FROM dbo.t
SELECT x FROM dbo.u
--> a <- dbo.t.a IDENTITY
--> x <- dbo.u.x IDENTITY

-- case: insert and its query are one statement
INSERT INTO dbo.dst (p)
SELECT a
FROM dbo.t
WHERE b > 1
DELETE FROM dbo.u
WHERE x = 1
--> dbo.dst.p <- dbo.t.a IDENTITY
--> dbo.dst.* | dbo.t.b FILTER
--> dbo.u.* | dbo.u.x FILTER

-- case: update over several lines
UPDATE d
SET d.q = u.y
FROM dbo.dst d
JOIN dbo.u u ON d.p = u.x
SET NOCOUNT ON
SELECT p FROM dbo.dst
--> dbo.dst.q <- dbo.u.y IDENTITY
--> dbo.dst.* | dbo.dst.p JOIN, dbo.u.x JOIN
--> p <- dbo.dst.p IDENTITY

-- case: union stays together
SELECT a FROM dbo.t
UNION ALL
SELECT x FROM dbo.u
--> a <- dbo.t.a IDENTITY, dbo.u.x IDENTITY

-- case: merge stays together
MERGE dbo.dst AS d
USING dbo.u AS s ON d.p = s.x
WHEN MATCHED THEN
UPDATE SET q = s.y
WHEN NOT MATCHED THEN
INSERT (p, q) VALUES (s.x, s.y);
--> dbo.dst.q <- dbo.u.y IDENTITY
--> dbo.dst.p <- dbo.u.x IDENTITY
--> dbo.dst.* | dbo.dst.p MERGE, dbo.u.x MERGE

-- case: cte and its query are one statement
WITH s AS (
  SELECT a, b FROM dbo.t
)
SELECT a
INTO #n
FROM s
SELECT a FROM #n
--> #n.a <- dbo.t.a IDENTITY
--> a <- #n.a IDENTITY

-- case: go between batches
CREATE TABLE #n (k INT)
GO
INSERT INTO #n SELECT a FROM dbo.t
GO
SELECT k FROM #n
GO
--> #n.k <- dbo.t.a IDENTITY
--> k <- #n.k IDENTITY

-- case: create view over several lines
CREATE VIEW dbo.v AS
SELECT a,
CASE WHEN b > 1
THEN c END AS d
FROM dbo.t
--> dbo.v.a <- dbo.t.a IDENTITY
--> dbo.v.d <- dbo.t.c TRANSFORMATION | dbo.t.b CONDITIONAL

-- case: declare and use
DECLARE @m INT = (SELECT MAX(y) FROM dbo.u)
INSERT INTO dbo.dst (q)
VALUES (@m)
--> m <- dbo.u.y AGGREGATION
--> dbo.dst.q <- dbo.u.y AGGREGATION

-- case: procedure without semicolons
CREATE PROCEDURE dbo.p AS
BEGIN
INSERT INTO dbo.dst (p) SELECT a FROM dbo.t
DELETE FROM dbo.u WHERE x = 1
END
--> dbo.dst.p <- dbo.t.a IDENTITY
--> dbo.u.* | dbo.u.x FILTER

-- case: if and else without semicolons
IF EXISTS (SELECT 1 FROM dbo.u)
BEGIN
INSERT INTO dbo.dst (p) SELECT a FROM dbo.t
END
ELSE
BEGIN
UPDATE dbo.dst SET q = p
END
--> condition
--> dbo.dst.p <- dbo.t.a IDENTITY
--> dbo.dst.q <- dbo.dst.p IDENTITY
