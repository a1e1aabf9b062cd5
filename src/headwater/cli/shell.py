"""The SQL shell: lines until a semicolon, history, completion, and a few commands with a dot."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headwater.cli.options import Flags
from headwater.cli.render import render_error
from headwater.cli.rows import FORMATS, write_result
from headwater.errors import HeadwaterError

HELP = """\
End a statement with a semicolon; it may take several lines. Ctrl-C drops it, Ctrl-D leaves.
  .help            this text
  .tables          the tables of the current database
  .schema TABLE    the statement that makes a table
  .format NAME     how rows are shown: table, json, jsonl, csv
  .quit            leave
"""
_WORDS = (
    *(
        "ALTER",
        "AS",
        "BY",
        "CREATE",
        "DATABASE",
        "DATABASES",
        "DELETE",
        "DESCRIBE",
        "DROP",
        "EXPLAIN",
        "FROM",
        "GROUP",
    ),
    *("INSERT", "INTO", "JOIN", "KEY", "LIMIT", "MERGE", "NOT", "NULL", "OF", "ON", "ORDER", "OVERWRITE", "PRIMARY"),
    *("PARTITIONED", "SELECT", "SET", "SHOW", "TABLE", "TABLES", "TIMESTAMP", "TRUNCATE", "UPDATE", "USE", "USING"),
    *("VALUES", "VERSION", "WHERE", "WITH"),
)


class Shell:
    """Reads statements and carries them out until the input ends."""

    def __init__(self, session: Any, flags: Flags, format: str) -> None:
        self.session = session
        self.flags = flags
        self.format = format
        self._matches: list[str] = []

    def run(self) -> int:
        """Read and do until the end; the exit code is 0 whatever was typed."""
        with _readline(self.complete):
            if not self.flags.quiet:
                sys.stderr.write(f"{self.session.warehouse.url}   .help for help\n")
            for text in self._statements():
                self.do(text)
        return 0

    def do(self, text: str) -> None:
        """Carry out what was typed; an error is shown and forgotten."""
        try:
            for result in self.session.stream(text):
                write_result(result, self.format, quiet=self.flags.quiet)
        except HeadwaterError as err:
            sys.stderr.write(render_error(err, color=self.flags.use_color(sys.stderr)) + "\n")
        except KeyboardInterrupt:
            sys.stderr.write("interrupted\n")

    def command(self, line: str) -> bool:
        """Carry out a command with a dot; False when it says to leave."""
        word, _, rest = line.partition(" ")
        match word:
            case ".quit" | ".exit" | ".q":
                return False
            case ".tables":
                self.do("SHOW TABLES")
            case ".schema":
                self.do(f"SHOW CREATE TABLE {rest}")
            case ".format" if rest.strip() in FORMATS:
                self.format = rest.strip()
            case _:
                sys.stderr.write(HELP)
        return True

    def complete(self, text: str, state: int) -> str | None:
        """The completion number `state` of a word: SQL words, tables, and columns of the tables there are."""
        if state == 0:
            self._matches = [word for word in self._known() if word.lower().startswith(text.lower())]
        return self._matches[state] if state < len(self._matches) else None

    def _known(self) -> list[str]:
        warehouse, database = self.session.warehouse, self.session.database
        names: dict[str, None] = {}
        with contextlib.suppress(HeadwaterError):
            names |= dict.fromkeys(warehouse.list_databases())
            for table in warehouse.list_tables(database):
                names[table] = None
                names |= dict.fromkeys(self.session.table(table).schema.names)
        return [*names, *_WORDS]

    def _statements(self) -> Iterator[str]:
        """Statements as they are finished: at a semicolon, or at the end of the input."""
        lines: list[str] = []
        while True:
            try:
                line = input(f"{self.session.database}> " if not lines else "...> ")
            except EOFError:
                if lines:
                    yield "\n".join(lines)
                sys.stderr.write("\n")
                return
            except KeyboardInterrupt:
                sys.stderr.write("\n")
                lines = []
                continue
            if not lines and line.strip().startswith("."):
                if not self.command(line.strip()):
                    return
                continue
            lines.append(line)
            if line.rstrip().endswith(";") or not "".join(lines).strip():
                text, lines = "\n".join(lines), []
                yield text


@contextlib.contextmanager
def _readline(complete: Any) -> Iterator[None]:
    """History and completion, where Python has readline."""
    try:
        import readline
    except ImportError:
        yield
        return
    file = Path.home() / ".headwater_history"
    with contextlib.suppress(OSError):
        readline.read_history_file(file)
    readline.set_completer(complete)
    readline.set_completer_delims(" \t\n,;()=<>+-*/'\"")
    readline.parse_and_bind("tab: complete")
    try:
        yield
    finally:
        readline.set_history_length(5000)
        with contextlib.suppress(OSError):
            readline.write_history_file(file)
        readline.set_completer(None)
