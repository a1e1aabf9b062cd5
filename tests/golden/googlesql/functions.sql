-- Table functions.
-- schema: d.t(a INT64, b INT64), d.o(i INT64)

-- case: a table function
CREATE TABLE FUNCTION d.f(x INT64) AS SELECT a AS k FROM d.t WHERE b = x;
CREATE TABLE d.z AS SELECT k FROM d.f((SELECT MAX(i) FROM d.o));
--> d.z.k <- d.t.a IDENTITY
--> d.z.* | d.t.b FILTER, d.o.i FILTER

-- case: a table function over a table that is not known
CREATE TABLE FUNCTION d.f(x INT64) RETURNS TABLE<k INT64> AS (SELECT a AS k FROM d.missing WHERE b = x);
SELECT k FROM d.f(3);
--! UNKNOWN_TABLE
--> k <- d.missing.a IDENTITY
--> * | d.missing.b FILTER
--! APPROXIMATE_LINEAGE
--! UNKNOWN_TABLE
