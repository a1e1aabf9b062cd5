-- Shapes of scripts that others write.

-- case: titles
SELECT a (TITLE 'x'), b FROM t;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY

-- case: commands of BTEQ
.LOGON x/y,z
.SET WIDTH 100
INSERT INTO d SELECT a FROM t;
.IF ERRORCODE <> 0 THEN .QUIT 8
INSERT INTO e SELECT b FROM u;
.QUIT
--> d.a <- t.a IDENTITY
--> e.b <- u.b IDENTITY
