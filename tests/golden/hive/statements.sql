-- schema: src(id, name, props, ds), dim(id, label), dst(id, label, n)

-- case: lateral view with two columns
SELECT id, k, v FROM src LATERAL VIEW explode(props) p AS k, v;
--> id <- src.id IDENTITY
--> k <- src.props[] IDENTITY
--> v <- src.props[] IDENTITY
--> * | src.props JOIN

-- case: multi insert from a join
FROM (SELECT s.id, d.label FROM src s JOIN dim d ON s.id = d.id) j INSERT OVERWRITE TABLE o1 SELECT j.id INSERT OVERWRITE TABLE o2 SELECT j.label;
--> o1.id <- src.id IDENTITY
--> o1.* | src.id JOIN, dim.id JOIN
--> o2.label <- dim.label IDENTITY
--> o2.* | src.id JOIN, dim.id JOIN

-- case: insert overwrite with partition
INSERT OVERWRITE TABLE dst PARTITION (n = 1) SELECT id, name FROM src WHERE ds = '1';
--> dst.id <- src.id IDENTITY
--> dst.label <- src.name IDENTITY
--> dst.* | src.ds FILTER

-- case: create table stored as
CREATE TABLE o STORED AS ORC AS SELECT id, upper(name) AS up FROM src;
--> o.id <- src.id IDENTITY
--> o.up <- src.name TRANSFORMATION

-- case: load data
LOAD DATA INPATH '/in/x' INTO TABLE dst;
--> dst.* <- /in/x.* IDENTITY ?

-- case: left semi join
SELECT s.name FROM src s LEFT SEMI JOIN dim d ON (s.id = d.id);
--> name <- src.name IDENTITY
--> * | src.id JOIN, dim.id JOIN

-- case: group by with rollup
SELECT id, ds, count(1) AS n FROM src GROUP BY id, ds WITH ROLLUP;
--> id <- src.id IDENTITY
--> ds <- src.ds IDENTITY
--> n
--> * | src.id GROUP_BY, src.ds GROUP_BY

-- case: cluster by
SELECT id FROM src CLUSTER BY ds;
--> id <- src.id IDENTITY
--> * | src.ds SORT

-- case: union in a subquery
INSERT INTO TABLE dst SELECT id, v, 1 FROM (SELECT id, name AS v FROM src UNION ALL SELECT id, label FROM dim) q;
--> dst.id <- src.id IDENTITY, dim.id IDENTITY
--> dst.label <- src.name IDENTITY, dim.label IDENTITY
--> dst.n

-- case: create table like
CREATE TABLE o LIKE dim;
INSERT INTO TABLE o SELECT id, name FROM src;
--> o.id <- src.id IDENTITY
--> o.label <- src.name IDENTITY

-- case: insert with a cte
WITH q AS (SELECT id, name FROM src) INSERT OVERWRITE TABLE dst SELECT id, name, 0 FROM q;
--> dst.id <- src.id IDENTITY
--> dst.label <- src.name IDENTITY
--> dst.n

-- case: map access and size
SELECT props['lang'] AS lang, size(props) AS n FROM src;
--> lang <- src.props.lang IDENTITY
--> n <- src.props TRANSFORMATION

-- case: stacked case
SELECT CASE WHEN ds = '1' THEN name END AS n FROM src;
--> n <- src.name TRANSFORMATION | src.ds CONDITIONAL

-- case: alter table rename
CREATE TABLE o (a INT);
ALTER TABLE o RENAME TO o9;
SELECT a FROM o9;
--> o9.a <- o.a IDENTITY
--> a <- o9.a IDENTITY

-- case: view with column list
CREATE VIEW v (i, l) AS SELECT id, label FROM dim;
--> v.i <- dim.id IDENTITY
--> v.l <- dim.label IDENTITY
