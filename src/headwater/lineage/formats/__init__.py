"""Lineage as text, one module per kind of text. Each takes statements and returns a string."""
