"""The compiled ZetaSQL module, and the cache that keeps it between processes.

The `zetasql` package carries ZetaSQL as WebAssembly. Turning it into machine code takes half a minute of CPU and a
gigabyte of memory; loading the result takes two milliseconds. So it is compiled once per machine, in a child
process, and kept as

    {cache}/zetasql/{key}.cwasm     machine code, mapped into every process that uses it
    {cache}/zetasql/{key}.json      its size, time and SHA-256
    {cache}/zetasql/{key}.lock      held by the process that compiles

`{cache}` is `$HEADWATER_CACHE`, else `$XDG_CACHE_HOME/headwater`, else `~/.cache/headwater`; when that cannot be
written, a private folder under the temporary directory. The key names the wasm file, the wasmtime library and the
CPU. Because the file is machine code, a folder that others may write to is never used.
"""

import hashlib
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import wasmtime

from headwater.errors import EngineError, MissingDependencyError
from headwater.zetasql.runtime import new_engine, release_at_exit

try:
    import fcntl
except ImportError:  # no file locks on this system: two processes may then compile at once, which only costs time
    fcntl = None  # type: ignore[assignment]

Progress = Callable[[float], None]
"""Called now and then with the seconds spent compiling so far."""

_DAY = 86_400


def load_module(progress: Progress | None = None) -> tuple[Any, Any]:
    """The wasmtime engine and the compiled module, from the cache or newly compiled.

    RAISES: MissingDependencyError when the wasm file is not there, EngineError when it cannot be compiled.
    """
    engine = new_engine()
    wasm = wasm_path()
    key = cache_key(wasm)
    for folder in cache_folders():
        module = _load(engine, folder / f"{key}.cwasm")
        if module is not None:
            return engine, module
    return engine, _compile_shared(engine, wasm, key, progress=progress or _announce)


def warmup(progress: Progress | None = None) -> Path | None:
    """Compile the module now if need be, and return its place in the cache (None when no folder can be written)."""
    load_module(progress)
    return compiled_path()


def compiled_path() -> Path | None:
    """Where the compiled module is kept, None if it is not compiled yet.

    RAISES: MissingDependencyError when there is nothing to compile.
    """
    name = f"{cache_key(wasm_path())}.cwasm"
    return next((folder / name for folder in cache_folders() if (folder / name).exists()), None)


def wasm_path() -> Path:
    """The ZetaSQL binary: `$HEADWATER_ZETASQL_WASM`, else the one in the `zetasql` package."""
    named = os.environ.get("HEADWATER_ZETASQL_WASM")
    if named:
        path = Path(named)
    else:
        spec = importlib.util.find_spec("zetasql.wasi")
        folders = list(spec.submodule_search_locations or []) if spec else []
        path = Path(folders[0] if folders else ".") / "zetasql.wasm"
    if not path.is_file():
        raise MissingDependencyError(f"there is no ZetaSQL binary at `{path}`", hint="pip install zetasql")
    return path


def cache_key(wasm: Path) -> str:
    """What the machine code depends on: the wasm file, the compiler and the CPU."""
    files = [wasm, Path(wasmtime._ffi.dll._name)]
    stats = [(stat.st_size, stat.st_mtime_ns) for stat in (file.stat() for file in files)]
    return hashlib.sha256(repr([stats, platform.machine(), _cpu(), 1]).encode()).hexdigest()[:24]


def cache_folders() -> list[Path]:
    """The folders that may hold the compiled module, best first."""
    named = os.environ.get("HEADWATER_CACHE")
    base = Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headwater"
    owner = os.getuid() if hasattr(os, "getuid") else "user"
    return [base / "zetasql", Path(tempfile.gettempdir()) / f"headwater-{owner}" / "zetasql"]


def _cpu() -> str:
    with suppress(OSError), open("/proc/cpuinfo") as info:
        for line in info:
            if line.startswith(("flags", "Features")):
                return hashlib.sha256(line.encode()).hexdigest()
    return platform.processor()


def _load(engine: Any, path: Path) -> Any:
    """The module kept at `path`, or None when there is none that can be trusted."""
    try:
        stat = path.stat()
        if not _is_private(path.parent) or not _is_private(path):
            return None
        record = json.loads(path.with_suffix(".json").read_text())
        seen = {"size": stat.st_size, "mtime": stat.st_mtime_ns}
        if any(record.get(name) != value for name, value in seen.items()) and record.get("sha256") != _digest(path):
            return None
        return release_at_exit(wasmtime.Module.deserialize_file(engine, str(path)))
    except (OSError, ValueError, AttributeError, wasmtime.WasmtimeError):
        return None


def _is_private(path: Path) -> bool:
    if not hasattr(os, "getuid"):
        return True
    stat = path.stat()
    return stat.st_uid in (os.getuid(), 0) and not stat.st_mode & 0o022


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _compile_shared(engine: Any, wasm: Path, key: str, *, progress: Progress) -> Any:
    """Compile into the first folder that can be written; other processes wait for it and use it."""
    for folder in cache_folders():
        target = folder / f"{key}.cwasm"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not _is_private(folder):
                continue
            with _lock(target.with_suffix(".lock"), progress):
                module = _load(engine, target)
                if module is None:
                    _compile_in_child(wasm, target, progress)
                    module = _load(engine, target)
        except OSError:
            continue
        if module is not None:
            return module
    return _compile(engine, wasm)


@contextmanager
def _lock(path: Path, progress: Progress) -> Iterator[None]:
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


def _compile_in_child(wasm: Path, target: Path, progress: Progress) -> None:
    """Compile in a process of its own, which gives its memory back when it ends."""
    command = [sys.executable, "-m", "headwater.zetasql.compiled", str(wasm), str(target)]
    paths = os.pathsep.join(entry for entry in sys.path if entry)
    began = time.monotonic()
    with tempfile.TemporaryFile() as talk:
        child = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": paths}, stderr=talk, stdout=talk)
        while True:
            try:
                code = child.wait(timeout=0.5)
                break
            except subprocess.TimeoutExpired:
                progress(time.monotonic() - began)
        if code:
            talk.seek(0)
            last = talk.read().decode(errors="replace").strip().splitlines()[-1:]
            raise EngineError(f"ZetaSQL could not be compiled: {''.join(last) or f'exit code {code}'}")


def _compile(engine: Any, wasm: Path) -> Any:
    try:
        return release_at_exit(wasmtime.Module.from_file(engine, str(wasm)))
    except wasmtime.WasmtimeError as err:
        raise EngineError(f"`{wasm}` is not a WebAssembly module: {err}") from err


def _store(module: Any, target: Path) -> None:
    """Put the machine code and its record in place; a reader sees both or compiles for itself."""
    code = bytes(module.serialize())
    _replace(target, code)
    stat = target.stat()
    record = {"size": stat.st_size, "mtime": stat.st_mtime_ns, "sha256": hashlib.sha256(code).hexdigest()}
    _replace(target.with_suffix(".json"), json.dumps(record).encode())
    for old in target.parent.glob("*.cwasm"):
        if old != target and time.time() - old.stat().st_mtime > 90 * _DAY:
            old.unlink(missing_ok=True)


def _replace(target: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _announce(seconds: float) -> None:
    """Say once, on stderr, why the first use takes so long."""
    if not _announce_state:
        _announce_state.append(seconds)
        sys.stderr.write(
            "headwater: compiling ZetaSQL for this machine; this happens once and takes about a minute\n"
        )


_announce_state: list[float] = []

if __name__ == "__main__":
    os.umask(0o077)
    _store(_compile(new_engine(), Path(sys.argv[1])), Path(sys.argv[2]))
