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

-- case: a procedure with a definer knows its parameters
CREATE DEFINER='etl'@'%' PROCEDURE load_day(IN wanted DATE)
BEGIN
  INSERT INTO daily SELECT sku, amount FROM sales WHERE sold_on = wanted;
END;
CREATE VIEW wishes AS SELECT wanted FROM surveys;
--> daily.sku <- sales.sku IDENTITY
--> daily.amount <- sales.amount IDENTITY
--> daily.* | sales.sold_on FILTER
--> wishes.wanted <- surveys.wanted IDENTITY

-- case: variables end with their routine
CREATE PROCEDURE p() BEGIN DECLARE price INT; SELECT max(cost) INTO price FROM costs; END;
CREATE VIEW v AS SELECT price FROM goods;
--> price <- costs.cost AGGREGATION
--> v.price <- goods.price IDENTITY

-- case: several variables in one SET
SET @first = (SELECT min(day) FROM calendar), @last = (SELECT max(day) FROM holidays);
INSERT INTO ranges (a, b) SELECT @first, @last;
--> first <- calendar.day AGGREGATION
--> last <- holidays.day AGGREGATION
--> ranges.a <- calendar.day AGGREGATION
--> ranges.b <- holidays.day AGGREGATION

-- case: a row into user variables
SELECT min(day), max(day) INTO @from, @till FROM calendar WHERE open = 1;
INSERT INTO ranges (a, b) VALUES (@from, @till);
--> from <- calendar.day AGGREGATION | calendar.open FILTER
--> till <- calendar.day AGGREGATION | calendar.open FILTER
--> ranges.a <- calendar.day AGGREGATION | calendar.open FILTER
--> ranges.b <- calendar.day AGGREGATION | calendar.open FILTER

-- case: a variable that a query sets on the way
SELECT @top := max(score) AS best FROM games;
INSERT INTO records (highest) SELECT @top;
--> best <- games.score AGGREGATION
--> records.highest <- games.score AGGREGATION

-- case: rows into a file
SELECT id, total INTO OUTFILE '/tmp/bills.csv' FIELDS TERMINATED BY ',' FROM bills WHERE paid = 0;
--> /tmp/bills.csv.id <- bills.id IDENTITY
--> /tmp/bills.csv.total <- bills.total IDENTITY
--> /tmp/bills.csv.* | bills.paid FILTER

-- case: a table with a column that is called function
CREATE TABLE staff (function VARCHAR(20));
INSERT INTO staff SELECT function FROM applicants;
--> staff.function <- applicants.function IDENTITY
