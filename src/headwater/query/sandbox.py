"""The limits of a session that answers strangers: read tables of its warehouse, so much and so long, no more."""

from dataclasses import dataclass

from sqlglot import exp

from headwater.query.parse import SqlStatement

_READS = (exp.Query, exp.Pivot, exp.Summarize, exp.Values, exp.Describe)


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """The limits of a session that only reads. DuckDB then sees no file but those of the tables a query names."""

    rows: int = 10_000
    seconds: float = 10.0
    memory: int = 1 << 30  # bytes that DuckDB counts: it leaves out the vectors of an expression
    threads: int = 2

    @property
    def process_bytes(self) -> int:
        """Return what a process may take for a query, with all that DuckDB does not count and the rows as they are
        told."""
        return self.memory + (self.memory >> 1)

    @property
    def settings(self) -> dict[str, str]:
        """Return what DuckDB is told, in this order; after the last, SQL can change none of it."""
        return {
            "enable_external_access": "false",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "python_enable_replacements": "false",
            "memory_limit": f"{self.memory}B",
            "threads": str(self.threads),
            "max_temp_directory_size": "0B",
            "lock_configuration": "true",
        }

    def check(self, statement: SqlStatement) -> None:
        """RAISES: SqlError for a statement that is not a question."""
        tree = statement.tree
        asks = isinstance(tree, _READS) or (isinstance(tree, exp.Command) and tree.name.upper() == "SHOW")
        if not asks or tree.find(exp.Into) is not None:
            raise statement.error("only queries are answered here", hint="SELECT, DESCRIBE, SHOW, SUMMARIZE, EXPLAIN")
