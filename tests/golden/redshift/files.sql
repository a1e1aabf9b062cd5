-- Files: one dataset, however its path is spelt.

-- case: out and in
UNLOAD ('SELECT a FROM t') TO 's3://bucket/p' IAM_ROLE 'x';
COPY u FROM 's3://bucket/p/' IAM_ROLE 'x' CSV;
--> s3://bucket/p.a <- t.a IDENTITY
--> u.* <- s3://bucket/p.* IDENTITY ?
