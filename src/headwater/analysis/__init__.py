"""The one door to the lineage of SQL text."""
