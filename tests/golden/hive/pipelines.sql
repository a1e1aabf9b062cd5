-- schema: log(id, ip, url, ts, dt), pages(url, title), a(id, ip, dt), b(url, n)

-- case: multi insert with different shapes
FROM log l INSERT OVERWRITE TABLE a PARTITION (dt = 'x') SELECT l.id, l.ip WHERE l.ts > 1 INSERT INTO TABLE b SELECT l.url, COUNT(*) GROUP BY l.url;
--> a.id <- log.id IDENTITY
--> a.ip <- log.ip IDENTITY
--> a.* | log.ts FILTER
--> b.url <- log.url IDENTITY
--> b.n
--> b.* | log.url GROUP_BY

-- case: multi insert over a join
FROM log l JOIN pages p ON l.url = p.url INSERT INTO TABLE b SELECT p.title, 1 INSERT INTO TABLE a SELECT l.id, l.ip, l.dt;
--> b.url <- pages.title IDENTITY
--> b.n
--> b.* | log.url JOIN, pages.url JOIN
--> a.id <- log.id IDENTITY
--> a.ip <- log.ip IDENTITY
--> a.dt <- log.dt IDENTITY
--> a.* | log.url JOIN, pages.url JOIN

-- case: multi insert over a subquery
FROM (SELECT id, upper(ip) AS ip FROM log) x INSERT INTO TABLE a (id, ip) SELECT x.id, x.ip INSERT INTO TABLE b (url) SELECT x.ip;
--> a.id <- log.id IDENTITY
--> a.ip <- log.ip TRANSFORMATION
--> b.url <- log.ip TRANSFORMATION

-- case: left semi join
SELECT l.id FROM log l LEFT SEMI JOIN pages p ON l.url = p.url;
--> id <- log.id IDENTITY
--> * | log.url JOIN, pages.url JOIN

-- case: distribute and sort
INSERT OVERWRITE TABLE b SELECT url, COUNT(1) AS n FROM log GROUP BY url DISTRIBUTE BY url SORT BY n DESC;
--> b.url <- log.url IDENTITY
--> b.n
--> b.* | log.url GROUP_BY
