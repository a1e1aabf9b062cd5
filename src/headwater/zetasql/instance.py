"""One running copy of ZetaSQL: bytes in, bytes out.
`Backend` is the seam: what speaks ZetaSQL's local service protocol (method name, serialized request → serialized
response) can stand in for the WebAssembly instance, a gRPC server for example."""

import ctypes
import math
import os
import re
import threading
import time
from collections.abc import Mapping
from typing import Any, Protocol

import wasmtime

from headwater.errors import EngineCrashError, TimeLimitError
from headwater.zetasql.runtime import release_at_exit
from headwater.zetasql.wasi import WasiSurroundings

_SERVICE = "ZetaSqlLocalService_"
_TICK = 0.25
_UNLIMITED = 1 << 40


class ServiceError(Exception):
    """ZetaSQL's own answer that a request is wrong: a status code and a message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Backend(Protocol):
    """Something that answers ZetaSQL's local service requests, one at a time."""

    def call(self, method: str, request: bytes) -> bytes:
        """Answer one request. RAISES: ServiceError when ZetaSQL refuses it; EngineCrashError or TimeLimitError when
        the backend must not be used again."""
        ...


class WasmBackend:
    """A WebAssembly instance of ZetaSQL. REQUIRES: calls from one thread at a time."""

    def __init__(self, engine: Any, module: Any, clock: "Clock") -> None:
        self.clock = clock
        self.store = release_at_exit(wasmtime.Store(engine))
        self.store.set_wasi(wasmtime.WasiConfig())
        self.store.set_epoch_deadline(_UNLIMITED)
        self.surroundings = WasiSurroundings()
        linker = release_at_exit(wasmtime.Linker(engine))
        linker.define_wasi()
        self.surroundings.define(linker)
        self.exports: Mapping[str, Any] = dict(linker.instantiate(self.store, module).exports(self.store).items())
        self.memory = self.surroundings.memory = self.exports["memory"]
        self.exports["_initialize"](self.store)

    def call(self, method: str, request: bytes) -> bytes:
        try:
            with self.clock.limit(self.store):
                return self._call(self.exports[_SERVICE + method], request)
        except wasmtime.Trap as trap:
            if trap.trap_code is wasmtime.TrapCode.INTERRUPT:
                raise TimeLimitError(f"no answer after {self.clock.seconds:g} s") from trap
            raise EngineCrashError(f"ZetaSQL stopped: {self._reason(trap)}") from trap
        except wasmtime.WasmtimeError as err:
            raise EngineCrashError(f"ZetaSQL stopped: {err}") from err

    def _call(self, function: Any, request: bytes) -> bytes:
        """Lay out [response size: 4 bytes][request] in one block, call, and copy the answer out in one move."""
        store, free = self.store, self.exports["wasm_free"]
        block = self.exports["wasm_malloc"](store, len(request) + 4)
        base = ctypes.addressof(self.memory.data_ptr().contents)
        ctypes.memmove(base + block + 4, request, len(request))
        answer = function(store, block + 4, len(request), block)
        if answer == 0:
            free(store, block)
            raise self._last_error(base)
        size = int.from_bytes(ctypes.string_at(base + block, 4), "little")
        response = ctypes.string_at(base + answer, size)
        free(store, answer)
        free(store, block)
        return response

    def _reason(self, trap: Any) -> str:
        """The failed check ZetaSQL wrote about, else the name of the trap."""
        words = self.surroundings.last_words.decode(errors="replace")
        check = re.search(r"Check failed: ([^\n]*)", words)
        if check:
            return f"check failed: {check.group(1).strip()}"
        return trap.trap_code.name.replace("_", " ").lower() if trap.trap_code else "trap"

    def _last_error(self, base: int) -> ServiceError:
        size = self.exports["wasm_get_last_error_size"](self.store)
        text = ctypes.string_at(base + self.exports["wasm_get_last_error"](self.store), size).decode(errors="replace")
        match = re.match(r"Code: (\d+), Message: (.*)", text, re.DOTALL)
        return ServiceError(int(match.group(1)), match.group(2)) if match else ServiceError(2, text)


class Clock:
    """Ticks while calls are under way, so that wasmtime can stop one that exceeds its time."""

    def __init__(self, engine: Any, seconds: float | None = None) -> None:
        self.engine = engine
        self.seconds = float(os.environ.get("HEADWATER_ZETASQL_SECONDS") or 60) if seconds is None else seconds
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._busy = threading.Event()
        self._lock = threading.Lock()
        self._active = 0
        self._thread: threading.Thread | None = None

    def limit(self, store: Any) -> "_Limit":
        """A context in which `store` may run for `seconds`."""
        return _Limit(self, store)

    def enter(self, store: Any) -> None:
        if self.seconds <= 0:
            return
        if self._process != os.getpid():  # the thread that ticks does not live on in a forked child
            self._start()
        store.set_epoch_deadline(math.ceil(self.seconds / _TICK) + 1)
        with self._lock:
            self._active += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._tick, name="headwater-zetasql-clock", daemon=True)
                self._thread.start()
        self._busy.set()

    def leave(self) -> None:
        if self.seconds > 0:
            with self._lock:
                self._active -= 1

    def _tick(self) -> None:
        while True:
            self._busy.wait()
            time.sleep(_TICK)
            try:
                self.engine.increment_epoch()
            except ValueError:  # released: the process is ending
                return
            with self._lock:
                if self._active == 0:
                    self._busy.clear()


class _Limit:
    def __init__(self, clock: Clock, store: Any) -> None:
        self.clock = clock
        self.store = store

    def __enter__(self) -> None:
        self.clock.enter(self.store)

    def __exit__(self, *_: object) -> None:
        self.clock.leave()
