"""Both sides of a change, out of git. Nothing of the user's work tree, index or object store is written to."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from headwater.errors import InputError, MissingDependencyError

WORK_TREE = "the work tree"
_PLAIN = ("core.symlinks=false", "core.quotePath=false", "filter.lfs.smudge=", "filter.lfs.required=false")
_SHALLOW = "in CI, fetch the whole history (`fetch-depth: 0`), or `git fetch origin REF`"


@dataclass(frozen=True, slots=True)
class Revision:
    """A state of a repository: how it was named, and the tree of its files."""

    label: str
    tree: str


@dataclass(frozen=True)
class Repository:
    """A git repository, and a folder for what git makes while it is asked."""

    root: Path
    scratch: Path
    environment: Mapping[str, str] = field(default_factory=dict)  # where objects are kept that git makes for us

    def base_and_head(self, base: str, head: str | None) -> tuple[Revision, Revision]:
        """The two versions to compare: the commit where the head left the base, and the head, or the work tree.

        RAISES: InputError when a name means no commit.
        """
        end = self._commit(head or "HEAD")
        start = self._commit(base)
        left = self._ask("merge-base", start, end, check=False).strip()
        told = f"{base} ({(left or start)[:10]}" + (
            f", where {head or 'HEAD'} left it)" if left not in ("", start) else ")"
        )
        first = Revision(told, self._tree(left or start))
        if head is not None:
            return first, Revision(f"{head} ({end[:10]})", self._tree(end))
        return first, Revision(f"{WORK_TREE} ({end[:10]} and what is not committed)", self._tree_of_files())

    def _commit(self, name: str) -> str:
        found = self._ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", check=False)
        if not found.strip():
            raise InputError(f"git knows no commit `{name}` in {self.root}", hint=_SHALLOW)
        return found.strip()

    def _tree(self, commit: str) -> str:
        return self._ask("rev-parse", f"{commit}^{{tree}}").strip()

    def _tree_of_files(self) -> str:
        """The tree of the files as they lie there, without those that git ignores; made by an index of our own."""
        index = self.scratch / "work-index"
        there = Path(self._ask("rev-parse", "--git-path", "index").strip())
        there = there if there.is_absolute() else self.root / there
        if there.is_file():
            shutil.copy2(there, index)  # with its time: git looks into files that are not older than the index
        own = {"GIT_INDEX_FILE": str(index)}
        listed = self._ask("ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard", env=own)
        names = "\0".join(dict.fromkeys(name for name in listed.split("\0") if name and not name.endswith("/")))
        self._ask("update-index", "--add", "--remove", "-z", "--stdin", env=own, input=names)
        return self._ask("write-tree", env=own).strip()

    def files(self, version: Revision) -> dict[str, str]:
        """The files of a version, by path, with the id of their content."""
        listed = self._ask("ls-tree", "-r", "-z", "--full-tree", version.tree)
        rows = (line.partition("\t") for line in listed.split("\0") if line)
        return {path: about.split()[2] for about, _, path in rows if about.split()[1] == "blob"}

    def extract(self, version: Revision, paths: Iterable[str], folder: Path) -> None:
        """Write some files of a version below a folder. What `.gitattributes` keeps out of archives is there too."""
        own = {"GIT_INDEX_FILE": str(self.scratch / f"{version.tree}-index")}
        self._ask("read-tree", version.tree, env=own)
        names = "\0".join(paths)
        self._ask("checkout-index", "-q", "-f", "-z", "--stdin", f"--prefix={folder}/", env=own, input=names)

    def renames(self, base: Revision, head: Revision) -> dict[str, str]:
        """The files that git takes for renamed: old name → new name."""
        listed = self._ask("diff-tree", "-r", "-z", "-M", "--diff-filter=R", "--name-status", base.tree, head.tree)
        fields = listed.split("\0")
        return {fields[at + 1]: fields[at + 2] for at in range(0, len(fields) - 2, 3)}

    def _ask(self, *words: str, env: Mapping[str, str] | None = None, input: str = "", check: bool = True) -> str:
        settings = [part for setting in _PLAIN for part in ("-c", setting)]
        done = _git([*settings, *words], self.root, {**self.environment, **(env or {})}, input)
        if check and done.returncode:
            raise InputError(f"`git {words[0]}` failed: {_last(done.stderr)}")
        return done.stdout


def open_repository(folder: Path, scratch: Path) -> Repository:
    """The repository that a folder lies in. `scratch` is a folder that the caller removes.

    RAISES: InputError when there is none, MissingDependencyError without git.
    """
    top = _git(["rev-parse", "--show-toplevel"], folder, {}, "")
    if top.returncode or not top.stdout.strip():
        hint = "run this in a checkout" if "must be run in a work tree" in top.stderr else "`git init` makes one"
        raise InputError(f"{folder} is not in the work tree of a git repository: {_last(top.stderr)}", hint=hint)
    root = Path(top.stdout.strip())
    objects = _git(["rev-parse", "--git-path", "objects"], root, {}, "").stdout.strip()
    ours = scratch / "objects"
    ours.mkdir(parents=True, exist_ok=True)
    others = os.pathsep.join(filter(None, (str((root / objects).resolve()), os.environ.get(_ALTERNATES))))
    return Repository(root, scratch, {"GIT_OBJECT_DIRECTORY": str(ours), _ALTERNATES: others})


_ALTERNATES = "GIT_ALTERNATE_OBJECT_DIRECTORIES"


def _git(words: list[str], folder: Path, env: Mapping[str, str], input: str) -> "subprocess.CompletedProcess[str]":
    clean = {name: value for name, value in os.environ.items() if name not in _OWN} | {"LC_ALL": "C"}
    try:
        return subprocess.run(
            ["git", *words],
            cwd=folder,
            env=clean | dict(env),
            input=input,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            check=False,
        )
    except FileNotFoundError as err:
        raise MissingDependencyError(
            "git is not installed", hint="install git: both sides of a change are asked of it"
        ) from err


_OWN = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"})  # a hook has them set


def _last(text: str) -> str:
    return "".join(text.strip().splitlines()[-1:]) or "it said nothing"
