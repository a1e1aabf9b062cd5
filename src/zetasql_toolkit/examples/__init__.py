"""The toolkit's own example: `python -m zetasql_toolkit.examples.extract_column_lineage`."""
