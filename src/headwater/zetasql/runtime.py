"""The set-up of wasmtime for ZetaSQL: shared memory, a deep stack, and calls that can be interrupted."""

import atexit
import ctypes
import sys
import weakref
from contextlib import suppress
from typing import Any

import wasmtime

try:
    import resource
except ImportError:  # not a POSIX system
    resource = None  # type: ignore[assignment]

_MIB = 1 << 20
_WANTED_STACK = 4 * _MIB  # enough for about 800 operands in one chain; the default traps at 500


def new_engine() -> Any:
    """A wasmtime engine as the ZetaSQL module needs it. Compiled modules fit every engine made here."""
    config = wasmtime.Config()
    config.shared_memory = True
    config.epoch_interruption = True
    stack = _stack_size()
    if stack and _set_async_stack(config, 2 * stack):
        config.max_wasm_stack = stack
    return release_at_exit(wasmtime.Engine(config))


def release_at_exit(owned: Any) -> Any:
    """Let the system take an object of wasmtime's back when the process ends. Objects that are still there when
    Python takes its modules apart cannot free themselves any more, and would say so on stderr."""
    _owned.append(weakref.ref(owned))
    return owned


def _release() -> None:
    for reference in _owned:
        owned = reference()
        if owned is not None:
            with suppress(ValueError, AttributeError):
                owned._consume()


_owned: list[weakref.ref[Any]] = []
atexit.register(_release)


def _stack_size() -> int | None:
    """Return how much native stack a call may use, or None for the default.
    A call runs on the stack of its thread; half of what Linux gives a thread is safe to promise."""
    if resource is None or not sys.platform.startswith("linux"):
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_STACK)
    available = 8 * _MIB if soft == resource.RLIM_INFINITY else soft
    return min(_WANTED_STACK, available // 2) if available >= 2 * _MIB else None


def _set_async_stack(config: Any, size: int) -> bool:
    """Raise the limit that `max_wasm_stack` may not exceed; the Python binding lacks the setter."""
    try:
        setter = wasmtime._ffi.dll.wasmtime_config_async_stack_size_set
        setter.argtypes = [ctypes.POINTER(wasmtime._ffi.wasm_config_t), ctypes.c_size_t]
        setter.restype = None
        setter(config.ptr(), size)
    except AttributeError:
        return False
    return True
