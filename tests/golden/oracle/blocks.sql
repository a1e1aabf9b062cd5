-- schema: t(a, b, c), u(x, y), dst(p, q)

-- case: assignment in a block
BEGIN
  v := 1;
  INSERT INTO dst (p) SELECT a FROM t;
END;
--> dst.p <- t.a IDENTITY

-- case: an assigned query flows on
DECLARE
  v NUMBER;
BEGIN
  v := (SELECT MAX(x) FROM u);
  UPDATE dst SET q = v WHERE p = 1;
END;
--> v <- u.x AGGREGATION
--> dst.q <- u.x AGGREGATION
--> dst.* | dst.p FILTER

-- case: calls are opaque
BEGIN
  pkg.load_all(1);
  DELETE FROM dst WHERE p = 1;
END;
--> dst.* | dst.p FILTER
--! UNSUPPORTED_STATEMENT

-- case: cursor loop
BEGIN
  OPEN c FOR SELECT a FROM t WHERE b = 1;
  LOOP
    FETCH c INTO v;
    EXIT WHEN c%NOTFOUND;
    INSERT INTO dst (p) VALUES (v);
  END LOOP;
  CLOSE c;
END;
--> a <- t.a IDENTITY
--> * | t.b FILTER
--> v <- t.a IDENTITY | t.b FILTER
--> dst.p <- t.a IDENTITY | t.b FILTER

-- case: nested blocks and exceptions
BEGIN
  BEGIN
    INSERT INTO dst (p) SELECT a FROM t;
  EXCEPTION
    WHEN OTHERS THEN
      NULL;
  END;
  COMMIT;
END;
--> dst.p <- t.a IDENTITY

-- case: if elsif else
BEGIN
  IF v > 1 THEN
    INSERT INTO dst (p) SELECT a FROM t;
  ELSIF v > 0 THEN
    INSERT INTO dst (p) SELECT b FROM t;
  ELSE
    INSERT INTO dst (q) SELECT c FROM t;
  END IF;
END;
--> dst.p <- t.a IDENTITY
--> dst.p <- t.b IDENTITY
--> dst.q <- t.c IDENTITY

-- case: a condition that calls a function named like a statement
BEGIN
  IF REPLACE(v, 'x', 'y') = 'z' THEN
    INSERT INTO dst (p) SELECT a FROM t;
  END IF;
END;
--> dst.p <- t.a IDENTITY

-- case: the procedures of a package body, and a call of one
CREATE OR REPLACE PACKAGE BODY etl.loader AS
  g_top NUMBER := 0;
  PROCEDURE announced (p_day NUMBER);
  PROCEDURE load_all (p_day IN NUMBER) IS
    v_max NUMBER;
  BEGIN
    SELECT MAX(x) INTO v_max FROM u;
    IF v_max > 1 THEN
      INSERT INTO dst (p, q) SELECT a, v_max FROM t WHERE b = p_day;
    END IF;
  END load_all;
  FUNCTION how_many RETURN NUMBER IS
    n NUMBER;
  BEGIN
    SELECT COUNT(c) INTO n FROM t;
    RETURN n;
  END;
  PROCEDURE tidy AS
  BEGIN
    DELETE FROM dst WHERE q IS NULL;
  END tidy;
BEGIN
  UPDATE dst SET q = 0;
END loader;
/
BEGIN
  loader.tidy;
END;
/
--> v_max <- u.x AGGREGATION
--> dst.p <- t.a IDENTITY
--> dst.q <- u.x AGGREGATION
--> dst.* | t.b FILTER
--> n <- t.c AGGREGATION masked
--> dst.* | dst.q FILTER
--> dst.q
--> dst.* | dst.q FILTER

-- case: the specification of a package has no statements
CREATE PACKAGE loader IS
  c_top CONSTANT NUMBER := 3;
  PROCEDURE load_all (p_day NUMBER);
  FUNCTION how_many RETURN NUMBER;
END loader;
/
INSERT INTO dst (p) SELECT a FROM t;
--> dst.p <- t.a IDENTITY

-- case: packages that have a procedure of the same name
CREATE PACKAGE BODY one AS
  PROCEDURE go IS BEGIN INSERT INTO dst (p) SELECT a FROM t; END;
END one;
/
CREATE PACKAGE BODY two AS
  PROCEDURE go IS BEGIN INSERT INTO dst (q) SELECT b FROM t; END;
END two;
/
BEGIN one.go; END;
/
--> dst.p <- t.a IDENTITY
--> dst.q <- t.b IDENTITY
--> dst.p <- t.a IDENTITY
