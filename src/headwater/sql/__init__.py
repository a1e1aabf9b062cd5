"""SQL text to relation trees, for every dialect that sqlglot parses."""

from headwater.sql.dialects import canonical_dialect, dialect_names
from headwater.sql.frontend import SqlFrontEnd

__all__ = ["SqlFrontEnd", "canonical_dialect", "dialect_names"]
