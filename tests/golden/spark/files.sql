-- Files: one dataset, however its path is spelt.

-- case: by format, out and in
INSERT OVERWRITE DIRECTORY 's3a://bucket/p/' USING parquet SELECT a FROM t;
SELECT b FROM parquet.`s3://bucket/p`;
SELECT b FROM delta.`/data/t/`;
LOAD DATA INPATH 'file:/data/t' INTO TABLE w;
--> s3://bucket/p.a <- t.a IDENTITY
--> b <- s3://bucket/p.b IDENTITY
--> b <- /data/t.b IDENTITY
--> w.* <- /data/t.* IDENTITY ?
