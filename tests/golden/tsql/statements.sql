-- schema: dbo.t(a, b, c, d), dbo.u(x, y, z), dbo.dst(p, q, r)

-- case: bracketed names
SELECT [t].[a] AS [My Col] FROM [dbo].[t];
--> My Col <- dbo.t.a IDENTITY

-- case: alias before the expression
SELECT total = a + b, n = c FROM dbo.t;
--> total <- dbo.t.a TRANSFORMATION, dbo.t.b TRANSFORMATION
--> n <- dbo.t.c IDENTITY

-- case: top with order
SELECT TOP 10 a FROM dbo.t ORDER BY b DESC;
--> a <- dbo.t.a IDENTITY
--> * | dbo.t.b SORT

-- case: iif, isnull and choose
SELECT IIF(a > 1, b, c) AS i, ISNULL(a, b) AS n, CHOOSE(a, b, c) AS h FROM dbo.t;
--> i <- dbo.t.b TRANSFORMATION, dbo.t.c TRANSFORMATION | dbo.t.a CONDITIONAL
--> n <- dbo.t.a TRANSFORMATION, dbo.t.b TRANSFORMATION | dbo.t.a CONDITIONAL, dbo.t.b CONDITIONAL
--> h <- dbo.t.b TRANSFORMATION, dbo.t.c TRANSFORMATION | dbo.t.a CONDITIONAL

-- case: select into a temporary table
SELECT a, b INTO #s FROM dbo.t;
SELECT * FROM #s;
--> #s.a <- dbo.t.a IDENTITY
--> #s.b <- dbo.t.b IDENTITY
--> a <- #s.a IDENTITY
--> b <- #s.b IDENTITY

-- case: cross apply a query
SELECT t.a, v.m FROM dbo.t CROSS APPLY (SELECT MAX(y) AS m FROM dbo.u WHERE u.x = t.b) v;
--> a <- dbo.t.a IDENTITY
--> m <- dbo.u.y AGGREGATION
--> * | dbo.u.x FILTER, dbo.t.b FILTER

-- case: outer apply a function
SELECT t.a, s.value AS v FROM dbo.t OUTER APPLY STRING_SPLIT(t.c, ',') s;
--> a <- dbo.t.a IDENTITY
--> v <- dbo.t.c TRANSFORMATION
--> * | dbo.t.c JOIN

-- case: openjson with columns
SELECT j.city FROM dbo.t CROSS APPLY OPENJSON(t.d) WITH (city NVARCHAR(10) '$.addr.city', n INT) j;
--> city <- dbo.t.d.addr.city TRANSFORMATION
--> * | dbo.t.d JOIN

-- case: pivot
SELECT k, [x1], [x2] FROM (SELECT a AS k, b, c FROM dbo.t) s PIVOT (SUM(c) FOR b IN ([x1], [x2])) p;
--> k <- dbo.t.a IDENTITY
--> x1 <- dbo.t.c AGGREGATION | dbo.t.b CONDITIONAL
--> x2 <- dbo.t.c AGGREGATION | dbo.t.b CONDITIONAL
--> * | dbo.t.a GROUP_BY

-- case: unpivot
SELECT a, k, v FROM dbo.t UNPIVOT (v FOR k IN (b, c)) p;
--> a <- dbo.t.a IDENTITY
--> k
--> v <- dbo.t.b IDENTITY, dbo.t.c IDENTITY
--> * | dbo.t.b FILTER, dbo.t.c FILTER

-- case: update by alias
UPDATE k SET k.q = u.y FROM dbo.dst AS k JOIN dbo.u ON k.p = u.x WHERE u.z = 1;
--> dbo.dst.q <- dbo.u.y IDENTITY
--> dbo.dst.* | dbo.dst.p JOIN, dbo.u.x JOIN, dbo.u.z FILTER

-- case: delete by alias
DELETE k FROM dbo.dst k JOIN dbo.u ON k.p = u.x;
--> dbo.dst.* | dbo.dst.p JOIN, dbo.u.x JOIN

-- case: merge with output
MERGE dbo.dst AS d USING dbo.u AS s ON d.p = s.x WHEN MATCHED THEN UPDATE SET q = s.y WHEN NOT MATCHED BY TARGET THEN INSERT (p, q) VALUES (s.x, s.y) WHEN NOT MATCHED BY SOURCE THEN DELETE;
--> dbo.dst.q <- dbo.u.y IDENTITY
--> dbo.dst.p <- dbo.u.x IDENTITY
--> dbo.dst.* | dbo.dst.p MERGE, dbo.u.x MERGE

-- case: insert exec cannot be seen through
EXEC dbo.load_all @day = '2024';
--! UNSUPPORTED_STATEMENT

-- case: recursive cte without the word
WITH r AS (SELECT x, y FROM dbo.u WHERE z IS NULL UNION ALL SELECT u.x, r.y FROM dbo.u JOIN r ON u.z = r.x) SELECT x, y FROM r;
--> x <- dbo.u.x IDENTITY
--> y <- dbo.u.y IDENTITY
--> * | dbo.u.z FILTER, dbo.u.z JOIN, dbo.u.x JOIN

-- case: string_agg within group
SELECT STRING_AGG(a, ',') WITHIN GROUP (ORDER BY b) AS l FROM dbo.t;
--> l <- dbo.t.a AGGREGATION | dbo.t.b WINDOW

-- case: variables
DECLARE @n INT = 3;
SELECT a + @n AS m FROM dbo.t WHERE b > @n;
--> m <- dbo.t.a TRANSFORMATION
--> * | dbo.t.b FILTER

-- case: create or alter view
CREATE OR ALTER VIEW dbo.v AS SELECT a, b FROM dbo.t;
--> dbo.v.a <- dbo.t.a IDENTITY
--> dbo.v.b <- dbo.t.b IDENTITY

-- case: procedure
CREATE PROCEDURE dbo.p @day DATE AS BEGIN INSERT INTO dbo.dst (p) SELECT a FROM dbo.t; UPDATE dbo.dst SET q = r; END;
--> dbo.dst.p <- dbo.t.a IDENTITY
--> dbo.dst.q <- dbo.dst.r IDENTITY

-- case: if else without semicolons in between
IF EXISTS (SELECT 1 FROM dbo.u) INSERT INTO dbo.dst (p) SELECT a FROM dbo.t;
--> condition
--> dbo.dst.p <- dbo.t.a IDENTITY

-- case: begin try
BEGIN TRY INSERT INTO dbo.dst (p) SELECT a FROM dbo.t; END TRY BEGIN CATCH DELETE FROM dbo.dst WHERE q = 1; END CATCH;
--> dbo.dst.p <- dbo.t.a IDENTITY
--> dbo.dst.* | dbo.dst.q FILTER

-- case: hash bytes
SELECT HASHBYTES('SHA2_256', a) AS h, CHECKSUM(b, c) AS k FROM dbo.t;
--> h <- dbo.t.a TRANSFORMATION masked
--> k <- dbo.t.b TRANSFORMATION masked, dbo.t.c TRANSFORMATION masked

-- case: nolock
SELECT t.a FROM dbo.t WITH (NOLOCK) JOIN dbo.u WITH (NOLOCK) ON t.a = u.x;
--> a <- dbo.t.a IDENTITY
--> * | dbo.t.a JOIN, dbo.u.x JOIN

-- case: try convert and format
SELECT TRY_CONVERT(INT, a) AS i, CONVERT(VARCHAR(10), b, 120) AS s FROM dbo.t;
--> i <- dbo.t.a TRANSFORMATION
--> s <- dbo.t.b TRANSFORMATION

-- case: insert with a list and values query
INSERT INTO dbo.dst (r, p) SELECT MAX(x), y FROM dbo.u GROUP BY y;
--> dbo.dst.r <- dbo.u.x AGGREGATION
--> dbo.dst.p <- dbo.u.y IDENTITY
--> dbo.dst.* | dbo.u.y GROUP_BY

-- case: create table and insert by position
CREATE TABLE #n (k INT, l INT);
INSERT INTO #n SELECT a, b FROM dbo.t;
--> #n.k <- dbo.t.a IDENTITY
--> #n.l <- dbo.t.b IDENTITY

-- case: a variable set from a query
DECLARE @m INT = (SELECT MAX(x) FROM dbo.u);
UPDATE dbo.dst SET q = @m WHERE p = 1;
--> m <- dbo.u.x AGGREGATION
--> dbo.dst.q <- dbo.u.x AGGREGATION
--> dbo.dst.* | dbo.dst.p FILTER

-- case: a constant without bytes is no column, unless it is in brackets
INSERT INTO letters SELECT r.id, CASE WHEN r.body = 0x THEN 0x01 ELSE r.body END, 0x, [0x] FROM replies r;
--> letters.id <- replies.id IDENTITY
--> letters._col_1 <- replies.body TRANSFORMATION | replies.body CONDITIONAL
--> letters._col_2
--> letters.0x <- replies.0x IDENTITY
--! UNKNOWN_TABLE

-- case: an index in the definition of a table is no column
CREATE TABLE spots (id INT, lat FLOAT, INDEX ix (id), INDEX cc CLUSTERED COLUMNSTORE, INDEX h NONCLUSTERED HASH (id) WITH (BUCKET_COUNT = 100));
CREATE TABLE people (id INT, name NVARCHAR (50) MASKED WITH (FUNCTION = 'default()') NULL, CONSTRAINT u UNIQUE NONCLUSTERED ([name] ASC));
INSERT INTO people SELECT * FROM spots;
--> people.id <- spots.id IDENTITY
--> people.name <- spots.lat IDENTITY

-- case: a method of a type is called with two colons
INSERT INTO places (id, place, outline, root)
SELECT s.id, geography::Point(s.lat, s.lon, 4326), dbo.Shape::Parse(s.wkt).STBuffer(s.r), hierarchyid::GetRoot() FROM sites s;
--> places.id <- sites.id IDENTITY
--> places.place <- sites.lat TRANSFORMATION, sites.lon TRANSFORMATION
--> places.outline <- sites.wkt TRANSFORMATION, sites.r TRANSFORMATION
--> places.root
--! UNKNOWN_TABLE

-- case: methods of columns, beside a function of a schema
INSERT INTO maps (a, b, c, d, e)
SELECT s.geo.STAsText(), s.doc.value('(/a)[1]', 'int'), dbo.f(s.x).g(s.y), node.ToString(), [s].[geo].STBuffer(s.r).STArea() FROM sites s;
--> maps.a <- sites.geo TRANSFORMATION
--> maps.b <- sites.doc TRANSFORMATION
--> maps.c <- sites.x TRANSFORMATION, sites.y TRANSFORMATION
--> maps.d <- sites.node TRANSFORMATION
--> maps.e <- sites.geo TRANSFORMATION, sites.r TRANSFORMATION
--! UNKNOWN_TABLE
