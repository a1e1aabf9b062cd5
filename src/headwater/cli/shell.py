"""The SQL shell: statements of several lines with colours, completion and history, and a few commands."""

import contextlib
import os
import re
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.output import create_output
from pygments.lexers.sql import SqlLexer

from headwater.cli.options import Flags, is_terminal
from headwater.cli.render import render_error
from headwater.cli.rows import FORMATS, table_text, write_result
from headwater.cli.sql_completion import complete_sql
from headwater.cli.terminal import width_of
from headwater.errors import HeadwaterError
from headwater.query.result import listing
from headwater.text import counted, nearest

HELP = """\
End a statement with a semicolon; it may take several lines. Tab completes, the
arrows bring back what was typed, Ctrl-C drops the line or stops the query,
Ctrl-D leaves.
  .help, \\?           this text
  .tables, \\dt [DB]   the tables of a database, or with * of all; of the current
                      database by default
  .views, \\dv [DB]    its views
  .schema, \\d NAME    the statement that makes a table or view; without a name,
                      the tables
  .databases, \\l      the databases of the warehouse
  .use, \\c DB         make a database the current one
  .format NAME        how rows are shown: table, json, jsonl, csv
  .expanded, \\x       show each row as lines of names and values, or as before
  .timing, \\timing    show how long each statement took, or not
  .quit, exit, \\q     leave
Lineage is in tables, too: \\dt lineage
"""
_COMMANDS = {
    **dict.fromkeys((".help", "\\?", "\\h", "help"), "help"),
    **dict.fromkeys((".tables", "\\dt", "\\dt+"), "tables"),
    **dict.fromkeys((".views", "\\dv", "\\dv+"), "views"),
    **dict.fromkeys((".use", "\\c"), "use"),
    **dict.fromkeys((".schema", "\\d", "\\d+"), "schema"),
    **dict.fromkeys((".databases", "\\l", "\\l+"), "databases"),
    **dict.fromkeys((".format",), "format"),
    **dict.fromkeys((".expanded", "\\x"), "expanded"),
    **dict.fromkeys((".timing", "\\timing"), "timing"),
    **dict.fromkeys((".quit", ".exit", ".q", "\\q", "exit", "quit"), "quit"),
}

_MOST_ROWS = 2_000  # of one result on a terminal


class Shell:
    """Reads statements and carries them out until the input ends."""

    def __init__(self, session: Any, flags: Flags, format: str) -> None:
        self.session = session
        self.flags = flags
        self.format = format
        self.expanded = False
        self.timing = True

    def run(self) -> int:
        """Read statements and carry them out; the exit code is 0 whatever was typed."""
        if not self.flags.quiet:
            sys.stderr.write(f"{self.session.warehouse.url}   .help for help\n")
        for text in self._texts():
            word, _, rest = text.strip().rstrip(";").strip().partition(" ")
            if word.lower() in _COMMANDS:
                if not self.command(_COMMANDS[word.lower()], rest.strip()):
                    break
            elif word.startswith((".", "\\")):
                near = nearest(word, list(_COMMANDS))
                more = f"; did you mean `{near}`?" if near else ""
                sys.stderr.write(f"there is no command `{word}`{more}   .help lists them\n")
            elif word:
                self.do(text)
        return 0

    def do(self, text: str, *, command: bool = False, nothing: str = "") -> None:
        """Carry out what was typed, or what a command stands for; an error is shown and forgotten, Ctrl-C stops it.
        `nothing` is said in the place of no rows."""
        begun = time.monotonic()
        try:
            for result in self.session.stream(text):
                took = time.monotonic() - begun
                if nothing and not result.rows:
                    sys.stderr.write(nothing + "\n")
                    continue
                self._show(result)
                self._count(result, took)
                begun = time.monotonic()
        except HeadwaterError as err:
            err.source = None if command else err.source  # nobody has typed the text of a command
            color = self.flags.use_color(sys.stderr)
            sys.stderr.write(render_error(err, color=color, width=width_of(sys.stderr)) + "\n")
        except KeyboardInterrupt:
            sys.stderr.write("interrupted\n")

    def command(self, name: str, rest: str) -> bool:
        """Carry out a command of the shell; False when it says to leave."""
        match name:
            case "quit":
                return False
            case "schema" if rest:
                self.do(f"SHOW CREATE {'VIEW' if self._is_view(rest) else 'TABLE'} {rest}", command=True)
            case "tables" | "schema" | "views":
                self._list("VIEWS" if name == "views" else "TABLES", rest.removesuffix(".*"))
            case "databases":
                self.do(f"SHOW DATABASES LIKE '{rest}'" if rest else "SHOW DATABASES", command=True)
            case "use":
                self.do(f"USE {rest or 'default'}", command=True)
            case "format" if rest in FORMATS:
                self.format = rest
            case "format":
                sys.stderr.write(f"the formats are {', '.join(FORMATS)}\n")
            case "expanded":
                self.expanded = _switched(self.expanded, rest)
                sys.stderr.write(f"rows are shown as {'lines' if self.expanded else 'a table'}\n")
            case "timing":
                self.timing = _switched(self.timing, rest)
                sys.stderr.write(f"timing is {'on' if self.timing else 'off'}\n")
            case _:
                sys.stderr.write(HELP)
        return True

    def _list(self, what: str, database: str) -> None:
        """List the tables or views of a database, of the current one if none is named; the tables of all with `*`."""
        if database == "*" and what == "TABLES":
            house = self.session.warehouse
            found = [f"{each}.{name}" for each in house.list_databases(own=False) for name in house.list_tables(each)]
            self._show(listing({"table": found}))
            return
        where = database or self.session.database
        nothing = f"there are no {what.lower()} in {where}; \\l lists the databases, \\dt * all tables"
        self.do(f"SHOW {what} FROM {where}", command=True, nothing=nothing)

    def _is_view(self, name: str) -> bool:
        database, _, view = name.replace('"', "").rpartition(".")
        database, warehouse = database or self.session.database, self.session.warehouse
        return warehouse.has_database(database) and view in warehouse.views.list(database)

    def _show(self, result: Any) -> None:
        """Print a result; a table is fitted to the terminal, and goes to the pager when it is higher."""
        if self.format != "table" or not result.columns:
            write_result(result, self.format, quiet=self.flags.quiet)
            return
        if not is_terminal(sys.stdout):
            sys.stdout.write(table_text(result, expanded=self.expanded) + "\n")
            sys.stdout.flush()
            return
        size = shutil.get_terminal_size()
        text = table_text(result, expanded=self.expanded, width=size.columns, most=_MOST_ROWS) + "\n"
        if text.count("\n") < size.lines - 2:
            click.echo(text, nl=False)
        else:
            os.environ.setdefault("LESS", "-FRSX")
            click.echo_via_pager(text)

    def _count(self, result: Any, seconds: float) -> None:
        said = [counted(result.rows, "row")] if result.columns and not result.is_text else []
        said += [f"{seconds:.3f} s"] if self.timing else []
        if said and not self.flags.quiet:
            sys.stderr.write(", ".join(said) + "\n")

    def _texts(self) -> Iterator[str]:
        """Yield what is typed, a statement or a command at a time, until the input ends."""
        prompt: PromptSession[str] = PromptSession(
            history=_history(),
            lexer=PygmentsLexer(SqlLexer) if self.flags.use_color(sys.stderr) else None,
            completer=SqlCompleter(self.session),
            complete_while_typing=False,
            multiline=Condition(lambda: not is_finished(prompt.default_buffer.text)),
            prompt_continuation=lambda width, line, wrapped: "... ".rjust(width),
            output=create_output(stdout=sys.stderr),  # rows alone go to stdout
        )
        while True:
            try:
                yield prompt.prompt(f"{self.session.database}> ")
            except KeyboardInterrupt:
                continue
            except EOFError:
                return


def is_finished(text: str) -> bool:
    """Return whether what was typed is to be carried out: it ends with a semicolon that is in no string and no
    comment, is a command, or is empty.

    >>> is_finished("SELECT 1"), is_finished("SELECT 1 ; -- one"), is_finished("\\\\dt"), is_finished("exit")
    (False, True, True, True)
    >>> is_finished("SELECT ';"), is_finished("SELECT ';\\n';"), is_finished("SELECT 1 /* ;")
    (False, True, False)
    """
    bare = text.strip()
    if not bare or bare.startswith((".", "\\")) or bare.lower() in _COMMANDS:
        return True
    rest = _QUOTED.sub(lambda found: " " if found[0].startswith(("--", "/*")) else "x", bare).strip()
    return rest.endswith(";") and _OPEN.search(rest) is None


_QUOTED = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/|\$(\w*)\$.*?\$\1\$", re.DOTALL)
_OPEN = re.compile(r"['\"]|/\*|\$\w*\$")  # what is opened and not closed, once all that is closed is gone


class SqlCompleter(Completer):
    """Completes words of SQL, databases, tables and columns at the cursor."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        with contextlib.suppress(HeadwaterError):
            word, found = complete_sql(self._session, document.text_before_cursor, document.text_after_cursor)
            for each in found:
                yield Completion(each.text, start_position=-len(word), display_meta=each.kind)


def _history() -> History:
    """The statements of earlier shells; those of this one alone, if the home folder cannot be written."""
    file = Path.home() / ".headwater_history"
    try:
        file.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(file))


def _switched(now: bool, word: str) -> bool:
    """A switch after a command: `on`, `off`, or the other way than now."""
    return {"on": True, "off": False}.get(word.lower(), not now)
