"""Colour on a terminal, and none where it is not wanted. Each command runs on a terminal of its own."""

import json
import os
import pty
import re
import subprocess
import sys

import pytest
from tests.cli.screen import screen
from tests.effort import one_in

from headwater.cli.lake import lake
from headwater.cli.main import COMMANDS

PLAIN = ({"NO_COLOR": "1"}, {"HEADWATER_COLOR": "never"}, {"TERM": "dumb"})
COLOR = re.compile(r"\x1b\[[0-9;]*m")
SQL = "SELEC 1; INSERT INTO d SELECT a, b FROM t, u"


def on_terminal(*args, **env):
    """What a command writes, to stdout and stderr, when both are a terminal."""
    ours, theirs = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("HEADWATER_", "NO_COLOR"))}
    command = [sys.executable, "-m", "headwater", *args]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=clean | {"TERM": "xterm-256color"} | env
    ) as process:
        os.close(theirs)
        parts = []
        try:
            while part := os.read(ours, 65536):
                parts.append(part)
        except OSError:  # the terminal is closed by its last writer
            pass
        process.wait()
    os.close(ours)
    return b"".join(parts).decode()


@pytest.mark.parametrize("command", ["check", "lineage"])
def test_findings_are_coloured_on_a_terminal_that_wants_it(command):
    assert COLOR.search(on_terminal(command, "-e", SQL))
    assert "error[PARSE_ERROR]" in COLOR.sub("", on_terminal(command, "-e", SQL))


@pytest.mark.parametrize("command", ["check", "lineage"])
@pytest.mark.parametrize("env", PLAIN, ids=str)
def test_findings_are_plain_where_colour_is_not_wanted(command, env):
    text = on_terminal(command, "-e", SQL, **env)
    assert "error[PARSE_ERROR]" in text
    assert not COLOR.search(text)


def test_an_option_says_so_too():
    assert not COLOR.search(on_terminal("check", "-e", SQL, "--no-color"))


@pytest.mark.parametrize("command", one_in(3, sorted(COMMANDS)))
def test_no_command_colours_in_spite_of_no_color(command):
    """Each says what is wrong with an option that nobody has."""
    text = on_terminal(command, "--no-such-option", NO_COLOR="1")
    assert "error[usage]" in text
    assert "\x1b" not in text


@pytest.mark.parametrize(
    "command", [*((name,) for name in sorted(COMMANDS)), *(("lake", name) for name in lake.commands)]
)
def test_an_option_says_so_behind_what_is_wrong(command, monkeypatch):
    """The command line cannot be read: what stands behind the mistake counts all the same."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert COLOR.search(screen([*command, "--no-such-option"]))
    for words in (["--no-such-option", "--no-color"], ["--no-color", "--no-such-option"]):
        text = screen([*command, *words])
        assert "error[usage]" in text
        assert "\x1b" not in text
    assert json.loads(screen([*command, "--no-such-option", "--json"]))["error"]["code"] == "usage"


def test_colour_can_be_had_without_a_terminal():
    env = os.environ | {"HEADWATER_COLOR": "always"}
    run = subprocess.run(
        [sys.executable, "-m", "headwater", "check", "-e", SQL], env=env, capture_output=True, text=True
    )
    assert COLOR.search(run.stdout)
    env = os.environ | {"HEADWATER_COLOR": "auto"}
    run = subprocess.run(
        [sys.executable, "-m", "headwater", "check", "-e", SQL], env=env, capture_output=True, text=True
    )
    assert not COLOR.search(run.stdout)
