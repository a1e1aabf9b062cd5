-- Triggers.

-- case: a trigger reads the new and the old row
CREATE TRIGGER trg AFTER UPDATE ON t WHEN new.v > 0
BEGIN
  INSERT INTO audit (id, old) VALUES (new.id, old.v);
  UPDATE u SET n = n + new.v WHERE id = new.uid;
END;
INSERT INTO d (x) SELECT a FROM b;
--> audit.id <- t.id IDENTITY
--> audit.old <- t.v IDENTITY
--> u.n <- u.n TRANSFORMATION, t.v TRANSFORMATION
--> u.* | u.id FILTER, t.uid FILTER
--> d.x <- b.a IDENTITY
