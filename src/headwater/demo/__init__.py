"""A small shop to see Headwater with: its files, its nightly job in PySpark, and a story told with them."""
