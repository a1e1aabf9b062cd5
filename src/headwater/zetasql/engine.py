"""The engine: ZetaSQL's requests, safe with threads, forks and crashes.
A `ZetaSqlSession` is one backend with the catalogs registered in it. Sessions are lent to one thread at a time and
reused; a second thread at the same moment gets a second session. When a backend crashes it is thrown away, the
request is made once more in a new one, and only then is the crash reported."""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from headwater.cache import Progress
from headwater.errors import EngineCrashError, TimeLimitError
from headwater.zetasql.compiled import load_module
from headwater.zetasql.instance import Backend, Clock, WasmBackend
from headwater.zetasql.messages import service

_REGISTERED_AT_ONCE = 8  # catalogs a session keeps; each holds all builtin functions, about half a megabyte
_NAMED_AT_ONCE = 4_096  # texts whose tables are remembered
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class RegisteredCatalog:
    """The meaning of names in an analysis: a key that is equal only for equal content, and the content."""

    key: Hashable
    content: bytes  # a serialized SimpleCatalogProto


class ZetaSqlSession:
    """One backend and the catalogs registered in it."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._registered: OrderedDict[Hashable, int] = OrderedDict()

    def catalog_id(self, catalog: RegisteredCatalog) -> int:
        """The id under which the backend knows `catalog`; registers it if need be."""
        known = self._registered.get(catalog.key)
        if known is not None:
            self._registered.move_to_end(catalog.key)
            return known
        request = service.RegisterCatalogRequest()
        request.simple_catalog.MergeFromString(catalog.content)
        answer = self.backend.call("RegisterCatalog", request.SerializeToString())
        new = int(service.RegisterResponse.FromString(answer).registered_id)
        self._registered[catalog.key] = new
        if len(self._registered) > _REGISTERED_AT_ONCE:
            _, oldest = self._registered.popitem(last=False)
            dismissal = service.UnregisterRequest(registered_id=oldest)
            self.backend.call("UnregisterCatalog", dismissal.SerializeToString())
        return new


class ZetaSqlEngine:
    """ZetaSQL as a service inside this process."""

    def __init__(self, new_backend: Callable[[], Backend], *, sessions: int | None = None) -> None:
        self._new_backend = new_backend
        self._sessions = sessions or max(2, os.cpu_count() or 2)
        self._abandoned: list[list[ZetaSqlSession]] = []
        self._named: dict[tuple[str, bytes, bool], list[tuple[str, ...]]] = {}  # a text is asked about several times
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._idle: list[ZetaSqlSession] = []
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(self._sessions)

    def parse(self, text: str, options: bytes) -> Any:
        """The syntax tree of a script: an AnyASTScriptProto wrapper's script message."""
        request = service.ParseRequest(sql_statement=text, allow_script=True)
        request.options.MergeFromString(options)
        answer = self._run(lambda session: session.backend.call("Parse", request.SerializeToString()))
        return service.ParseResponse.FromString(answer).parsed_script

    def table_names(self, text: str, options: bytes, *, script: bool = False) -> list[tuple[str, ...]]:
        """The tables a statement names, each as the path it is written with. No catalog is needed."""
        key = text, options, script
        known = self._named.get(key)
        if known is None:
            request = service.ExtractTableNamesFromStatementRequest(sql_statement=text, allow_script=script)
            request.options.MergeFromString(options)
            body = request.SerializeToString()
            answer = self._run(lambda session: session.backend.call("ExtractTableNamesFromStatement", body))
            names = service.ExtractTableNamesFromStatementResponse.FromString(answer).table_name
            known = [tuple(name.table_name_segment) for name in names]
            with self._lock:
                self._named[key] = known
                if len(self._named) > _NAMED_AT_ONCE:
                    del self._named[next(iter(self._named))]
        return list(known)

    def analyze(self, text: str, options: bytes, catalog: RegisteredCatalog) -> Any:
        """The resolved statement: an AnyResolvedStatementProto."""
        answer = self.analyze_raw(service.AnalyzeRequest(sql_statement=text), options, catalog)
        return service.AnalyzeResponse.FromString(answer).resolved_statement

    def call(self, method: str, request: Any, response: type[_Answer]) -> _Answer:
        """Any other request of the local service that needs no catalog."""
        body = request.SerializeToString()
        answer = self._run(lambda session: session.backend.call(method, body))
        return response.FromString(answer)  # type: ignore[attr-defined,no-any-return]

    def analyze_raw(self, request: Any, options: bytes, catalog: RegisteredCatalog) -> bytes:
        """The answer to an AnalyzeRequest without options and catalog: a serialized AnalyzeResponse."""

        def ask(session: ZetaSqlSession) -> bytes:
            request.registered_catalog_id = session.catalog_id(catalog)
            # serialized messages may be joined: the options, the same for all statements, are serialized once
            return session.backend.call("Analyze", request.SerializeToString() + options)

        return self._run(ask)

    def _run(self, ask: Callable[[ZetaSqlSession], bytes]) -> bytes:
        try:
            with self._lend() as session:
                return ask(session)
        except TimeLimitError:
            raise
        except EngineCrashError:
            with self._lend(new=True) as session:
                return ask(session)

    @contextmanager
    def _lend(self, *, new: bool = False) -> Iterator[ZetaSqlSession]:
        """A session for this thread alone. One that crashed is not taken back.
        A forked child starts afresh: a lock of its parent may be held for ever, and the parent's instances are kept
        but not used, since freeing or running them here is nothing wasmtime promises."""
        if self._process != os.getpid():
            self._abandoned.append(self._idle)
            self._start()
        with self._places:
            with self._lock:
                session = self._idle.pop() if self._idle and not new else None
            session = session or ZetaSqlSession(self._new_backend())
            try:
                yield session
            except (EngineCrashError, TimeLimitError):
                session = None
                raise
            finally:
                if session is not None:
                    with self._lock:
                        self._idle.append(session)


@cache
def default_engine() -> ZetaSqlEngine:
    """The engine of this process; the first call loads the compiled module, or compiles it."""
    return wasm_engine()


def wasm_engine(*, progress: Progress | None = None, seconds: float | None = None) -> ZetaSqlEngine:
    """A new engine over the WebAssembly build of ZetaSQL, with a time limit per request."""
    engine, module = load_module(progress)
    clock = Clock(engine, seconds)
    return ZetaSqlEngine(lambda: WasmBackend(engine, module, clock))
