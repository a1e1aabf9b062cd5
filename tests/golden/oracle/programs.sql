-- Executed strings, cursors, triggers and procedures that call each other.

-- case: a computed string is executed
DECLARE
  v_tab VARCHAR2(30) := 't';
  v_sql VARCHAR2(4000);
BEGIN
  v_sql := 'INSERT INTO d (x) SELECT a FROM ' || v_tab || CHR(10);
  EXECUTE IMMEDIATE v_sql;
END;
--> d.x <- t.a IDENTITY

-- case: arguments are bound by place
DECLARE
  v NUMBER;
BEGIN
  SELECT MAX(z) INTO v FROM u;
  EXECUTE IMMEDIATE 'INSERT INTO d (x, y) SELECT a, :1 FROM t WHERE k = :2' USING v, 5;
END;
--> v <- u.z AGGREGATION
--> d.x <- t.a IDENTITY
--> d.y <- u.z AGGREGATION
--> d.* | t.k FILTER

-- case: a row is given back
DECLARE
  v NUMBER;
  w NUMBER;
BEGIN
  EXECUTE IMMEDIATE 'SELECT a, b FROM ' || 't' INTO v, w;
  INSERT INTO d (x, y) VALUES (v, w);
END;
--> v <- t.a IDENTITY
--> w <- t.b IDENTITY
--> d.x <- t.a IDENTITY
--> d.y <- t.b IDENTITY

-- case: a block is executed
BEGIN
  EXECUTE IMMEDIATE q'[BEGIN INSERT INTO d (x) SELECT a FROM t; DELETE FROM e WHERE k = 1; END;]';
END;
--> d.x <- t.a IDENTITY
--> e.* | e.k FILTER

-- case: the table is a parameter
CREATE PROCEDURE p (tab IN VARCHAR2) IS
BEGIN
  EXECUTE IMMEDIATE 'TRUNCATE TABLE ' || tab;
  EXECUTE IMMEDIATE 'INSERT INTO d (x) SELECT a FROM ' || DBMS_ASSERT.SIMPLE_SQL_NAME(tab);
END;
--! UNSUPPORTED_STATEMENT
--! UNSUPPORTED_STATEMENT

-- case: a cursor into variables and records
DECLARE
  CURSOR c (k NUMBER) IS SELECT a, b FROM t WHERE z = k;
  r c%ROWTYPE;
  v NUMBER;
  w NUMBER;
BEGIN
  OPEN c (1);
  FETCH c INTO r;
  INSERT INTO d (x, y) VALUES (r.a, r.b);
  FETCH c INTO v, w;
  INSERT INTO e (x, y) VALUES (v, w);
  CLOSE c;
END;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> * | t.z FILTER
--> d.x <- t.a IDENTITY | t.z FILTER
--> d.y <- t.b IDENTITY | t.z FILTER
--> v <- t.a IDENTITY | t.z FILTER
--> w <- t.b IDENTITY | t.z FILTER
--> e.x <- t.a IDENTITY | t.z FILTER
--> e.y <- t.b IDENTITY | t.z FILTER

-- case: a cursor is opened for a query and for a string
DECLARE
  rc SYS_REFCURSOR;
  v NUMBER;
BEGIN
  OPEN rc FOR SELECT a FROM t;
  FETCH rc INTO v;
  INSERT INTO d (x) VALUES (v);
  OPEN rc FOR 'SELECT b FROM ' || 'u';
  FETCH rc INTO v;
  INSERT INTO e (x) VALUES (v);
END;
--> a <- t.a IDENTITY
--> v <- t.a IDENTITY
--> d.x <- t.a IDENTITY
--> b <- u.b IDENTITY
--> v <- u.b IDENTITY
--> e.x <- u.b IDENTITY

-- case: rows are collected
DECLARE
  CURSOR c IS SELECT a, b FROM t;
  TYPE rows_t IS TABLE OF c%ROWTYPE;
  got rows_t;
  xs num_t;
BEGIN
  OPEN c;
  FETCH c BULK COLLECT INTO got LIMIT 100;
  FORALL i IN 1..got.COUNT
    INSERT INTO d (x, y) VALUES (got(i).a, got(i).b);
  SELECT k BULK COLLECT INTO xs FROM u;
  FORALL i IN 1..xs.COUNT
    INSERT INTO e (x) VALUES (xs(i));
END;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> d.x <- t.a IDENTITY
--> d.y <- t.b IDENTITY
--> xs <- u.k IDENTITY
--> e.x <- u.k IDENTITY

-- case: a whole row into a record
DECLARE
  r t%ROWTYPE;
BEGIN
  SELECT * INTO r FROM t WHERE id = 1;
  INSERT INTO d (x) VALUES (r.a);
END;
--> id <- t.id IDENTITY ?
--> * <- t.* IDENTITY ? | t.id FILTER
--! APPROXIMATE_LINEAGE
--> d.x <- t.a IDENTITY | t.id FILTER
--! APPROXIMATE_LINEAGE

-- case: a trigger
CREATE OR REPLACE TRIGGER trg BEFORE INSERT OR UPDATE ON s.t FOR EACH ROW
DECLARE
  v NUMBER;
BEGIN
  INSERT INTO audit (id, old) VALUES (:NEW.id, :OLD.x);
  :NEW.total := :NEW.price * :NEW.qty;
  SELECT rate INTO :NEW.rate FROM rates WHERE k = :NEW.k;
  IF :NEW.x IS NULL THEN
    :NEW.x := v;
  END IF;
END;
/
INSERT INTO d (x) SELECT a FROM b;
--> audit.id <- s.t.id IDENTITY
--> audit.old <- s.t.x IDENTITY
--> s.t.total <- s.t.price TRANSFORMATION, s.t.qty TRANSFORMATION
--> s.t.rate <- rates.rate IDENTITY | rates.k FILTER, s.t.k FILTER
--> s.t.x
--> d.x <- b.a IDENTITY

-- case: a procedure is called with what was read
CREATE PROCEDURE put (p_id IN NUMBER, p_most OUT NUMBER) IS
BEGIN
  INSERT INTO d (x) VALUES (p_id);
  SELECT MAX(q) INTO p_most FROM u;
END;
/
DECLARE
  v NUMBER;
  w NUMBER;
BEGIN
  SELECT a INTO v FROM t;
  put(v, p_most => w);
  INSERT INTO e (y) VALUES (w);
END;
/
--> d.x
--> p_most <- u.q AGGREGATION
--> v <- t.a IDENTITY
--> d.x <- t.a IDENTITY
--> p_most <- u.q AGGREGATION
--> e.y <- u.q AGGREGATION

-- case: an argument that depends on a parameter of the caller
CREATE PACKAGE BODY pk AS
  PROCEDURE note(p_doc VARCHAR2) IS BEGIN
    INSERT INTO log (a) SELECT code FROM papers WHERE doc = p_doc;
  END;
  PROCEDURE run(flow NUMBER) IS d VARCHAR2(9); BEGIN
    SELECT title INTO d FROM flows WHERE flow_id = flow;
    note(d);
  END;
END pk;
/
--> log.a <- papers.code IDENTITY
--> log.* | papers.doc FILTER
--> d <- flows.title IDENTITY | flows.flow_id FILTER
--> log.a <- papers.code IDENTITY
--> log.* | papers.doc FILTER, flows.title FILTER, flows.flow_id FILTER

-- case: a function with declarations and a function inside it
CREATE OR REPLACE EDITIONABLE PACKAGE BODY "S"."PK" AS
  FUNCTION best(kind IN NUMBER) RETURN NUMBER IS
    top NUMBER;
    FUNCTION of_year(y NUMBER) RETURN NUMBER IS found NUMBER; BEGIN
      SELECT max(points) INTO found FROM years WHERE year = y;
      RETURN found;
    END of_year;
    rest NUMBER;
  BEGIN
    SELECT max(points) INTO top FROM games WHERE game_kind = kind;
    RETURN top;
  END best;
  FUNCTION worst(level IN NUMBER) RETURN NUMBER IS BEGIN
    DELETE FROM games WHERE game_level = level AND kind = 1;
    RETURN 0;
  END worst;
END;
/
--> found <- years.points AGGREGATION | years.year FILTER
--> top <- games.points AGGREGATION | games.game_kind FILTER
--> games.* | games.game_level FILTER, games.kind FILTER

-- case: elements of a collection
DECLARE
  TYPE numbers IS TABLE OF NUMBER;
  many numbers;
BEGIN
  many.EXTEND;
  many(many.LAST) := (SELECT max(points) FROM games);
  INSERT INTO d (v) VALUES (many(1));
END;
/
--> many <- games.points AGGREGATION
--> d.v <- games.points AGGREGATION

-- case: a name of a table that a loop changes
DECLARE
  t VARCHAR2(20) := 'first_table';
BEGIN
  FOR i IN 1 .. 3 LOOP
    EXECUTE IMMEDIATE 'INSERT INTO d SELECT v FROM ' || t;
    t := 'second_table';
  END LOOP;
END;
/
--! UNSUPPORTED_STATEMENT
