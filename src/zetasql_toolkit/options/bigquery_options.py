"""Options of the analyzer."""

from headwater.zetasql import get_bigquery_language_options

__all__ = ["get_bigquery_language_options"]
