-- Executed strings, cursors, triggers.

-- case: a formatted string is executed
DO $$
DECLARE
  tab text := 'Src';
  k int;
BEGIN
  SELECT max(z) INTO k FROM u;
  EXECUTE format('INSERT INTO %I (x, y) SELECT a, $1 FROM %2$I', 'd', tab) USING k;
END $$;
--> k <- u.z AGGREGATION
--> d.x <- Src.a IDENTITY
--> d.y <- u.z AGGREGATION

-- case: joined parts, and a value in quotes that is not known
CREATE FUNCTION f(path text) RETURNS void AS $$
BEGIN
  EXECUTE 'INSERT INTO d (x) SELECT a FROM ' || quote_ident('t') || ' WHERE p = ' || quote_literal(path);
END $$ LANGUAGE plpgsql;
--> d.x <- t.a IDENTITY
--> d.* | t.p FILTER

-- case: the table is a parameter
CREATE FUNCTION f(tab text) RETURNS void AS $$
BEGIN
  EXECUTE format('INSERT INTO d (x) SELECT a FROM %I', tab);
END $$ LANGUAGE plpgsql;
--! UNSUPPORTED_STATEMENT

-- case: a statement without lineage may have unknown parts
CREATE FUNCTION f(n int) RETURNS void AS $$
BEGIN
  EXECUTE 'CREATE SEQUENCE s START WITH ' || n || ' CACHE 20';
END $$ LANGUAGE plpgsql;


-- case: rows of a string
CREATE FUNCTION f() RETURNS SETOF int AS $$
DECLARE
  r record;
  v int;
BEGIN
  FOR r IN EXECUTE 'SELECT a FROM t' LOOP
    INSERT INTO d (x) VALUES (r.a);
  END LOOP;
  EXECUTE 'SELECT b FROM t' INTO v;
  INSERT INTO e (x) VALUES (v);
  RETURN QUERY EXECUTE 'SELECT c FROM t';
END $$ LANGUAGE plpgsql;
--> a <- t.a IDENTITY
--> d.x <- t.a IDENTITY
--> v <- t.b IDENTITY
--> e.x <- t.b IDENTITY
--> c <- t.c IDENTITY

-- case: cursors, bound and unbound
DO $$
DECLARE
  c CURSOR FOR SELECT a, b FROM t;
  u refcursor;
  x int;
  y int;
  r record;
BEGIN
  OPEN c;
  FETCH c INTO x, y;
  INSERT INTO d (p, q) VALUES (x, y);
  OPEN u FOR SELECT * FROM w;
  FETCH NEXT FROM u INTO r;
  INSERT INTO e (p) VALUES (r.m);
  OPEN u FOR EXECUTE 'SELECT n FROM v';
  FETCH u INTO x;
  INSERT INTO g (p) VALUES (x);
END $$;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> x <- t.a IDENTITY
--> y <- t.b IDENTITY
--> d.p <- t.a IDENTITY
--> d.q <- t.b IDENTITY
--> * <- w.* IDENTITY ?
--! APPROXIMATE_LINEAGE
--> e.p <- w.m IDENTITY
--! APPROXIMATE_LINEAGE
--> n <- v.n IDENTITY
--> x <- v.n IDENTITY
--> g.p <- v.n IDENTITY

-- case: a trigger and its function
CREATE FUNCTION keep() RETURNS trigger AS $$
DECLARE
  v int;
BEGIN
  INSERT INTO audit (id, v) VALUES (NEW.id, OLD.v);
  NEW.total := NEW.price * NEW.qty;
  SELECT rate INTO NEW.rate FROM rates WHERE k = NEW.k;
  RETURN NEW;
END $$ LANGUAGE plpgsql;
CREATE TRIGGER keep_t BEFORE INSERT OR UPDATE ON s.t FOR EACH ROW EXECUTE FUNCTION keep();
--> audit.id <- s.t.id IDENTITY
--> audit.v <- s.t.v IDENTITY
--> s.t.total <- s.t.price TRANSFORMATION, s.t.qty TRANSFORMATION
--> s.t.rate <- rates.rate IDENTITY | rates.k FILTER, s.t.k FILTER

-- case: one function for two tables
CREATE FUNCTION log_it() RETURNS trigger AS $$
BEGIN
  INSERT INTO log (id) VALUES (NEW.id);
  RETURN NULL;
END $$ LANGUAGE plpgsql;
CREATE TRIGGER one AFTER INSERT ON t FOR EACH ROW EXECUTE PROCEDURE log_it();
CREATE TRIGGER two AFTER INSERT ON u FOR EACH ROW EXECUTE PROCEDURE log_it();
--> log.id <- t.id IDENTITY
--> log.id <- u.id IDENTITY

-- case: the function comes after the trigger
CREATE TRIGGER one AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION log_it();
CREATE FUNCTION log_it() RETURNS trigger AS $$ BEGIN INSERT INTO log (id) VALUES (NEW.id); RETURN NULL; END $$ LANGUAGE plpgsql;
--> log.id <- t.id IDENTITY

-- case: a function for triggers that none calls
CREATE FUNCTION log_it() RETURNS trigger AS $$ BEGIN INSERT INTO log (id) VALUES (NEW.id); RETURN NULL; END $$ LANGUAGE plpgsql;
--> log.id
--! APPROXIMATE_LINEAGE

-- case: a trigger whose function is not known
CREATE TRIGGER one AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION elsewhere();
--! UNSUPPORTED_STATEMENT

-- case: a table of new rows
CREATE FUNCTION sum_up() RETURNS trigger AS $$ BEGIN INSERT INTO totals (n) SELECT sum(amount) FROM fresh; RETURN NULL; END $$ LANGUAGE plpgsql;
CREATE TRIGGER one AFTER INSERT ON t REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION sum_up();
--> totals.n <- t.amount AGGREGATION

-- case: all columns of the old row
CREATE TABLE t (id int, v int);
CREATE FUNCTION keep() RETURNS trigger AS $$ BEGIN INSERT INTO old_t (id, v) SELECT OLD.*; RETURN OLD; END $$ LANGUAGE plpgsql;
CREATE TRIGGER one BEFORE DELETE ON t FOR EACH ROW EXECUTE FUNCTION keep();
--> old_t.id <- t.id IDENTITY
--> old_t.v <- t.v IDENTITY

-- case: a procedure is called
CREATE PROCEDURE put(p int, tab text DEFAULT 'd') AS $$ BEGIN EXECUTE format('INSERT INTO %I (x) SELECT $1', tab) USING p; END $$ LANGUAGE plpgsql;
DO $$ DECLARE v int; BEGIN SELECT max(a) INTO v FROM t; CALL put(v); CALL put(v, 'e'); END $$;
--! UNSUPPORTED_STATEMENT
--> v <- t.a AGGREGATION
--> d.x <- t.a AGGREGATION
--> e.x <- t.a AGGREGATION

-- case: a cursor of a session
DECLARE c CURSOR FOR SELECT a FROM t;
--> a <- t.a IDENTITY

-- case: statements after a cursor of a session are not lost
DECLARE c CURSOR WITH HOLD FOR SELECT a FROM t;
FETCH 2 FROM c;
UPDATE t SET a = b WHERE CURRENT OF c;
INSERT INTO d (x) SELECT a FROM t WHERE k = 1;
--> a <- t.a IDENTITY
--> t.a <- t.b IDENTITY
--> d.x <- t.a IDENTITY
--> d.* | t.k FILTER

-- case: a prepared statement
PREPARE put (int) AS INSERT INTO d (x) SELECT a FROM t WHERE k = $1;
EXECUTE put (5);
PREPARE TRANSACTION 'one';
--> d.x <- t.a IDENTITY
--> d.* | t.k FILTER
--> d.x <- t.a IDENTITY
--> d.* | t.k FILTER
--! UNSUPPORTED_STATEMENT

-- case: a body in single quotes, with a label
CREATE FUNCTION f() RETURNS int AS '
<<outer>>
DECLARE
BEGIN
  INSERT INTO d (x) SELECT a FROM t WHERE b = ''one'';
  RETURN 1;
END' LANGUAGE plpgsql;
INSERT INTO e (x) SELECT a FROM t WHERE k = 1;
--> d.x <- t.a IDENTITY
--> d.* | t.b FILTER
--> e.x <- t.a IDENTITY
--> e.* | t.k FILTER

-- case: both arms of a decision give the string
DO $$
DECLARE
  s text;
BEGIN
  IF 1 > 0 THEN
    s := 'a';
  ELSE
    s := 'b';
  END IF;
  EXECUTE format('INSERT INTO d (x) SELECT %I FROM t', s);
END $$;
--> d.x <- t.b IDENTITY
--> d.x <- t.a IDENTITY

-- case: a field of a record that is assigned on its own
DO $$
DECLARE
  r record;
BEGIN
  SELECT a, b INTO r FROM t;
  r.a := (SELECT max(z) FROM u);
  INSERT INTO d (x, y) VALUES (r.a, r.b);
END $$;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> r.a <- u.z AGGREGATION
--> d.x <- u.z AGGREGATION
--> d.y <- t.b IDENTITY

-- case: what RETURNING gives is not followed
DO $$
DECLARE
  v int;
BEGIN
  INSERT INTO d (x) SELECT a FROM t RETURNING id INTO v;
  INSERT INTO e (x) VALUES (v);
END $$;
--> d.x <- t.a IDENTITY
--! APPROXIMATE_LINEAGE
--> e.x

-- case: an option before the declarations
CREATE FUNCTION f() RETURNS void AS $$
#variable_conflict use_column
DECLARE
  x RECORD;
  least INT := 2;
BEGIN
  SELECT * FROM (SELECT a FROM t WHERE b > least) AS q INTO STRICT x;
  INSERT INTO d VALUES (x.a);
END $$ LANGUAGE plpgsql;
--> a <- t.a IDENTITY
--> * | t.b FILTER
--> d.column1 <- t.a IDENTITY | t.b FILTER

-- case: a loop over an array gives its variable what the array was made of
CREATE FUNCTION mark() RETURNS void LANGUAGE plpgsql AS $$
DECLARE code text; codes text[];
BEGIN
  SELECT array_agg(c.code) INTO codes FROM country c;
  FOREACH code IN ARRAY codes LOOP
    INSERT INTO seen (code, n) SELECT code, k.n FROM kept k;
    EXECUTE format('INSERT INTO %I SELECT id FROM kept', code);
  END LOOP;
  INSERT INTO done SELECT id FROM kept;
END $$;
--> codes <- country.code AGGREGATION
--> code <- country.code AGGREGATION
--> seen.code <- country.code AGGREGATION
--> seen.n <- kept.n IDENTITY
--> <result> <- kept
--! UNSUPPORTED_STATEMENT
--> done.id <- kept.id IDENTITY

-- case: a file that is loaded by a string in part unknown is no table
CREATE FUNCTION load(folder text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'COPY kept FROM ''' || folder || '/kept.csv'' delimiter ''|'' csv';
  EXECUTE 'COPY kept (id) FROM PROGRAM ''zcat ' || folder || '/kept.gz'' delimiter ''|'' csv';
  ANALYSE kept;
  EXECUTE 'COPY (SELECT id FROM kept) TO ''' || folder || '/out.csv''';
END $$;
--! UNSUPPORTED_STATEMENT
--! UNSUPPORTED_STATEMENT
--> <result> <- kept
--! UNSUPPORTED_STATEMENT

-- case: a function in steps gives what its variables were made of
CREATE FUNCTION spent(who int) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE s numeric;
BEGIN
  SELECT sum(o.amount) INTO STRICT s FROM orders o WHERE o.customer = who;
  RETURN s;
END $$;
CREATE FUNCTION owed(who int) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE s numeric; p numeric;
BEGIN
  s := spent(who);
  SELECT sum(p.paid) INTO p FROM payments p WHERE p.customer = who;
  s := s - p;
  RETURN s;
END $$;
INSERT INTO best SELECT c.id, spent(c.id) AS spent, owed(c.id) AS owed FROM customers c;
--> s <- orders.amount AGGREGATION | orders.customer FILTER
--> p <- payments.paid AGGREGATION | payments.customer FILTER
--> s <- payments.paid AGGREGATION | payments.customer FILTER
--> best.id <- customers.id IDENTITY
--> best.spent <- orders.amount AGGREGATION | orders.customer FILTER, customers.id FILTER
--> best.owed <- payments.paid AGGREGATION, orders.amount AGGREGATION | orders.customer FILTER, customers.id FILTER, payments.customer FILTER
--! APPROXIMATE_LINEAGE

-- case: a trigger on a table whose name is computed reads none
CREATE FUNCTION log_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO logged (id) VALUES (NEW.id); RETURN NEW; END $$;
DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['a', 'b'] LOOP
    EXECUTE format('CREATE TRIGGER logs AFTER UPDATE ON app.%1$I FOR EACH ROW EXECUTE PROCEDURE log_row()', t);
  END LOOP;
END $$;
--! UNSUPPORTED_STATEMENT
