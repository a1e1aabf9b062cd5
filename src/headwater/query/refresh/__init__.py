"""Refreshing a table that a query defines: only what changed, where that is known to give the same rows."""
