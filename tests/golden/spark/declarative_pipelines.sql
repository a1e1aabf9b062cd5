-- Spark Declarative Pipelines: streams are read by `STREAM`, flows write streaming tables.
-- schema: raw.events(id, kind), stream(id)

-- case: a flow into a streaming table
CREATE STREAMING TABLE events;
CREATE FLOW load AS INSERT INTO events BY NAME SELECT id, kind FROM STREAM raw.events;
--> events.id <- raw.events.id IDENTITY
--> events.kind <- raw.events.kind IDENTITY

-- case: streams with and without brackets
CREATE STREAMING TABLE clicks AS SELECT id FROM STREAM(raw.events) WHERE kind = 'click';
CREATE STREAMING TABLE both AS SELECT c.id, e.kind FROM STREAM clicks c JOIN STREAM raw.events AS e ON c.id = e.id;
--> clicks.id <- raw.events.id IDENTITY
--> clicks.* | raw.events.kind FILTER
--> both.id <- clicks.id IDENTITY
--> both.kind <- raw.events.kind IDENTITY
--> both.* | clicks.id JOIN, raw.events.id JOIN

-- case: a table that is called so
CREATE MATERIALIZED VIEW m AS SELECT stream.id FROM stream WHERE id > 1;
CREATE MATERIALIZED VIEW n AS SELECT s.id FROM stream AS s;
--> m.id <- stream.id IDENTITY
--> m.* | stream.id FILTER
--> n.id <- stream.id IDENTITY
