-- Shapes of scripts that others write.

-- case: another delimiter
DELIMITER //
CREATE PROCEDURE p() BEGIN INSERT INTO d SELECT a FROM t; UPDATE d SET b = 1; END//
DELIMITER ;
INSERT INTO e SELECT c FROM f;
--> d.a <- t.a IDENTITY
--> d.b
--> e.c <- f.c IDENTITY

-- case: a file into a table
LOAD DATA LOCAL INFILE '/tmp/x.csv' INTO TABLE s.t FIELDS TERMINATED BY ',';
--> s.t.* <- /tmp/x.csv.* IDENTITY ?

-- case: columns of the source in an update of duplicates
INSERT INTO d (id, c2) SELECT a.id, a.k FROM a ON DUPLICATE KEY UPDATE c2 = a.k;
--> d.id <- a.id IDENTITY
--> d.c2 <- a.k IDENTITY
