"""The shell around the commands, run as a person runs it: as a program of its own."""

import json
import signal
import subprocess
import sys
import time

import pytest
from tests.program import headwater

from headwater.cli.main import COMMANDS


def test_version():
    assert headwater("--version").stdout.startswith("headwater 0.")


def test_help_lists_every_command():
    run = headwater("--help")
    assert run.returncode == 0
    assert all(f"\n  {name} " in run.stdout for name in COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_with_examples(name):
    run = headwater(name, "--help")
    assert run.returncode == 0
    assert "Examples:" in run.stdout or "Commands:" in run.stdout
    assert "--json" in run.stdout


def fails(run, code, *words):
    assert run.returncode == 2
    assert run.stdout == ""
    assert "Traceback" not in run.stderr
    assert f"error[{code}]" in run.stderr
    assert f"(headwater explain {code})" in run.stderr
    for word in words:
        assert word in run.stderr
    return run


def test_unknown_command_suggests():
    fails(headwater("docter"), "usage", "did you mean `headwater doctor`?")


def test_unknown_option_suggests():
    fails(headwater("explain", "--jsn"), "usage", "--json")


def test_broken_configuration_shows_the_place(tmp_path):
    (tmp_path / "headwater.toml").write_text("warehouse = [\n")
    fails(headwater("doctor", cwd=tmp_path), "bad-config", "headwater.toml:")


def test_unknown_setting_shows_a_caret(tmp_path):
    (tmp_path / "headwater.toml").write_text('warehose = "x"\n')
    fails(headwater("doctor", cwd=tmp_path), "unknown-setting", "^^^^^^^^", "did you mean `warehouse`?")


def test_missing_configuration_file(tmp_path):
    fails(headwater("doctor", "--config", "none.toml", cwd=tmp_path), "bad-config", "none.toml")


def test_explain_works_with_a_broken_configuration(tmp_path):
    (tmp_path / "headwater.toml").write_text("nonsense")
    assert headwater("explain", "bad-config", cwd=tmp_path).returncode == 0


def test_errors_as_json():
    run = headwater("--json", "explain", "no-jav")
    assert run.returncode == 2
    assert json.loads(run.stderr)["error"]["hint"] == "did you mean `no-java`?"


def test_global_options_stand_before_or_after_the_command():
    before, after = headwater("--json", "explain", "usage"), headwater("explain", "usage", "--json")
    assert json.loads(before.stdout) == json.loads(after.stdout)


def test_explain_lists_all_codes():
    assert {"no-java", "UNKNOWN_TABLE"} <= json.loads(headwater("explain", "--json").stdout).keys()


def test_a_reader_that_leaves_early_is_no_error():
    command = f"{sys.executable} -m headwater explain | true"
    run = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")


def test_interrupt_is_130(tmp_path):
    script = "import time, headwater.errors as e; e.explain = lambda code: time.sleep(60);"
    script += (
        "from headwater.cli.main import run; import sys; print('ready', flush=True); sys.exit(run(['explain', 'x']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests in the background ignore it
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err.strip()) == (130, "", "interrupted")


def test_an_unexpected_error_is_a_paragraph_too():
    script = "import headwater.errors as e, sys; e.explain = lambda code: 1 / 0;"
    script += "from headwater.cli.main import run; sys.exit(run(['explain', 'x']))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == 2
    assert "Traceback" not in run.stderr
    assert "--verbose" in run.stderr


def test_colour_only_when_wanted():
    assert "\x1b[" not in headwater("docter").stderr
    assert "\x1b[" in headwater("docter", env={"HEADWATER_COLOR": "always"}).stderr
    assert "\x1b[" not in headwater("docter", env={"HEADWATER_COLOR": "always", "NO_COLOR": "1"}).stderr
