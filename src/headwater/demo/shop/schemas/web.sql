CREATE TABLE web.events (
  visitor STRING,
  seen_at TIMESTAMP,
  page STRUCT<path STRING, title STRING>,
  items ARRAY<STRUCT<sku STRING, price NUMERIC>>
);
