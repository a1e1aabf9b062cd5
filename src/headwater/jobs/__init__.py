"""Work that runs on Spark: upkeep of tables, and moving data in and out of them."""
