"""Column lineage of resolved GoogleSQL, under the module names of the ZetaSQL toolkit's Python port.

Everything is in `headwater.zetasql`; the modules here only have the names by which ports of the toolkit are imported.
"""
