-- Files: one dataset, however its path is spelt.

-- case: out and in
INSERT INTO FUNCTION file('./x.csv') SELECT a FROM t;
SELECT a FROM file('x.csv');
--> x.csv.a <- t.a IDENTITY
--> a <- x.csv.a IDENTITY
