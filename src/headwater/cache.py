"""Files that are made once per machine and kept: machine code, and what else a process maps and trusts.

    {cache}/{kind}/{name}          the file
    {cache}/{kind}/{stem}.json     its size, time and SHA-256
    {cache}/{kind}/{stem}.lock     held by the process that makes it

`{cache}` is `$HEADWATER_CACHE`, else `$XDG_CACHE_HOME/headwater`, else `~/.cache/headwater`; when that cannot be
written, a private folder under the temporary directory. A folder that others may write to is never used, nor a file
that is not as it was made.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeVar

try:
    import fcntl
except ImportError:  # no file locks on this system: two processes may then make the same, which only costs time
    fcntl = None  # type: ignore[assignment]

Loaded = TypeVar("Loaded")
Load = Callable[[Path], Loaded | None]
"""Makes something of a file that is as it was made; None when it will not do."""
Progress = Callable[[float], None]
"""Called now and then with the seconds spent so far."""

_OLD = 90 * 86_400  # seconds
_MOST = 8  # files of a suffix: installations come and go, and each needs its own


def folders(kind: str) -> list[Path]:
    """The folders that may hold files of a kind, best first."""
    named = os.environ.get("HEADWATER_CACHE")
    base = Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headwater"
    owner = os.getuid() if hasattr(os, "getuid") else "user"
    return [base / kind, Path(tempfile.gettempdir()) / f"headwater-{owner}" / kind]


def find(kind: str, name: str, load: Load[Loaded]) -> Loaded | None:
    """A file that is kept, as loaded; None when there is none that can be trusted."""
    return next((found for folder in folders(kind) if (found := _load(folder / name, load)) is not None), None)


def find_or_make(
    kind: str, name: str, load: Load[Loaded], make: Callable[[Path], None], progress: Progress
) -> Loaded | None:
    """A file, as loaded, made by one process while others wait. None when no folder can be written. `make` is called
    with the path to write, and may raise what it likes; an OSError means that the folder is no good."""
    for folder in folders(kind):
        target = folder / name
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not is_private(folder):
                continue
            with locked(target.with_suffix(".lock"), progress):
                found = _load(target, load)
                if found is None:
                    _keep(target, make)
                    found = _load(target, load)
        except OSError:
            continue
        if found is not None:
            return found
    return None


def is_private(path: Path) -> bool:
    """Return whether nobody but its owner, who is this user or root, can change a file or folder."""
    if not hasattr(os, "getuid"):
        return True
    stat = path.stat()
    return stat.st_uid in (os.getuid(), 0) and not stat.st_mode & 0o022


@contextmanager
def locked(path: Path, progress: Progress) -> Iterator[None]:
    """Hold a lock; who waits for it hears how long."""
    with open(path, "w") as file:
        began = time.monotonic()
        while fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                progress(time.monotonic() - began)
                time.sleep(0.25)
        yield


def run_child(command: Sequence[str], progress: Progress, **environment: str) -> str | None:
    """Run a program that makes a file; returns its last words if it fails. Its memory is given back when it ends."""
    environment["PYTHONPATH"] = os.pathsep.join(entry for entry in sys.path if entry)
    began = time.monotonic()
    with tempfile.TemporaryFile() as talk, tempfile.TemporaryFile() as trouble:
        child = subprocess.Popen(
            command, env=os.environ | environment, stdin=subprocess.DEVNULL, stdout=talk, stderr=trouble
        )
        while True:
            try:
                code = child.wait(timeout=0.5)
                break
            except subprocess.TimeoutExpired:
                progress(time.monotonic() - began)
        if not code:
            return None
        return _last_line(trouble) or _last_line(talk) or f"exit code {code}"


def _last_line(file: IO[bytes]) -> str:
    file.seek(0)
    return "".join(file.read().decode(errors="replace").strip().splitlines()[-1:])


def _load(path: Path, load: Load[Loaded]) -> Loaded | None:
    try:
        return load(path) if _is_as_made(path) else None
    except OSError:
        return None


def _is_as_made(path: Path) -> bool:
    try:
        stat = path.stat()
        if not is_private(path.parent) or not is_private(path):
            return False
        record = json.loads(path.with_suffix(".json").read_text())
        seen = {"size": stat.st_size, "mtime": stat.st_mtime_ns}
        return all(record.get(name) == value for name, value in seen.items()) or record.get("sha256") == _digest(path)
    except (OSError, ValueError, AttributeError):
        return False


def _keep(target: Path, make: Callable[[Path], None]) -> None:
    """Make a file and put it in place with its record; a reader sees both, or makes it for itself."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as folder:
        fresh = Path(folder) / target.name
        make(fresh)
        _flush(fresh)
        stat = fresh.stat()
        record = {"size": stat.st_size, "mtime": stat.st_mtime_ns, "sha256": _digest(fresh)}
        beside = fresh.with_suffix(".json")
        beside.write_text(json.dumps(record))
        _flush(beside)
        os.replace(fresh, target)
        os.replace(beside, target.with_suffix(".json"))
    with suppress(OSError):  # another process may be tidying, too
        _tidy(target.parent, target.suffix)


def _tidy(folder: Path, suffix: str) -> None:
    """Remove what is old, or one too many. A process that uses such a file keeps it; another makes it again."""
    ages = sorted((time.time() - file.stat().st_mtime, file) for file in folder.glob(f"*{suffix}"))
    for rank, (age, file) in enumerate(ages):
        if age > _OLD or rank >= _MOST:
            for each in (file, file.with_suffix(".json"), file.with_suffix(".lock")):
                each.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
