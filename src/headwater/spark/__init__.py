"""Spark: the lineage of its plans and the agent that reports what its jobs do.

The public names are imported on first use: PySpark is heavy.
"""
