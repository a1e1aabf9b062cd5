"""Work that runs on Spark: a whole SQL estate into the graph, upkeep of tables, moving data in and out of them."""
