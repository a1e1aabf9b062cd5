"""Which files a run of the tests has left in the checkout, those that git ignores included.

    python tests/tree.py note FILE       before the tests: write the list of files to FILE
    python tests/tree.py compare FILE    after them: print the files that FILE does not list; exit code 1 if any

Only what tools cache in folders of their own is left out: environments, bytecode, pytest's and hypothesis' notes.
"""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
_CACHES = re.compile(r"\.git|\.venv.*|__pycache__|\.(pytest|mypy|ruff|import_linter)_cache|\.hypothesis")


def list_files(root: Path) -> Iterator[str]:
    """The files below a folder, and the folders in which there is nothing, as paths from it."""
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not _CACHES.fullmatch(name)]
        here = Path(folder).relative_to(root)
        yield from (str(here / name) for name in files if name != ".git")
        if not folders and not files:
            yield f"{here}/"


def find_new(root: Path, noted: Path) -> list[str]:
    """The files below a folder that were not noted."""
    before = set(noted.read_text(encoding="utf-8").splitlines())
    return sorted(set(list_files(root)) - before)


def main(verb: str, file: str) -> int:
    if verb == "note":
        Path(file).write_text("".join(f"{name}\n" for name in list_files(ROOT)), encoding="utf-8")
        return 0
    new = find_new(ROOT, Path(file))
    if new:
        print("the tests have left files in the checkout; tests write to temporary folders only:", file=sys.stderr)
        print(*(f"  {name}" for name in new), sep="\n", file=sys.stderr)
    return int(bool(new))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
