"""No line is wider than the terminal: every command that `--help` shows, on a terminal of 80 columns."""

import re
import shutil

import pytest
from tests.cli.said import make_world
from tests.cli.screen import ESCAPES, screen
from tests.cli.test_said import examples, runs_here, words_of
from tests.effort import one_in

from headwater.cli.main import run

DATA = re.compile(r"--json|--format|-f \w|html|completion|--rows|spark-jar|torture|> |\$\(")
"""What writes data for programs, or a command to copy: it is as wide as it is."""
OTHERS = (
    "headwater trace shop.gold.total --as-of 99",
    "headwater trace shop.gold.totl --as-of @0",
    "headwater impact raw.orders.amount --influence all",
    "headwater harvests",
    "headwater harvests 1",
    "headwater doctor",
    "headwater unused",
    "headwater stale",
    "headwater explain",
    "headwater why gold.revenue --where true",
    "headwater bisect gold.revenue --expr 'sum(revenue)'",
    "headwater sql -e 'SELECT * FROM lineage.runs'",
    "headwater sql -e 'SELECT * FROM lineage.statements'",
    "headwater sql -e 'SELECT nothing FROM gold.revenue WHERE country = country AND country = country'",
    "headwater lake tables --all",
    "headwater lake schema lineage.runs",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("a_folder_with_a_name_that_is_longer_than_most_are")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        make_world(folder)
    shutil.copy(sorted((folder / "lake" / "sales").rglob("*.sst"))[0], folder / "file.sst")
    return folder


@pytest.fixture
def world(made, monkeypatch):
    monkeypatch.chdir(made)
    for name, value in {"TERM": "xterm", "COLUMNS": "80", "LINES": "50"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HEADWATER_PROGRESS", "false")


LINES = [line for line in examples() if runs_here(line) and DATA.search(line) is None and "cat " not in line]


@pytest.mark.parametrize("line", [*one_in(3, LINES), *OTHERS])
def test_no_line_is_wider_than_the_terminal(world, line):
    shown = screen(words_of(line.replace("2 hours ago", "@-1").replace("2 days ago", "@-1")))
    lines = [each.split("\r")[-1] for each in ESCAPES.sub("", shown).split("\n")]
    assert any(lines)
    assert [each for each in lines if len(each) > 80 and " " in each.strip()] == []  # a path may be longer


def test_a_pipe_gets_whole_lines(world, capsys):
    run(["doctor"])
    assert any(len(line) > 80 for line in capsys.readouterr().out.splitlines())
