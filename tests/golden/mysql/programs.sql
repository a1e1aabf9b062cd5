-- Executed strings, cursors, triggers and procedures that call each other.

-- case: a prepared string is executed
SET @tab = 't';
SET @s = CONCAT('INSERT INTO d (x) SELECT a FROM ', @tab, ' WHERE k = ?');
SET @k = (SELECT MAX(z) FROM u);
PREPARE st FROM @s;
EXECUTE st USING @k;
DEALLOCATE PREPARE st;
--> k <- u.z AGGREGATION
--> d.x <- t.a IDENTITY
--> d.* | t.k FILTER, u.z FILTER

-- case: a cursor in a procedure
DELIMITER //
CREATE PROCEDURE p()
BEGIN
  DECLARE done INT DEFAULT 0;
  DECLARE x, y INT;
  DECLARE c CURSOR FOR SELECT a, b FROM t;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = 1;
  OPEN c;
  again: LOOP
    FETCH c INTO x, y;
    IF done THEN LEAVE again; END IF;
    INSERT INTO d (p, q) VALUES (x, y);
  END LOOP;
  CLOSE c;
END//
DELIMITER ;
--> a <- t.a IDENTITY
--> b <- t.b IDENTITY
--> x <- t.a IDENTITY
--> y <- t.b IDENTITY
--> d.p <- t.a IDENTITY
--> d.q <- t.b IDENTITY

-- case: triggers
DELIMITER //
CREATE TRIGGER one AFTER UPDATE ON t FOR EACH ROW
BEGIN
  INSERT INTO audit (id, old) VALUES (NEW.id, OLD.v);
END//
DELIMITER ;
CREATE TRIGGER two BEFORE INSERT ON t FOR EACH ROW SET NEW.total = NEW.price * NEW.qty, NEW.name = NEW.title;
INSERT INTO d (x) SELECT a FROM b;
--> audit.id <- t.id IDENTITY
--> audit.old <- t.v IDENTITY
--> t.total <- t.price TRANSFORMATION, t.qty TRANSFORMATION
--> t.name <- t.title IDENTITY
--> d.x <- b.a IDENTITY

-- case: a procedure is called
CREATE PROCEDURE put(IN a INT) BEGIN INSERT INTO d (x) VALUES (a); END;
SET @v = (SELECT MAX(k) FROM t);
CALL put(@v);
--> d.x
--> v <- t.k AGGREGATION
--> d.x <- t.k AGGREGATION

-- case: procedures of the same name in two schemas
CREATE PROCEDURE early.fill() BEGIN INSERT INTO d (x) SELECT a FROM t; END;
CREATE PROCEDURE late.fill() BEGIN INSERT INTO d (y) SELECT b FROM t; END;
CALL early.fill();
CALL other.fill();
--> d.x <- t.a IDENTITY
--> d.y <- t.b IDENTITY
--> d.x <- t.a IDENTITY
--! UNSUPPORTED_STATEMENT

-- case: a string that grows in a loop
CREATE PROCEDURE p()
BEGIN
  DECLARE n INT DEFAULT 0;
  SET @s = 'INSERT INTO found SELECT a FROM letters WHERE 1 = 0';
  WHILE n < 9 DO
    SET @s = CONCAT(@s, ' OR k = ', n);
    SET n = n + 1;
  END WHILE;
  PREPARE st FROM @s;
  EXECUTE st;
END;
--> found.a <- letters.a IDENTITY
--> found.* | letters.k FILTER
--! APPROXIMATE_LINEAGE
--> found.a <- letters.a IDENTITY

-- case: INTO at the end of a query fills variables
CREATE PROCEDURE p(OUT n INT) BEGIN
  DECLARE m INT;
  SELECT a, b FROM t WHERE c = 1 INTO n, m;
  SELECT e FROM u LIMIT 1 INTO @z FOR UPDATE;
  INSERT INTO d (x, y, z) VALUES (n, m, @z);
END;
--> n <- t.a IDENTITY | t.c FILTER
--> m <- t.b IDENTITY | t.c FILTER
--> z <- u.e IDENTITY
--> d.x <- t.a IDENTITY | t.c FILTER
--> d.y <- t.b IDENTITY | t.c FILTER
--> d.z <- u.e IDENTITY

-- case: REPLACE in a branch, and without INTO
CREATE PROCEDURE p() BEGIN
  IF k > 1 THEN REPLACE INTO d (x) SELECT a FROM t; END IF;
  REPLACE d (x) SELECT b FROM t;
END;
--> d.x <- t.a IDENTITY
--> d.x <- t.b IDENTITY

-- case: a function in steps gives what its variable was made of
CREATE FUNCTION spent(who INT) RETURNS INT READS SQL DATA BEGIN DECLARE s INT; SELECT SUM(o.amount) INTO s FROM orders o WHERE o.customer = who; RETURN s; END;
INSERT INTO best SELECT c.id, spent(c.id) AS spent FROM customers c;
--> s <- orders.amount AGGREGATION | orders.customer FILTER
--> best.id <- customers.id IDENTITY
--> best.spent <- orders.amount AGGREGATION | orders.customer FILTER, customers.id FILTER
