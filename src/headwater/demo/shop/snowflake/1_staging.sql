CREATE OR REPLACE TABLE staging.customers AS
SELECT id AS customer_id,
       SHA2(LOWER(email)) AS email_hash,
       COALESCE(country, 'unknown') AS country
FROM raw.customers
QUALIFY ROW_NUMBER() OVER (PARTITION BY id ORDER BY signed_up DESC) = 1;

CREATE OR REPLACE VIEW staging.lines (order_id, customer_id, day, sku, amount_eur) AS
SELECT o.id, o.customer_id, o.placed_at::DATE, i.sku,
       i.quantity * i.unit_price * IFF(o.currency = 'EUR', 1, r.to_eur)
FROM raw.orders o
JOIN raw.order_items i ON i.order_id = o.id
LEFT JOIN raw.exchange_rates r ON r.currency = o.currency AND r.day = o.placed_at::DATE
WHERE o.status <> 'cancelled';
