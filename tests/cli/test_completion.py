"""Shells complete our commands, options and dialects, as the scripts that we print make them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
ASKED = {
    "bash": {"COMP_WORDS": "headwater {words}", "COMP_CWORD": "{last}"},
    "zsh": {"COMP_WORDS": "headwater {words}", "COMP_CWORD": "{last}"},
    "fish": {"COMP_WORDS": "headwater {words}", "COMP_CWORD": "{end}"},
}


def completed(shell, *words):
    """What a shell is told when the last of the words is not finished."""
    facts = {"words": " ".join(words), "last": len(words), "end": words[-1]}
    asked = {name: text.format(**facts) for name, text in ASKED[shell].items()}
    env = os.environ | asked | {"_HEADWATER_COMPLETE": f"{shell}_complete"}
    run = subprocess.run([BIN / "headwater"], env=env, capture_output=True, text=True, check=True)
    return run.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_words_are_completed(shell):
    assert "trace" in completed(shell, "tra")
    assert "no-java" in completed(shell, "explain", "no-")
    assert "--influence" in completed(shell, "trace", "--infl")
    assert "snowflake" in completed(shell, "lineage", "--dialect", "snow")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_of_the_shell(shell):
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} on this machine")
    setup = {
        "bash": 'eval "$(headwater completion bash)" && complete -p headwater',
        "zsh": 'autoload -Uz compinit; compinit -u; eval "$(headwater completion zsh)"; echo $_comps[headwater]',
        "fish": "headwater completion fish | source; complete -c headwater",
    }[shell]
    env = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    run = subprocess.run([shell, "-c", setup], env=env, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "headwater" in run.stdout
