-- Executed strings, cursors, triggers and procedures that call each other.

-- case: a constant is executed
EXEC('INSERT INTO d (x) SELECT a FROM t');
--> d.x <- t.a IDENTITY

-- case: a variable that grows is executed
DECLARE @s NVARCHAR(MAX), @t SYSNAME = N'src'
SET @s = N'INSERT INTO d (x)' + CHAR(10)
SET @s += N'SELECT a FROM ' + QUOTENAME(@t) + N' WHERE k = ' + CAST(5 AS NVARCHAR(10))
EXEC (@s)
--> d.x <- src.a IDENTITY
--> d.* | src.k FILTER

-- case: sp_executesql binds its parameters by name
DECLARE @m INT
SELECT @m = MAX(z) FROM u
EXEC sys.sp_executesql N'INSERT INTO d (x, y) SELECT a, @p FROM t WHERE b = @q', N'@p INT, @q INT', @p = @m, @q = 1;
--> m <- u.z AGGREGATION
--> d.x <- t.a IDENTITY
--> d.y <- u.z AGGREGATION
--> d.* | t.b FILTER

-- case: sp_executesql gives an output parameter back
DECLARE @n INT
EXEC sp_executesql N'SELECT @c = MAX(a) FROM t', N'@c INT OUTPUT', @c = @n OUTPUT
INSERT INTO d (x) SELECT @n
--> c <- t.a AGGREGATION
--> d.x <- t.a AGGREGATION

-- case: a table that is not known leaves what is known
CREATE PROCEDURE p @tab SYSNAME AS
DECLARE @s NVARCHAR(MAX) = N'INSERT INTO d (x) SELECT a FROM ' + @tab
EXEC(@s)
--! UNSUPPORTED_STATEMENT

-- case: nothing of the string is known
CREATE PROCEDURE p @s NVARCHAR(MAX) AS
EXEC(@s)
--! UNSUPPORTED_STATEMENT

-- case: a value that is not known is in doubt
CREATE PROCEDURE p @k INT AS
DECLARE @s NVARCHAR(MAX) = N'INSERT INTO d (x) SELECT a FROM t WHERE k = ' + CAST(@k AS NVARCHAR(10))
EXEC(@s)
--> d.x <- t.a IDENTITY
--> d.* | t.k FILTER
--! APPROXIMATE_LINEAGE

-- case: a value inside quotes does not matter
CREATE PROCEDURE p @k NVARCHAR(10) AS
EXEC('INSERT INTO d (x) SELECT a FROM t WHERE k = ''' + @k + '''')
--> d.x <- t.a IDENTITY
--> d.* | t.k FILTER

-- case: each branch may have set the string
DECLARE @s NVARCHAR(MAX)
IF @x = 1
  SET @s = N'INSERT INTO d (x) SELECT a FROM t'
ELSE
  SET @s = N'INSERT INTO d (x) SELECT b FROM u'
EXEC(@s)
--> d.x <- u.b IDENTITY
--> d.x <- t.a IDENTITY

-- case: a branch sees what it has set itself
DECLARE @s NVARCHAR(MAX) = N'INSERT INTO d (x) SELECT a FROM t'
IF @x = 1
BEGIN
  SET @s = N'INSERT INTO d (x) SELECT b FROM u'
  EXEC(@s)
END
--> d.x <- u.b IDENTITY

-- case: a string that grows in a loop by what is constant
DECLARE @s NVARCHAR(MAX) = N'SELECT a FROM t'
WHILE @i < 3
BEGIN
  SET @s = @s + N' UNION ALL SELECT a FROM t'
END
EXEC(@s)
--> a <- t.a IDENTITY
--> a <- t.a IDENTITY

-- case: numbers are added and not joined
DECLARE @i INT = 1
SET @i = @i + 1
DECLARE @s NVARCHAR(MAX) = N'INSERT INTO d (x) SELECT a FROM t' + CAST(@i AS VARCHAR(5))
EXEC(@s)
--! UNSUPPORTED_STATEMENT

-- case: a string for another server
EXEC('INSERT INTO d (x) SELECT a FROM t') AT srv
--! UNSUPPORTED_STATEMENT

-- case: the rows of a string are inserted
DECLARE @s NVARCHAR(MAX) = N'SELECT a, b FROM t'
INSERT INTO d (x, y) EXEC(@s)
--> d.x <- t.a IDENTITY
--> d.y <- t.b IDENTITY

-- case: a string that executes a string
DECLARE @s NVARCHAR(MAX) = N'EXEC(''INSERT INTO d (x) SELECT a FROM t'')'
EXEC(@s)
--> d.x <- t.a IDENTITY

-- case: a temporary table made by a string
EXEC('SELECT a, b INTO ##w FROM t')
INSERT INTO d (x) SELECT b FROM ##w
--> w.a <- t.a IDENTITY
--> w.b <- t.b IDENTITY
--> d.x <- w.b IDENTITY

-- case: a cursor fills variables
DECLARE c CURSOR LOCAL FAST_FORWARD FOR
  SELECT a, b FROM t
OPEN c
FETCH NEXT FROM c INTO @x, @y
WHILE @@FETCH_STATUS = 0
BEGIN
  INSERT INTO d (p, q) VALUES (@x, @y)
  FETCH NEXT FROM c INTO @x, @y
END
CLOSE c
DEALLOCATE c
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> x <- t.a IDENTITY
--> y <- t.b IDENTITY
--> d.p <- t.a IDENTITY
--> d.q <- t.b IDENTITY
--> x <- t.a IDENTITY
--> y <- t.b IDENTITY

-- case: a cursor variable
DECLARE @c CURSOR
SET @c = CURSOR FOR SELECT a FROM t UNION SELECT b FROM u FOR READ ONLY
OPEN @c
FETCH NEXT FROM @c INTO @x
INSERT INTO d (p) VALUES (@x)
--> a <- t.a IDENTITY, u.b IDENTITY
--> * | t.a GROUP_BY, u.b GROUP_BY
--> x <- t.a IDENTITY, u.b IDENTITY | t.a GROUP_BY, u.b GROUP_BY
--> d.p <- t.a IDENTITY, u.b IDENTITY | t.a GROUP_BY, u.b GROUP_BY

-- case: a trigger reads inserted and deleted
CREATE TRIGGER dbo.trg ON dbo.t AFTER INSERT, UPDATE AS
BEGIN
  SET NOCOUNT ON;
  INSERT INTO audit (id, old) SELECT i.id, d.v FROM inserted i LEFT JOIN deleted d ON d.id = i.id
  UPDATE s SET s.n = inserted.m FROM s JOIN inserted ON s.id = inserted.id
END
GO
INSERT INTO d (x) SELECT a FROM inserted
--> audit.id <- dbo.t.id IDENTITY
--> audit.old <- dbo.t.v IDENTITY
--> audit.* | dbo.t.id JOIN
--> s.n <- dbo.t.m IDENTITY
--> s.* | s.id JOIN, dbo.t.id JOIN
--> d.x <- inserted.a IDENTITY

-- case: a temporary table is read in a procedure that is called
CREATE PROCEDURE fill AS INSERT INTO d SELECT * FROM #t
GO
CREATE PROCEDURE load AS
SELECT x AS a, y INTO #t FROM s
EXEC fill
--> d.* <- #t.* IDENTITY ?
--! APPROXIMATE_LINEAGE
--> #t.a <- s.x IDENTITY
--> #t.y <- s.y IDENTITY
--> d.a <- #t.a IDENTITY
--> d.y <- #t.y IDENTITY

-- case: a call binds parameters and their defaults
CREATE PROCEDURE copy_of @k INT, @tab SYSNAME = 'src' AS
BEGIN
  DECLARE @s NVARCHAR(MAX) = N'INSERT INTO d (x, k) SELECT a, @p FROM ' + @tab
  EXEC sp_executesql @s, N'@p INT', @p = @k
END
GO
DECLARE @m INT
SELECT @m = MAX(z) FROM u
EXEC dbo.copy_of @k = @m
EXEC copy_of 1, 'other'
--! UNSUPPORTED_STATEMENT
--> m <- u.z AGGREGATION
--> d.x <- src.a IDENTITY
--> d.k <- u.z AGGREGATION
--> d.x <- other.a IDENTITY
--> d.k

-- case: a procedure that calls itself
CREATE PROCEDURE again @n INT AS
INSERT INTO d (x) SELECT a FROM t
EXEC again @n
GO
EXEC again 3
--> d.x <- t.a IDENTITY
--! UNSUPPORTED_STATEMENT
--> d.x <- t.a IDENTITY
--! UNSUPPORTED_STATEMENT

-- case: the rows of a procedure are inserted
CREATE PROC q AS SELECT z FROM w
GO
INSERT INTO d (x) EXEC q
--> z <- w.z IDENTITY
--> d.x <- w.z IDENTITY

-- case: a text may be replaced and quoted
DECLARE @s NVARCHAR(MAX) = REPLACE(N'INSERT INTO <d> (x) SELECT a FROM ' + ISNULL(NULL, N't'), N'<d>', QUOTENAME(N'd'))
EXEC(@s)
--> d.x <- t.a IDENTITY

-- case: a trigger that a string makes
DECLARE @t SYSNAME = N't', @k SYSNAME = N'by'
DECLARE @s NVARCHAR(MAX) = N'CREATE TRIGGER trg ON ' + QUOTENAME(@t) + N' AFTER UPDATE AS INSERT INTO old_t (a'
  + CASE WHEN COALESCE(@k, N'') <> N'' THEN N', ' + @k ELSE N'' END + N') SELECT d.a'
  + CASE WHEN COALESCE(@k, N'') <> N'' THEN N', d.' + @k ELSE N'' END + N' FROM deleted d'
EXEC(@s)
--> old_t.a <- t.a IDENTITY
--> old_t.by <- t.by IDENTITY

-- case: a string that is one of many is in doubt
DECLARE @s NVARCHAR(MAX) = N'INSERT INTO d (x) SELECT '
  + CASE WHEN @p = 1 THEN N'a' ELSE N'b' END + N' FROM ' + CASE WHEN @p = 1 THEN N't' ELSE N'u' END
EXEC(@s)
--> d.x <- t.a IDENTITY
--! APPROXIMATE_LINEAGE
--> d.x <- u.a IDENTITY
--! APPROXIMATE_LINEAGE
--> d.x <- t.b IDENTITY
--! APPROXIMATE_LINEAGE
--> d.x <- u.b IDENTITY
--! APPROXIMATE_LINEAGE

-- case: a procedure that a string makes
EXEC('CREATE PROCEDURE put @v INT AS INSERT INTO d (x) VALUES (@v)')
DECLARE @m INT
SELECT @m = MAX(a) FROM t
EXEC put @m
--> d.x
--> m <- t.a AGGREGATION
--> d.x <- t.a AGGREGATION

-- case: a procedure that a trigger calls does not see its rows
CREATE PROCEDURE look AS INSERT INTO d (x) SELECT a FROM inserted
GO
CREATE TRIGGER trg ON t AFTER INSERT AS EXEC look
--> d.x <- inserted.a IDENTITY
--> d.x <- inserted.a IDENTITY

-- case: a test for columns that were set
CREATE TRIGGER trg ON t AFTER UPDATE AS
IF UPDATE(a) OR UPDATE(b)
  INSERT INTO d (x) SELECT a FROM inserted
--> d.x <- t.a IDENTITY

-- case: a string that grows in a loop by conditions
DECLARE @n INT = 1, @s NVARCHAR(MAX) = 'INSERT INTO found SELECT a FROM letters WHERE 1 = 0';
WHILE @n < 9 BEGIN
  SET @s = @s + ' OR k = ' + CAST(@n AS VARCHAR(3));
  SET @n = @n + 1;
END
EXEC(@s);
--> found.a <- letters.a IDENTITY
--> found.* | letters.k FILTER
--! APPROXIMATE_LINEAGE
--> found.a <- letters.a IDENTITY

-- case: a string that grows in a loop by columns
DECLARE @n INT = 1, @s NVARCHAR(MAX) = 'INSERT INTO wide SELECT ';
WHILE @n < 9 BEGIN
  SET @s += 'c' + CAST(@n AS VARCHAR(3)) + ', ';
  SET @n = @n + 1;
END
SET @s = @s + 'last FROM letters';
EXEC(@s);
--> wide <- letters
--! UNSUPPORTED_STATEMENT
--> wide.last <- letters.last IDENTITY

-- case: a table that is named by the counter of a loop
DECLARE @n INT = 1, @s NVARCHAR(MAX);
WHILE @n <= 12 BEGIN
  SET @s = 'INSERT INTO years SELECT v FROM month_' + CAST(@n AS VARCHAR(3)) + ' JOIN fixed ON 1 = 1';
  EXEC(@s);
  SET @n = @n + 1;
END
--> years <- fixed
--! UNSUPPORTED_STATEMENT

-- case: a variable that a loop sets after it was used
DECLARE @v INT = (SELECT max(a) FROM one);
WHILE 1 = 1 BEGIN
  INSERT INTO before_it (x) SELECT @v;
  SET @v = (SELECT max(b) FROM two);
  INSERT INTO after_it (x) SELECT @v;
END
--> v <- one.a AGGREGATION
--> before_it.x <- one.a AGGREGATION
--! APPROXIMATE_LINEAGE
--> v <- two.b AGGREGATION
--> after_it.x <- one.a AGGREGATION, two.b AGGREGATION
