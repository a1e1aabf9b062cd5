-- schema: cat.s.t(a, b, v), cat.s.u(x, y), cat.s.dst(p, q)

-- case: three part names
INSERT INTO cat.s.dst SELECT a, b FROM cat.s.t;
--> cat.s.dst.p <- cat.s.t.a IDENTITY
--> cat.s.dst.q <- cat.s.t.b IDENTITY

-- case: variant path
SELECT v:owner.name::string AS n FROM cat.s.t;
--> n <- cat.s.t.v.owner.name TRANSFORMATION

-- case: star except
SELECT * EXCEPT (v) FROM cat.s.t;
--> a <- cat.s.t.a IDENTITY
--> b <- cat.s.t.b IDENTITY

-- case: qualify
SELECT a FROM cat.s.t QUALIFY row_number() OVER (PARTITION BY a ORDER BY b) = 1;
--> a <- cat.s.t.a IDENTITY
--> * | cat.s.t.a FILTER, cat.s.t.b FILTER

-- case: time travel
SELECT a FROM cat.s.t VERSION AS OF 3;
--> a <- cat.s.t.a IDENTITY

-- case: shallow clone
CREATE TABLE cat.s.n SHALLOW CLONE cat.s.u;
--> cat.s.n.x <- cat.s.u.x IDENTITY
--> cat.s.n.y <- cat.s.u.y IDENTITY

-- case: streaming table
CREATE OR REFRESH STREAMING TABLE cat.s.st AS SELECT x FROM STREAM(cat.s.u);
--> cat.s.st.x <- cat.s.u.x IDENTITY

-- case: merge with schema
MERGE INTO cat.s.dst AS d USING cat.s.u AS u ON d.p = u.x WHEN MATCHED THEN UPDATE SET d.q = u.y WHEN NOT MATCHED BY SOURCE THEN DELETE;
--> cat.s.dst.q <- cat.s.u.y IDENTITY
--> cat.s.dst.* | cat.s.dst.p MERGE, cat.s.u.x MERGE

-- case: use catalog and schema
USE CATALOG cat;
USE SCHEMA s;
SELECT x FROM u;
--> x <- cat.s.u.x IDENTITY

-- case: lateral column alias in databricks
SELECT a AS k, k || b AS l FROM cat.s.t;
--> k <- cat.s.t.a IDENTITY
--> l <- cat.s.t.a TRANSFORMATION, cat.s.t.b TRANSFORMATION

-- case: explode of a variant path
SELECT e.value:sku AS sku FROM cat.s.t, LATERAL variant_explode(v:items) AS e;
--> sku <- cat.s.t.v.items[].sku IDENTITY
--> * | cat.s.t.v.items JOIN

-- case: insert replace where
INSERT INTO cat.s.dst REPLACE WHERE p = 1 SELECT x, y FROM cat.s.u;
--> cat.s.dst.p <- cat.s.u.x IDENTITY
--> cat.s.dst.q <- cat.s.u.y IDENTITY

-- case: copy into
COPY INTO cat.s.dst FROM '/mnt/in' FILEFORMAT = CSV;
--> cat.s.dst.* <- /mnt/in.* IDENTITY ?

-- case: insert star ignores what the target does not have
MERGE INTO cat.s.u d USING (SELECT a AS x, b AS y, v FROM cat.s.t) s ON d.x = s.x WHEN NOT MATCHED THEN INSERT *;
--> cat.s.u.x <- cat.s.t.a IDENTITY
--> cat.s.u.y <- cat.s.t.b IDENTITY
--> cat.s.u.* | cat.s.u.x MERGE, cat.s.t.a MERGE
