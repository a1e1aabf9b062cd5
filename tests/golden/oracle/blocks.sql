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
