"""Files in a folder of this machine.
A file is written under a temporary name, synced, and then published by `rename` (put) or `link` (put_if_absent),
which the kernel does in one step; the folder is synced last, so that the name survives a loss of power too. `link`
fails if the name is taken, which makes it the one-winner primitive that `exists()` + `rename` is not."""

import errno
import fcntl
import mmap
import os
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from stat import S_ISDIR

from headwater.errors import (
    AlreadyExistsError,
    HeadwaterError,
    MemoryLimitError,
    NotFoundError,
    NotWritableError,
    StorageError,
)
from headwater.files.protocol import Buffer, Data, FileEntry, check_folder, check_path, pieces

_UNPUBLISHED = ".unpublished-"  # names that begin so are files being written, or left by a process that died
_NOT_WRITABLE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT}


class LocalFiles:
    """A store in a local folder, which is made when it is first written to."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root).expanduser().absolute()
        self._prefix = os.path.join(self.root, "")  # paths are put together as text: a compaction opens thousands

    @property
    def url(self) -> str:
        return str(self.root)

    def __repr__(self) -> str:
        return f"LocalFiles({self.url!r})"

    def get(self, path: str) -> bytes:
        with _wrapped("read", self._at(path)) as place, open(place, "rb", buffering=0) as file:
            return file.read()

    def get_range(self, path: str, start: int, length: int) -> bytes:
        with _wrapped("read", self._at(path)) as place, open(place, "rb", buffering=0) as file:
            if start < 0:
                start = max(0, os.fstat(file.fileno()).st_size + start)
            descriptor = file.fileno()
            parts = []
            while length > 0 and (part := os.pread(descriptor, length, start)):
                parts.append(part)
                start, length = start + len(part), length - len(part)
            return b"".join(parts)

    def map(self, path: str) -> memoryview:
        with _wrapped("read", self._at(path)) as place, open(place, "rb", buffering=0) as file:
            if os.fstat(file.fileno()).st_size == 0:
                return memoryview(b"")  # an empty file cannot be mapped
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    def put(self, path: str, data: Data, *, synced: bool = True) -> None:
        self._publish(path, data, os.replace, synced=synced)

    def put_if_absent(self, path: str, data: Data) -> None:
        self._publish(path, data, os.link)

    def list(self, folder: str = "", *, deep: bool = False) -> list[FileEntry]:
        """List a folder; with `deep`, no symbolic link to a folder is followed: what it leads to is not ours."""
        folder = check_folder(folder)
        place = self.root / folder
        with _wrapped("list", str(place)):
            if deep and not place.resolve().is_relative_to(self.root.resolve()):
                return []
            entries = list(self._scan(place, f"{folder}/" if folder else "", deep))
        return sorted(entries, key=lambda entry: entry.path)

    def delete(self, path: str) -> None:
        with _wrapped("delete", self._at(path)) as place:
            with suppress(FileNotFoundError):
                os.unlink(place)
            self._prune(Path(place).parent)

    def appender(self, path: str) -> "LocalAppender":
        with _wrapped("create", self._at(path)) as place:
            descriptor = self._create(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND)
            _sync_folder(os.path.dirname(place))
            return LocalAppender(place, descriptor)

    def probe(self, path: str) -> Callable[[], bool]:
        return partial(os.access, self._at(path), os.F_OK)

    def lock(self, path: str) -> "LocalLock":
        with _wrapped("lock", self._at(path)) as place:
            descriptor = self._create(place, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as err:
                os.close(descriptor)
                raise StorageError(f"{place} is held by another writer", hint="close the other one first") from err
            return LocalLock(descriptor)

    def sweep(self, *, older_than: float = 86_400.0, now: float | None = None) -> Sequence[str]:
        """Remove files that were never published because their writer died; return their names.
        A writer that is alive finishes a file in far less than `older_than` seconds."""
        limit, swept = (time.time() if now is None else now) - older_than, []
        with _wrapped("sweep", str(self.root)):
            for folder, _, names in os.walk(self.root):  # which minds no folder that vanishes meanwhile
                for name in names:
                    if name.startswith(_UNPUBLISHED):
                        place = Path(folder, name)
                        with suppress(FileNotFoundError):
                            if place.stat().st_mtime <= limit:
                                place.unlink()
                                swept.append(place.relative_to(self.root).as_posix())
        return sorted(swept)

    def _at(self, path: str) -> str:
        return self._prefix + check_path(path)

    def _publish(self, path: str, data: Data, publish: Callable[[str, str], None], *, synced: bool = True) -> None:
        with _wrapped("write", self._at(path)) as place:
            folder = os.path.dirname(place)
            temporary = f"{folder}/{_UNPUBLISHED}{uuid.uuid4().hex}"
            try:
                descriptor = self._create(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
                try:
                    for piece in pieces(data):
                        _write_all(descriptor, piece)
                    if synced:
                        os.fsync(descriptor)
                finally:
                    os.close(descriptor)
                publish(temporary, place)
                if synced:
                    with suppress(FileNotFoundError):  # the file was deleted already, and its folder with it
                        _sync_folder(folder)
            finally:
                with suppress(FileNotFoundError):  # renamed away, or its folder was never made
                    os.unlink(temporary)

    def _create(self, place: str, flags: int) -> int:
        while True:
            with suppress(FileNotFoundError):  # there is no folder yet, or a concurrent delete has pruned it
                return os.open(place, flags, 0o644)
            self._make_folder(os.path.dirname(place))

    def _make_folder(self, folder: str) -> None:
        missing: list[str] = []
        while not os.path.isdir(folder):
            missing.append(folder)
            folder = os.path.dirname(folder)
        for new in reversed(missing):
            with suppress(FileNotFoundError):  # pruned again by a concurrent delete: `_create` comes back
                try:
                    os.mkdir(new)
                except FileExistsError:
                    found = os.lstat(new)  # one look: between two, a delete may remove what another writer made
                    if not S_ISDIR(found.st_mode) and not os.path.isdir(new):
                        raise
                _sync_folder(os.path.dirname(new))

    def _prune(self, folder: Path) -> None:
        """Remove folders that became empty, so that they exist exactly while they hold something."""
        while folder != self.root:
            try:
                folder.rmdir()
            except OSError:
                return
            folder = folder.parent

    def _scan(self, folder: Path, prefix: str, deep: bool) -> Iterator[FileEntry]:
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as found:
            for item in found:
                if item.is_dir():
                    if not deep:
                        yield FileEntry(f"{prefix}{item.name}/")
                    elif not item.is_symlink():
                        yield from self._scan(Path(item.path), f"{prefix}{item.name}/", deep)
                elif not item.name.startswith(_UNPUBLISHED):
                    with suppress(FileNotFoundError):
                        status = item.stat()
                        yield FileEntry(f"{prefix}{item.name}", status.st_size, status.st_mtime)


class LocalAppender:
    """A log on local disk: every append is one `write`, so it survives the process at once."""

    def __init__(self, place: str, descriptor: int) -> None:
        self._place = place
        self._descriptor: int | None = descriptor

    def append(self, data: Buffer) -> None:
        try:
            _write_all(self._open_descriptor(), data)
        except OSError as err:
            raise _translated("append to", self._place, err) from err

    def sync(self) -> None:
        with _wrapped("sync", self._place):
            os.fdatasync(self._open_descriptor())

    def close(self) -> None:
        if self._descriptor is not None:
            try:
                self.sync()
            finally:
                os.close(self._descriptor)
                self._descriptor = None

    def _open_descriptor(self) -> int:
        if self._descriptor is None:
            raise StorageError(f"{self._place} is closed")
        return self._descriptor


class LocalLock:
    """A lock of the operating system, which ends with the process however that ends."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _write_all(descriptor: int, data: Buffer) -> None:
    view = memoryview(data).cast("B")
    while view:
        view = view[os.write(descriptor, view) :]


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _wrapped(verb: str, place: str) -> Iterator[str]:
    """Turn the operating system's errors into ours."""
    try:
        yield place
    except OSError as err:
        raise _translated(verb, place, err) from err
    except MemoryError as err:
        raise MemoryLimitError(f"cannot {verb} {place}: there is not enough memory") from err


def _translated(verb: str, place: str, err: OSError) -> HeadwaterError:
    reason = f"cannot {verb} {place}: {err.strerror or err}"
    if isinstance(err, FileExistsError) and verb in ("write", "create"):
        return AlreadyExistsError(f"{place} already exists")
    if isinstance(err, FileNotFoundError | IsADirectoryError | NotADirectoryError) and verb == "read":
        return NotFoundError(f"there is no file {place}")
    if err.errno in _NOT_WRITABLE and verb != "read":
        return NotWritableError(reason, hint="check permissions and free space, or name another warehouse")
    if err.errno == errno.EACCES:
        return StorageError(reason, hint="check the permissions of the file and of its folders")
    return StorageError(reason)
