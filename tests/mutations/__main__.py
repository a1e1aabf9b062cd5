"""`python -m tests.mutations [WORD …]`: break each promise once, in a copy of the tree, and see its test fail.

WORDs choose mutations by parts of the names of their tests. Prints a line for each; exit 1 when one was not noticed.
`docs/mutations.md` gets the outcomes, whatever they are; those that were not tried keep what is said of them there.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

from tests.mutations.listed import MUTATIONS
from tests.mutations.mutation import Mutation

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "mutations.md"
NOTICED = "noticed"


def copy_tree(target: Path) -> None:
    """What tests need of the repository."""
    ignore = shutil.ignore_patterns("__pycache__", ".venv*", "site", "dist", ".*_cache")
    for name in ("src", "tests", "docs", "examples"):
        shutil.copytree(ROOT / name, target / name, ignore=ignore)
    for name in ("conftest.py", "pyproject.toml", "mkdocs.yml", "README.md"):
        shutil.copy(ROOT / name, target / name)


def tried(mutation: Mutation, tree: Path) -> str:
    """What became of a mutation: noticed, not noticed, or a time-out, which proves nothing. The tree is mended."""
    kept: dict[Path, str] = {}
    for file, old, new in mutation.edits:
        path = tree / "src" / "headwater" / file
        text = path.read_text()
        kept.setdefault(path, text)
        assert text.count(old) == 1, f"{file}: {old!r} is there {text.count(old)} times"
        path.write_text(text.replace(old, new))
    try:
        return _outcome(mutation.test, tree)
    finally:
        for path, text in kept.items():
            path.write_text(text)


def _outcome(test: str, tree: Path) -> str:
    env = os.environ | {"PYTHONPATH": f"{tree}:{tree / 'src'}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--timeout=280", "-p", "no:cacheprovider", test]
    run = subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True)
    if "Timeout (>" in run.stdout + run.stderr or "+ Timeout +" in run.stderr:  # as pytest-timeout says it
        return "timed out"
    return {0: "not noticed", 1: NOTICED}.get(run.returncode, f"pytest ended with {run.returncode}")


def page(outcomes: dict[Mutation, str], before: str, day: date) -> str:
    """The table of mutations with what became of each, the last time that it was tried as it is now."""
    told = [row + (outcomes.get(each) or _outcome_in(before, row)) + " |" for each, row in _rows()]
    noticed = sum(line.endswith(f"| {NOTICED} |") for line in told)
    lines = [
        "# What was broken on purpose",
        "<!-- Written by `make mutations` from what it saw: do not edit. -->\n",
        "Each line is one small change of the code that breaks a [promise](guarantees.md), made in a copy of it.",
        f"By {day:%d %B %Y} the tests named here had noticed {noticed} of {len(MUTATIONS)}.\n",
        "| broken | how | test | outcome |",
        "|---|---|---|---|",
    ]
    return "\n".join(lines + told) + "\n"


def _rows() -> Iterator[tuple[Mutation, str]]:
    """Each mutation with its line of the page, up to the outcome."""
    for each in MUTATIONS:
        files = ", ".join(dict.fromkeys(f"`{file}`" for file, _, _ in each.edits))
        how = "; ".join(f"{_short(old)} → {_short(new)}" for _, old, new in each.edits)
        yield each, f"| {files} | {how} | `{each.test}` | "


def _outcome_in(before: str, row: str) -> str:
    said = next((line for line in before.splitlines() if line.startswith(row)), row + "not run |")
    return said.removeprefix(row).removesuffix(" |")


def _short(text: str) -> str:
    words = " ".join(text.split()).replace("|", "\\|").replace("`", "'")
    return f"`{words[:70]}{'…' if len(words) > 70 else ''}`" if words else "nothing"


def main() -> int:
    words = sys.argv[1:]
    chosen = [each for each in MUTATIONS if not words or any(word in each.test for word in words)]
    outcomes: dict[Mutation, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        copy_tree(tree)
        for mutation in chosen:
            begun = time.monotonic()
            outcomes[mutation] = tried(mutation, tree)
            files = ", ".join(dict.fromkeys(file for file, _, _ in mutation.edits))
            print(f"{outcomes[mutation]:11} {time.monotonic() - begun:5.0f} s  {files}: {mutation.name}", flush=True)
    unnoticed = sum(said != NOTICED for said in outcomes.values())
    print(f"{len(chosen) - unnoticed} of {len(chosen)} mutations were noticed")
    before = PAGE.read_text() if PAGE.exists() else ""
    PAGE.write_text(page(outcomes, before, datetime.now(UTC).date()))
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
