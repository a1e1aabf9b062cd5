"""Tests run in temporary folders, and `make test` fails when one of them leaves a file in the checkout."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tree import find_new, list_files

ROOT = Path(__file__).parent.parent


def test_the_current_folder_is_temporary_and_empty():
    assert ROOT not in (Path.cwd(), *Path.cwd().parents)
    assert list(Path.cwd().iterdir()) == []


def test_a_new_file_is_found_wherever_it_is(tmp_path):
    tree, noted = tmp_path / "tree", tmp_path / "noted"
    for name in ("src/kept.py", ".venv/bin/python", "src/__pycache__/kept.pyc", "empty"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).touch()
    noted.write_text("\n".join(list_files(tree)))
    assert find_new(tree, noted) == []
    for name in ("warehouse/default.db/t/snapshot-1", "derby.log", ".venv/spark.log", "src/__pycache__/new.pyc"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).touch()
    (tree / "spark-warehouse").mkdir()
    assert find_new(tree, noted) == ["derby.log", "spark-warehouse/", "warehouse/default.db/t/snapshot-1"]


@pytest.fixture
def checkout(tmp_path):
    """A checkout with our Makefile, an environment that is ours, and one test on either side."""
    folder = tmp_path / "checkout"
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    parts = " ".join(re.findall(r"^OF_(?:SPARK|PAGE) := (.*)", makefile, re.MULTILINE)).split()
    for name in (*(f"{part}/test_{at}.py" for at, part in enumerate(parts)), "tests/test_rest.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("def test_nothing():\n    pass\n")
    for name in (
        "pyproject.toml",
        "constraints.txt",
        ".venv/bin/python",
        ".venv/.installed",
        ".venv/.warm",
        ".venv-paimon/.installed",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    (folder / ".venv/bin/python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (folder / ".venv/bin/python").chmod(0o755)
    (folder / ".gitignore").write_text("*.left\n")
    shutil.copy(ROOT / "Makefile", folder)
    shutil.copy(ROOT / "tests" / "tree.py", folder / "tests")
    return folder


def test_make_test_fails_when_a_test_leaves_a_file(checkout):
    env = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # these tests need none, and some take long to import
    run = subprocess.run(["make", "test"], cwd=checkout, env=env, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    for side, name in (("tests/spark/test_0.py", "one.left"), ("tests/test_rest.py", "other.left")):
        (checkout / side).write_text(f"def test_leaving():\n    open({name!r}, 'w').close()\n")
    run = subprocess.run(["make", "test"], cwd=checkout, env=env, capture_output=True, text=True)
    assert run.returncode == 2, run.stdout + run.stderr
    assert "  one.left\n  other.left\n" in run.stderr
    assert "failed" not in run.stdout
