"""A catalog to try things with."""

from headwater.zetasql import create_sample_catalog, get_builtin_function_options

__all__ = ["create_sample_catalog", "get_builtin_function_options"]
