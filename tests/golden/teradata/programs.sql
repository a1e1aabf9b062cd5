-- Executed strings and cursors.

-- case: a string is executed by a call
CALL DBC.SysExecSQL('INSERT INTO d (x) SELECT a FROM ' || 't');
--> d.x <- t.a IDENTITY

-- case: a cursor in a procedure
REPLACE PROCEDURE p ()
BEGIN
  DECLARE x INTEGER;
  DECLARE c CURSOR FOR SELECT a, b FROM t;
  OPEN c;
  FETCH c INTO x, y;
  INSERT INTO d (p, q) VALUES (:x, :y);
  CLOSE c;
END;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> x <- t.a IDENTITY
--> y <- t.b IDENTITY
--> d.p <- t.a IDENTITY
--> d.q <- t.b IDENTITY
