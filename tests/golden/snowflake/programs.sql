-- Executed strings and cursors.

-- case: a computed string is executed
DECLARE
  tab STRING DEFAULT 't';
  s STRING;
BEGIN
  s := 'INSERT INTO d (x) SELECT a FROM ' || tab;
  EXECUTE IMMEDIATE :s;
END;
--> d.x <- t.a IDENTITY

-- case: arguments and a result set
BEGIN
  LET v INT := (SELECT MAX(z) FROM u);
  LET rs RESULTSET := (EXECUTE IMMEDIATE 'SELECT a FROM t WHERE k = ?' USING (v));
END;
--> v <- u.z AGGREGATION
--> a <- t.a IDENTITY
--> * | t.k FILTER, u.z FILTER

-- case: cursors
DECLARE
  x INT;
  y INT;
  c1 CURSOR FOR SELECT a FROM t;
BEGIN
  LET c2 CURSOR FOR SELECT a, b FROM u;
  OPEN c1;
  FETCH c1 INTO x;
  INSERT INTO d (p) VALUES (:x);
  OPEN c2;
  FETCH c2 INTO x, y;
  INSERT INTO e (p, q) VALUES (:x, :y);
  FOR r IN c2 DO
    INSERT INTO g (p) VALUES (r.b);
  END FOR;
END;
--> a <- t.a IDENTITY
--> a <- u.a IDENTITY
--> b <- u.b IDENTITY
--> x <- t.a IDENTITY
--> d.p <- t.a IDENTITY
--> x <- u.a IDENTITY
--> y <- u.b IDENTITY
--> e.p <- u.a IDENTITY
--> e.q <- u.b IDENTITY
--> r.a <- u.a IDENTITY
--> r.b <- u.b IDENTITY
--> g.p <- u.b IDENTITY

-- case: a column with the name of a variable
CREATE PROCEDURE load(id INT) RETURNS INT LANGUAGE SQL AS $$
DECLARE price INT;
BEGIN
  SELECT max(cost) INTO :price FROM costs WHERE id = :id;
  INSERT INTO d SELECT price, id FROM goods WHERE k > :price;
END $$;
--> price <- costs.cost AGGREGATION | costs.id FILTER
--> d.price <- goods.price IDENTITY
--> d.id <- goods.id IDENTITY
--> d.* | goods.k FILTER, costs.cost FILTER, costs.id FILTER
