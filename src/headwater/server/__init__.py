"""The page and the API: what is kept in a warehouse, for people and programs over HTTP."""
