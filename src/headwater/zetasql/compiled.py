"""The compiled ZetaSQL module, kept between processes.
The `zetasql` package carries ZetaSQL as WebAssembly. Turning it into machine code takes half a minute of CPU and a
gigabyte of memory; loading the result takes two milliseconds. So it is compiled once per machine, in a child process,
and kept as `zetasql/{key}.cwasm` in the cache. The key names the wasm file, the wasmtime library and the CPU."""

import hashlib
import importlib.util
import os
import platform
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import wasmtime

from headwater import cache
from headwater.cache import Progress
from headwater.errors import EngineError, MissingDependencyError
from headwater.zetasql.runtime import new_engine, release_at_exit

_KIND = "zetasql"


def load_module(progress: Progress | None = None) -> tuple[Any, Any]:
    """The wasmtime engine and the compiled module, from the cache or newly compiled.
    RAISES: MissingDependencyError when the wasm file is not there, EngineError when it cannot be compiled."""
    engine = new_engine()
    wasm = wasm_path()
    name, load = _file_name(wasm), partial(_load, engine)
    module = cache.find(_KIND, name, load)
    if module is None:
        progress = progress or _announce
        module = cache.find_or_make(_KIND, name, load, partial(_compile_in_child, wasm, progress), progress)
    return engine, module if module is not None else _compile(engine, wasm)


def warmup(progress: Progress | None = None) -> Path | None:
    """Compile the module now if need be, and return its place in the cache (None when no folder can be written)."""
    load_module(progress)
    return compiled_path()


def compiled_path() -> Path | None:
    """Return where the compiled module is kept, None if it is not compiled yet.
    RAISES: MissingDependencyError when there is nothing to compile."""
    return cache.find(_KIND, _file_name(wasm_path()), lambda path: path)


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
        raise MissingDependencyError(f"there is no ZetaSQL binary at `{path}`", hint="`pip install zetasql`")
    return path


def cache_key(wasm: Path) -> str:
    """Return what the machine code depends on: the wasm file, the compiler and the CPU."""
    files = [wasm, Path(wasmtime._ffi.dll._name)]
    stats = [(stat.st_size, stat.st_mtime_ns) for stat in (file.stat() for file in files)]
    return hashlib.sha256(repr([stats, platform.machine(), _cpu(), 1]).encode()).hexdigest()[:24]


def _file_name(wasm: Path) -> str:
    return f"{cache_key(wasm)}.cwasm"


def _cpu() -> str:
    with suppress(OSError), open("/proc/cpuinfo") as info:
        for line in info:
            if line.startswith(("flags", "Features")):
                return hashlib.sha256(line.encode()).hexdigest()
    return platform.processor()


def _load(engine: Any, path: Path) -> Any:
    try:
        return release_at_exit(wasmtime.Module.deserialize_file(engine, str(path)))
    except wasmtime.WasmtimeError:
        return None


def _compile_in_child(wasm: Path, progress: Progress, target: Path) -> None:
    failure = cache.run_child([sys.executable, "-m", "headwater.zetasql.compiled", str(wasm), str(target)], progress)
    if failure is not None:
        raise EngineError(f"ZetaSQL could not be compiled: {failure}")


def _compile(engine: Any, wasm: Path) -> Any:
    try:
        return release_at_exit(wasmtime.Module.from_file(engine, str(wasm)))
    except wasmtime.WasmtimeError as err:
        raise EngineError(f"`{wasm}` is not a WebAssembly module: {err}") from err


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
    Path(sys.argv[2]).write_bytes(bytes(_compile(new_engine(), Path(sys.argv[1])).serialize()))
