-- What the shop's systems write, and one table that is kept by hand.
CREATE TABLE raw.customers (id INT, email VARCHAR, name VARCHAR, country VARCHAR, signed_up TIMESTAMP);
CREATE TABLE raw.orders (id INT, customer_id INT, placed_at TIMESTAMP, status VARCHAR, currency VARCHAR);
CREATE TABLE raw.order_items (order_id INT, sku VARCHAR, quantity INT, unit_price DECIMAL(10, 2));
CREATE TABLE raw.exchange_rates (currency VARCHAR, day DATE, to_eur DECIMAL(12, 6));
CREATE TABLE mart.best_sellers (sku VARCHAR, revenue DECIMAL(18, 2));
