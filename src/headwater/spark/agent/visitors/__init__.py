"""The visitors of Spark's plans, one small visitor per kind of node."""
