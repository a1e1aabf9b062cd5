"""The little of the outside world that ZetaSQL asks for: time zone files to read, and a place for its last words.
wasmtime's own file functions hand reads to background threads, which do not exist in a forked child: the first
statement there would wait for ever. These answer at once, show the module nothing but time zone data, and keep what
it writes to stderr, so that a failed check inside ZetaSQL can be quoted."""

import ctypes
import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import wasmtime

_ZONES = b"/usr/share/zoneinfo"
_ROOT = 3  # the first descriptor after stdin, stdout and stderr is the folder of time zones
_OK, _BADF, _NOENT, _SPIPE = 0, 8, 44, 70
_DEVICE, _FOLDER, _FILE = 2, 3, 4
_I32, _I64 = wasmtime.ValType.i32(), wasmtime.ValType.i64()


class WasiSurroundings:
    """The view that one instance has of the system. `memory` is set once the instance exists."""

    def __init__(self) -> None:
        self.memory: Any = None
        self.last_words = b""
        # time zone data: that of the `tzdata` package, which `zetasql` requires, or the system's
        spec = find_spec("tzdata")
        folders = [Path(place) / "zoneinfo" for place in (spec.submodule_search_locations or [])] if spec else []
        folders.append(Path("/usr/share/zoneinfo"))
        self._zones = next((folder for folder in folders if (folder / "America").is_dir()), None)
        self._files: dict[int, tuple[bytes, int]] = {}  # descriptor → content, position

    def define(self, linker: Any) -> None:
        """Put these functions in front of those wasmtime defines."""
        linker.allow_shadowing = True
        functions: dict[str, tuple[Callable[..., int], str]] = {
            "fd_close": (self._close, "i"),
            "fd_fdstat_get": (self._fdstat, "ii"),
            "fd_prestat_get": (self._prestat, "ii"),
            "fd_prestat_dir_name": (self._prestat_name, "iii"),
            "fd_read": (self._read, "iiii"),
            "fd_seek": (self._seek, "iIii"),
            "fd_write": (self._write, "iiii"),
            "path_filestat_get": (lambda *_: _NOENT, "iiiii"),
            "path_open": (self._open, "iiiiiIIii"),
        }
        for name, (function, shape) in functions.items():
            parameters = [_I64 if letter == "I" else _I32 for letter in shape]
            kind = wasmtime.FuncType(parameters, [wasmtime.ValType.i32()])
            linker.define_func("wasi_snapshot_preview1", name, kind, function)

    # ------------------------------------------------------------------------------------------- memory

    def _base(self) -> int:
        return ctypes.addressof(self.memory.data_ptr().contents)

    def _put(self, at: int, content: bytes) -> None:
        ctypes.memmove(self._base() + _u32(at), content, len(content))

    def _number(self, at: int) -> int:
        return int.from_bytes(ctypes.string_at(self._base() + _u32(at), 4), "little")

    def _vectors(self, at: int, count: int) -> Iterator[tuple[int, int]]:
        for number in range(count):
            yield self._number(at + 8 * number), self._number(at + 8 * number + 4)

    # ---------------------------------------------------------------------------------------- functions

    def _prestat(self, fd: int, at: int) -> int:
        if fd != _ROOT:
            return _BADF
        self._put(at, bytes(4) + len(_ZONES).to_bytes(4, "little"))
        return _OK

    def _prestat_name(self, fd: int, at: int, size: int) -> int:
        self._put(at, _ZONES[:size])
        return _OK

    def _fdstat(self, fd: int, at: int) -> int:
        if fd > _ROOT and fd not in self._files:
            return _BADF
        kind = _DEVICE if fd < _ROOT else _FOLDER if fd == _ROOT else _FILE
        self._put(at, bytes([kind]) + bytes(7) + b"\xff" * 16)
        return _OK

    def _open(self, fd: int, _flags: int, at: int, size: int, *rest: int) -> int:
        path = ctypes.string_at(self._base() + _u32(at), size).decode(errors="replace")
        if fd != _ROOT or self._zones is None or ".." in path.split("/"):
            return _NOENT
        try:
            content = (self._zones / path).read_bytes()
        except OSError:
            return _NOENT
        new = max([_ROOT, *self._files]) + 1
        self._files[new] = (content, 0)
        self._put(rest[-1], new.to_bytes(4, "little"))
        return _OK

    def _read(self, fd: int, vectors: int, count: int, done: int) -> int:
        if fd not in self._files:
            return _BADF
        content, position = self._files[fd]
        start = position
        for at, size in self._vectors(vectors, count):
            piece = content[position : position + size]
            self._put(at, piece)
            position += len(piece)
        self._files[fd] = (content, position)
        self._put(done, (position - start).to_bytes(4, "little"))
        return _OK

    def _seek(self, fd: int, offset: int, whence: int, result: int) -> int:
        if fd not in self._files:
            return _SPIPE if fd < _ROOT else _BADF
        content, position = self._files[fd]
        base = {os.SEEK_SET: 0, os.SEEK_CUR: position}.get(whence, len(content))
        position = min(max(0, base + offset), len(content))
        self._files[fd] = (content, position)
        self._put(result, position.to_bytes(8, "little"))
        return _OK

    def _write(self, fd: int, vectors: int, count: int, done: int) -> int:
        pieces = [ctypes.string_at(self._base() + at, size) for at, size in self._vectors(vectors, count)]
        self.last_words = (self.last_words + b"".join(pieces))[-2000:]
        self._put(done, sum(map(len, pieces)).to_bytes(4, "little"))
        return _OK

    def _close(self, fd: int) -> int:
        return _OK if self._files.pop(fd, None) is not None else _BADF


def _u32(pointer: int) -> int:
    """wasmtime hands pointers over as signed numbers."""
    return pointer & 0xFFFF_FFFF
