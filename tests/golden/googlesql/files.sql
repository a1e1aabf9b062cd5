-- Files: one dataset, however its path is spelt.
-- schema: d.t(a INT64)

-- case: out and in
EXPORT DATA OPTIONS (uri = 'gs://bucket/p', format = 'csv') AS SELECT a FROM d.t;
LOAD DATA INTO d.u (a INT64) FROM FILES (format = 'csv', uris = ['gs://bucket/p/']);
--> gs://bucket/p.a <- d.t.a IDENTITY
--> d.u.a <- gs://bucket/p.* IDENTITY ?
