SELECT o.id, o.custmer_id, i.quantity
FROM raw.orders o JOIN raw.order_item i ON i.order_id = o.id;
