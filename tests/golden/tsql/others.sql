-- Shapes of scripts that others write.

-- case: the target of a union
SELECT id INTO o FROM a UNION ALL SELECT id FROM b;
--> o.id <- a.id IDENTITY, b.id IDENTITY

-- case: output of an update into a table
UPDATE t SET x = s.y OUTPUT inserted.x, deleted.x INTO audit (new, old) FROM t JOIN s ON t.id = s.id;
--> t.x <- s.y IDENTITY
--> t.* | t.id JOIN, s.id JOIN
--> audit.new <- s.y IDENTITY
--> audit.old <- t.x IDENTITY
--> audit.* | t.id JOIN, s.id JOIN

-- case: output of a delete into a table
DELETE FROM t OUTPUT deleted.id, deleted.v INTO gone WHERE k = 1;
--> t.* | t.k FILTER
--> gone.id <- t.id IDENTITY
--> gone.v <- t.v IDENTITY
--> gone.* | t.k FILTER

-- case: output of an insert into a table
INSERT INTO t (a) OUTPUT inserted.a INTO log (x) SELECT b FROM s;
--> t.a <- s.b IDENTITY
--> log.x <- s.b IDENTITY

-- case: output of a merge into a table
MERGE t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v OUTPUT $action, inserted.id, deleted.v INTO audit (act, id, old);
--> t.v <- s.v IDENTITY
--> t.* | t.id MERGE, s.id MERGE
--> audit.act
--> audit.id <- t.id IDENTITY
--> audit.old <- t.v IDENTITY
--> audit.* | t.id MERGE, s.id MERGE

-- case: compound assignment in an update
UPDATE t SET a += s.b FROM t JOIN s ON t.id = s.id;
--> t.a <- t.a TRANSFORMATION, s.b TRANSFORMATION
--> t.* | t.id JOIN, s.id JOIN

-- case: compound assignment of a variable
SELECT @s += x FROM t; INSERT INTO d (v) SELECT @s;
--> s <- t.x TRANSFORMATION
--> d.v <- t.x TRANSFORMATION

-- case: a variable that was never set
SET @p = @p + 1; INSERT INTO d (x) SELECT @p + a FROM t;
--> d.x <- t.a TRANSFORMATION

-- case: update of a named query
WITH c AS (SELECT id, v, w FROM t) UPDATE c SET v = w;
--> t.v <- t.w IDENTITY

-- case: delete from a named query
WITH c AS (SELECT id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY id) AS rn FROM t) DELETE FROM c WHERE rn > 1;
--> t.* | t.k FILTER, t.id FILTER

-- case: named query before an insert on a new line
WITH c AS (
  SELECT a FROM t
)
INSERT INTO d (x)
SELECT a FROM c
--> d.x <- t.a IDENTITY

-- case: named query before a merge on a new line
SELECT 1
;WITH c AS (SELECT id, v FROM s)
MERGE d USING c ON d.id = c.id
WHEN MATCHED THEN UPDATE SET v = c.v
WHEN NOT MATCHED THEN INSERT (id, v) VALUES (id, v);
--> _col_0
--> d.v <- s.v IDENTITY
--> d.id <- s.id IDENTITY
--> d.* | d.id MERGE, s.id MERGE

-- case: named query before an update and a delete
WITH c AS (SELECT id FROM s)
UPDATE t SET v = 1 FROM t JOIN c ON t.id = c.id
WITH g AS (SELECT id FROM u)
DELETE t FROM t JOIN g ON t.id = g.id
--> t.v
--> t.* | t.id JOIN, s.id JOIN
--> t.* | t.id JOIN, u.id JOIN

-- case: named query inside a procedure
CREATE PROCEDURE p @n INT = 1 AS
BEGIN
  SET NOCOUNT ON
  ;WITH c AS (SELECT a FROM t WHERE k = @n)
  INSERT INTO d (x)
  SELECT a FROM c
  DELETE FROM e WHERE k = @n
END
--> d.x <- t.a IDENTITY
--> d.* | t.k FILTER
--> e.* | e.k FILTER

-- case: a procedure without begin
CREATE PROC p AS
DECLARE @x INT
SELECT @x = MAX(a) FROM t
INSERT INTO d (v) SELECT @x
RETURN 0
--> x <- t.a AGGREGATION
--> d.v <- t.a AGGREGATION

-- case: lines that begin with WITH and a bracket
SELECT j.a
FROM t CROSS APPLY OPENJSON(t.doc)
WITH (a INT '$.a') AS j
SELECT b FROM u
WITH (NOLOCK)
WHERE c = 1
--> a <- t.doc.a TRANSFORMATION
--> * | t.doc JOIN
--> b <- u.b IDENTITY
--> * | u.c FILTER

-- case: no semicolon before COMMIT
INSERT INTO d (x) SELECT a FROM t
COMMIT
--> d.x <- t.a IDENTITY

-- case: no semicolon before ROLLBACK
INSERT INTO d (x) SELECT a FROM t
ROLLBACK TRAN
--> d.x <- t.a IDENTITY

-- case: no semicolon before RETURN
INSERT INTO d (x) SELECT a FROM t
RETURN 1
--> d.x <- t.a IDENTITY

-- case: no semicolon before THROW
INSERT INTO d (x) SELECT a FROM t
THROW 50000, 'x', 1
--> d.x <- t.a IDENTITY

-- case: no semicolon before GOTO
INSERT INTO d (x) SELECT a FROM t
GOTO done
--> d.x <- t.a IDENTITY

-- case: no semicolon before WAITFOR
INSERT INTO d (x) SELECT a FROM t
WAITFOR DELAY '00:00:01'
--> d.x <- t.a IDENTITY

-- case: no semicolon before OPEN
INSERT INTO d (x) SELECT a FROM t
OPEN c
--> d.x <- t.a IDENTITY

-- case: no semicolon before CLOSE
INSERT INTO d (x) SELECT a FROM t
CLOSE c
--> d.x <- t.a IDENTITY

-- case: no semicolon before FETCH
INSERT INTO d (x) SELECT a FROM t
FETCH NEXT FROM c INTO @a
--> d.x <- t.a IDENTITY
--! APPROXIMATE_LINEAGE

-- case: no semicolon before USE
INSERT INTO d (x) SELECT a FROM t
USE other
--> d.x <- t.a IDENTITY

-- case: no semicolon before GRANT
INSERT INTO d (x) SELECT a FROM t
GRANT SELECT ON d TO x
--> d.x <- t.a IDENTITY

-- case: statements on one line
DECLARE @a INT SELECT @a = b FROM t UPDATE d SET x = @a WHERE k = 1 SELECT c FROM u
--> a <- t.b IDENTITY
--> d.x <- t.b IDENTITY
--> d.* | d.k FILTER
--> c <- u.c IDENTITY

-- case: a label and a jump
INSERT INTO d (x) SELECT a FROM t
done:
DELETE FROM e WHERE k = 1
GOTO done
--> d.x <- t.a IDENTITY
--> e.* | e.k FILTER

-- case: a branch on one statement
IF EXISTS (SELECT 1 FROM c WHERE k = 1)
  INSERT INTO d (x) SELECT a FROM t
ELSE
  UPDATE d SET x = 0 FROM d JOIN u ON d.k = u.k
--> condition | c.k FILTER
--> d.x <- t.a IDENTITY
--> d.x
--> d.* | d.k JOIN, u.k JOIN

-- case: insert of what a procedure returns
INSERT INTO d (x) EXEC dbo.p 1
SELECT a FROM t
--! APPROXIMATE_LINEAGE
--> a <- t.a IDENTITY

-- case: a batch separator
INSERT INTO d (x) SELECT a FROM t
GO
CREATE VIEW v AS WITH c AS (SELECT a FROM t) SELECT a FROM c
GO 2
SELECT b FROM u
--> d.x <- t.a IDENTITY
--> v.a <- t.a IDENTITY
--> b <- u.b IDENTITY

-- case: what cannot be parsed keeps its tables
INSERT INTO d (x) SELECT a FROM t JOIN u ON t.id = u.id WHERE ((a = ;
--> d <- t, u
--! PARSE_ERROR

-- case: output of a delete into a table of another schema
DELETE arc.live OUTPUT deleted.id, deleted.v, 1 INTO arc.[gone rows] (id, v, n) WHERE k = 1;
--> arc.live.* | arc.live.k FILTER
--> arc.gone rows.id <- arc.live.id IDENTITY
--> arc.gone rows.v <- arc.live.v IDENTITY
--> arc.gone rows.n
--> arc.gone rows.* | arc.live.k FILTER

-- case: the target again in FROM, by its name
UPDATE etl.[Cut Off] SET at = (SELECT at FROM etl.log WHERE k = 1) FROM etl.[Cut Off] WHERE [Table Name] = N'City';
--> etl.Cut Off.at <- etl.log.at IDENTITY | etl.log.k FILTER
--> etl.Cut Off.* | etl.Cut Off.Table Name FILTER

-- case: the target again in FROM, under an alias
UPDATE etl.cut SET at = l.at FROM etl.cut AS c JOIN etl.log AS l ON l.k = c.k WHERE c.name = N'City';
--> etl.cut.at <- etl.log.at IDENTITY
--> etl.cut.* | etl.cut.name FILTER, etl.log.k JOIN, etl.cut.k JOIN

-- case: a delete whose target is joined under an alias
DELETE FROM etl.cut FROM etl.cut AS c JOIN etl.log AS l ON l.k = c.k;
--> etl.cut.* | etl.log.k JOIN, etl.cut.k JOIN

-- case: a table with system versions, masked and hidden columns
CREATE TABLE app.city (
    id int NOT NULL,
    mail nvarchar(20) MASKED WITH (FUNCTION = 'default()') NULL,
    since datetime2 (7) GENERATED ALWAYS AS ROW START HIDDEN NOT NULL,
    till datetime2 (7) GENERATED ALWAYS AS ROW END NOT NULL,
    PERIOD FOR SYSTEM_TIME (since, till)
) WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = app.city_archive));
GO
SELECT * INTO kept FROM app.city;
--> kept.id <- app.city.id IDENTITY
--> kept.mail <- app.city.mail IDENTITY
--> kept.since <- app.city.since IDENTITY
--> kept.till <- app.city.till IDENTITY

-- case: a natively compiled procedure
CREATE PROCEDURE app.p WITH NATIVE_COMPILATION, SCHEMABINDING AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'English')
INSERT INTO app.t (x) SELECT x FROM app.s;
END
--> app.t.x <- app.s.x IDENTITY

-- case: a system procedure that moves no rows
EXECUTE sys.sp_addextendedproperty @name = N'Description', @value = 'x', @level0type = N'SCHEMA', @level0name = N'app';


-- case: the unit of a bucket of dates is no column
SELECT DATE_BUCKET(WEEK, 1, at, origin) AS w FROM visits;
--> w <- visits.at TRANSFORMATION, visits.origin TRANSFORMATION

-- case: a column with the name of a variable
DECLARE @id INT = (SELECT max(k) FROM keys), @z INT;
SELECT @z = id FROM people WHERE id > 3;
INSERT INTO d (a) SELECT @z;
--> id <- keys.k AGGREGATION
--> z <- people.id IDENTITY | people.id FILTER
--> d.a <- people.id IDENTITY | people.id FILTER
