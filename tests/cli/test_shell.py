"""The SQL shell on a terminal of its own."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import pytest

import headwater
from headwater.cli.rows import table_text
from headwater.cli.sql_completion import complete_sql
from headwater.graph import GraphStore

_SIGNS = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|[=>])")


def _heed_interrupts():
    """Have a child heed SIGINT, also where the tests run in the background and ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """A shell that runs on a terminal; `until` reads what it shows."""

    def __init__(self, folder, *args):
        self.master, slave = pty.openpty()
        self.shown = ""
        command = [sys.executable, "-m", "headwater", "sql", "--warehouse", str(folder / "w"), *args]
        env = {
            **os.environ,
            "HOME": str(folder),
            "TERM": "xterm",
            "COLUMNS": "80",
            "LINES": "30",
            "PAGER": "cat",
            "PROMPT_TOOLKIT_NO_CPR": "1",
        }
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=env, preexec_fn=_heed_interrupts
        )
        os.close(slave)

    def type(self, text):
        os.write(self.master, text.encode())

    def until(self, wanted, seconds=20):
        """All that was shown since the last time, up to this text."""
        end = time.monotonic() + seconds
        while wanted not in self.shown:
            ready, _, _ = select.select([self.master], [], [], 0.2)
            try:
                self.shown += _SIGNS.sub("", os.read(self.master, 65536).decode()) if ready else ""
            except OSError:  # it has ended
                break
            assert time.monotonic() < end, self.shown
        before, found, self.shown = self.shown.partition(wanted)
        assert found, before
        return (before + found).replace("\r", "")


@pytest.fixture
def terminal(tmp_path):
    with headwater.connect(tmp_path / "w") as session:
        session.sql("CREATE DATABASE gold; CREATE TABLE gold.t (a INT PRIMARY KEY, long_text STRING)")
        session.sql("INSERT INTO gold.t SELECT i, repeat('word ', 40) FROM range(1, 4) r(i)")
    opened = Terminal(tmp_path)
    opened.until("default>")
    yield opened
    opened.process.kill()
    opened.process.wait()
    os.close(opened.master)


def test_statements_of_several_lines_and_commands(terminal):
    terminal.type("SELECT a\rFROM gold.t\rWHERE a = 2;\r")
    assert "a\n─\n2\n1 row, " in terminal.until(" s\r\n")
    terminal.type("SELECT zzz FROM gold.t;\r")
    terminal.until("`zzz` is not a column here")
    terminal.type("USE gold;\r\\dt\r")
    terminal.until("table\r\n─────\r\nt\r\n")
    terminal.type("USE default;\r\\dt gold\r")
    terminal.until("table\r\n─────\r\nt\r\n")
    terminal.type("\\timing on\r")
    terminal.until("timing is on")
    terminal.type("\\timing\r.format csv\rSELECT 7 AS x;\r")
    terminal.until("timing is off")
    terminal.until("x\r\n7\r\n1 row\r\n")
    terminal.type(".tabels\r")
    terminal.until("did you mean `.tables`?")
    terminal.type("exit\r")
    assert terminal.process.wait(30) == 0


def test_an_open_string_goes_on_in_the_next_line(terminal):
    terminal.type("SELECT ';\rand ' || 'more' AS text; -- done\r")
    assert "text\n" in terminal.until("; and more\r\n")
    terminal.type("SELECT 1 AS a /* ; \r */, 2 AS b;\r")
    terminal.until("1  2\r\n")


def test_tables_of_other_databases_are_found(terminal):
    terminal.type("\\dt\r")
    terminal.until("there are no tables in default; \\l lists the databases, \\dt * all tables")
    terminal.type("\\d t\r")
    assert "SHOW" not in terminal.until("did you mean `gold.t`?")
    terminal.type("\\d nosuch\r")
    terminal.until("default has no tables; databases that have: gold")
    terminal.type("\\dt *\r")
    terminal.until("table\r\n──────\r\ngold.t\r\n")
    terminal.type("CREATE VIEW gold.v AS SELECT a FROM gold.t;\r\\d gold.v\r")
    terminal.until('CREATE VIEW "gold"."v" AS')
    terminal.type("\\c gold\r\\dv\r")
    terminal.until("view\r\n────\r\nv\r\n")


def test_rows_are_fitted_to_the_terminal_or_expanded(terminal):
    terminal.type("SELECT * FROM gold.t;\r")
    shown = terminal.until("3 rows")
    table = [line for line in shown.splitlines() if line.endswith("…")]
    assert len(table) == 3
    assert all(len(line) <= 80 for line in table)
    terminal.type("\\x\rSELECT a, long_text FROM gold.t LIMIT 1;\r")
    assert "a          1\n" in terminal.until("1 row")


def test_tab_completes_tables_of_a_database(terminal):
    terminal.type("SELECT count(*) AS n FROM gol")
    terminal.until("gol")
    terminal.type("\t")
    terminal.until("d")
    terminal.type(".\t")
    terminal.until("t")
    terminal.type(" WHERE a > 1;\r")
    terminal.until("n\r\n─\r\n2\r\n")


def test_an_interrupt_stops_the_query_only(terminal):
    terminal.type("SELECT count(*) FROM range(100000000) x, range(100000) y WHERE x.range * y.range % 7 = 3;\r")
    terminal.until("% 7 = 3;")
    time.sleep(2)  # the query runs by then
    terminal.process.send_signal(signal.SIGINT)
    terminal.until("interrupted")
    terminal.type("SELECT 40 + 2 AS x;\r")
    terminal.until("42\r\n")


def test_an_interrupt_ends_a_command(tmp_path):
    query = "SELECT count(*) FROM range(100000000) x, range(100000) y WHERE x.range * y.range % 7 = 3"
    command = [
        sys.executable,
        "-m",
        "headwater",
        "sql",
        "--warehouse",
        str(tmp_path),
        "-v",
        "-e",
        f"SELECT 1; {query}",
    ]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=_heed_interrupts
    )
    assert process.stdout.readline() == "1\n"  # the first result: the second query is next
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    process.stdout.close()


def test_history_is_kept_for_its_owner_alone(terminal, tmp_path):
    terminal.type("SELECT 1234 AS kept;\r")
    terminal.until("1,234")
    file = tmp_path / ".headwater_history"
    assert "SELECT 1234 AS kept;" in file.read_text()
    assert file.stat().st_mode & 0o077 == 0


# ------------------------------------------------------------------------------------------------- completion


@pytest.fixture
def session(tmp_path):
    with headwater.connect(tmp_path) as opened:
        opened.sql("CREATE DATABASE shop; CREATE TABLE shop.orders (order_id INT, total INT)")
        opened.sql("CREATE TABLE orders (origin STRING)")
        GraphStore(opened.warehouse).create()
        yield opened


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("SELECT or", " FROM shop.orders", ["order_id", "orders", "orders", "OR", "ORDER"]),
        ("SELECT or", " FROM orders", ["origin", "orders", "orders", "OR", "ORDER"]),
        ("SELECT o.", " FROM shop.orders AS o", ["order_id", "total"]),
        ("SELECT * FROM shop.", "", ["orders"]),
        ("SELECT * FROM sh", "", ["shop"]),
        ("SELECT * FROM ord", "", ["orders", "shop.orders"]),
        ("SELECT * FROM lin", "", []),
        ("SELECT * FROM lineage.ru", "", ["run_inputs", "runs"]),
        ("SELECT * FROM shop.orders o JOIN orders p ON p.", "", ["origin"]),
        ("SELECT 1; SELECT tot", " FROM shop.orders", ["total"]),
        ("SELECT nothing.", "", []),
    ],
)
def test_completion_knows_the_tables_of_the_statement(session, before, after, found):
    assert [each.text for each in complete_sql(session, before, after)[1]] == found


def test_a_table_that_is_too_wide_is_expanded(session):
    columns = ", ".join(f"'{'x' * 20}' AS column_{each}" for each in range(8))
    wide = session.sql(f"SELECT {columns}")
    assert "column_3  xxxxxxxxxxxxxxxxxxxx" in table_text(wide, width=60)
    assert table_text(wide, width=100).count("…") == 8
