"""A database into files that `headwater harvest` reads: its schema, its definitions and its query history."""
