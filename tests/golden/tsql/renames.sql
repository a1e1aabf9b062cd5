-- Tables and columns that get other names.
-- schema: src(a, b), big(a, b), stage(a, b)

-- case: the procedure that renames
SELECT a, b INTO t_new FROM src;
EXEC sp_rename 'dbo.t_new', 't';
EXEC sp_rename @objname = N'[dbo].[t].[a]', @newname = N'k', @objtype = 'COLUMN';
SELECT * FROM t;
--> t_new.a <- src.a IDENTITY
--> t_new.b <- src.b IDENTITY
--> t.a <- t_new.a IDENTITY
--> t.b <- t_new.b IDENTITY
--> t.k <- t.a IDENTITY
--> k <- t.k IDENTITY
--> b <- t.b IDENTITY

-- case: without EXEC
SELECT a, b INTO t_new FROM src
GO
sp_rename 't_new', 't'
GO
SELECT * FROM t
--> t_new.a <- src.a IDENTITY
--> t_new.b <- src.b IDENTITY
--> t.a <- t_new.a IDENTITY
--> t.b <- t_new.b IDENTITY
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY

-- case: an index is not a table
EXEC sp_rename N'dbo.src.ix_a', N'ix_b', N'INDEX';
SELECT a FROM src;
--> a <- src.a IDENTITY

-- case: a name that is computed
EXEC sp_rename @old, @new;
--! UNSUPPORTED_STATEMENT

-- case: another schema
ALTER SCHEMA archive TRANSFER OBJECT::dbo.src;
SELECT * FROM archive.src;
--> archive.src.a <- src.a IDENTITY
--> archive.src.b <- src.b IDENTITY
--> a <- archive.src.a IDENTITY
--> b <- archive.src.b IDENTITY

-- case: partitions are switched
ALTER TABLE stage SWITCH TO big PARTITION 3;
ALTER TABLE big SWITCH PARTITION 4 TO stage;
--> big.a <- stage.a IDENTITY
--> big.b <- stage.b IDENTITY
--> stage.a <- big.a IDENTITY
--> stage.b <- big.b IDENTITY
