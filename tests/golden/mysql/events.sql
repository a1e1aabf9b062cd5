-- Events run statements.
-- schema: t(a, b), d(a, b)

-- case: one statement
CREATE DEFINER = `root`@`localhost` EVENT IF NOT EXISTS e ON SCHEDULE EVERY 1 DAY STARTS '2026-01-01' DO INSERT INTO d (a) SELECT b FROM t;
--> d.a <- t.b IDENTITY

-- case: a block
DELIMITER //
CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO BEGIN
  INSERT INTO d (a) SELECT b FROM t;
  DELETE FROM d WHERE a = 1;
END //
DELIMITER ;
--> d.a <- t.b IDENTITY
--> d.* | d.a FILTER
