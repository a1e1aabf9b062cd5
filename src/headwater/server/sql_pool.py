"""The processes that answer SQL: started when they are needed, ended when they take too much."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from multiprocessing import Pipe
from threading import BoundedSemaphore, Lock

import msgspec

from headwater.errors import EngineError, HeadwaterError, MemoryLimitError, TimeLimitError, UsageError, error_classes
from headwater.server.sql_worker import Question, SqlAnswer

_PROCESSES = 2
_WAITING = 8  # questions that may wait for a process
_GRACE = 2.0  # seconds beyond its own limit after which a query is ended with its process
_START = 30.0  # seconds in which a process must have come up


class SqlWorker:
    """One process that may take some bytes. REQUIRES: one question at a time."""

    def __init__(self, memory: int) -> None:
        self._link, theirs = Pipe()
        command = [sys.executable, "-m", "headwater.server.sql_worker", str(theirs.fileno()), str(memory)]
        environment = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"}  # others reserve more than they use
        with theirs:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=environment,
                cwd="/",  # DuckDB needs a current folder, and the server's may be removed
            )
        self._is_ready = False

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, question: Question) -> SqlAnswer:
        """Have a question answered. RAISES: TimeLimitError, MemoryLimitError, EngineError when the process had to be
        ended, or has ended itself."""
        seconds = question.bounds.seconds
        try:
            if not self._is_ready:
                self._next(_START, "the process for queries did not come up")
                self._is_ready = True
            self._link.send_bytes(msgspec.msgpack.encode(question))
            answer = self._next(seconds + _GRACE, f"the query took longer than {seconds:g} seconds")
            return msgspec.msgpack.decode(answer, type=SqlAnswer)
        except (EOFError, OSError) as err:
            raise self._ended() from err

    def _next(self, seconds: float, late: str) -> bytes:
        """Return what the process says next. RAISES: TimeLimitError, and then the process is gone."""
        if not self._link.poll(seconds):
            self.close()
            raise TimeLimitError(late)
        return self._link.recv_bytes()

    def _ended(self) -> HeadwaterError:
        """Why the process has ended in the middle of a question."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)  # the link may close before the process has ended
        self.close()
        if self._process.returncode in (-signal.SIGKILL, -signal.SIGABRT):  # by the system, or for want of memory
            return MemoryLimitError("the query needs more memory than it may have")
        return EngineError("DuckDB has ended in the middle of the query")

    def kill(self) -> None:
        """End the process; who waits for its answer is told."""
        self._process.kill()

    def close(self) -> None:
        """End the process, whatever it does."""
        self._link.close()
        if self.is_alive:
            self._process.kill()
        self._process.wait()


class SqlPool:
    """A few processes for many who ask. Threads may share it."""

    def __init__(self) -> None:
        self._free: list[SqlWorker] = []
        self._lock = Lock()
        self._turns = BoundedSemaphore(_PROCESSES)
        self._places = BoundedSemaphore(_PROCESSES + _WAITING)
        self._is_closed = False
        self._running: dict[str, SqlWorker] = {}  # by the name that who asked gave the query
        self._stopped: set[str] = set()

    def start(self) -> None:
        self._is_closed = False

    def stop(self) -> None:
        """End the processes that have nothing to do; the others end when they have answered."""
        with self._lock:
            self._is_closed = True
            idle, self._free = self._free, []
        for worker in idle:
            worker.close()

    def cancel(self, name: str) -> bool:
        """Stop a query that has a name; returns whether it was running."""
        with self._lock:
            worker = self._running.get(name)
            if worker is not None:
                self._stopped.add(name)
                worker.kill()
        return worker is not None

    def ask(self, question: Question, name: str = "") -> bytes:
        """The rows of a query, as JSON; with a name it can be stopped.
        RAISES: SqlError, TimeLimitError, MemoryLimitError and others of ours."""
        if not self._places.acquire(blocking=False):
            raise _busy()
        try:
            if not self._turns.acquire(timeout=question.bounds.seconds):
                raise _busy()
            try:
                return self._asked(question, name)
            finally:
                self._turns.release()
        finally:
            self._places.release()

    def _asked(self, question: Question, name: str) -> bytes:
        worker = self._taken(question.bounds.process_bytes)
        with self._lock:
            self._running |= {name: worker} if name else {}
        try:
            answer = worker.ask(question)
        except HeadwaterError as err:
            if name in self._stopped:
                raise UsageError("the query was stopped") from err
            raise
        finally:
            with self._lock:
                self._running.pop(name, None)
                self._stopped.discard(name)
        failure = answer.failure
        is_full = failure is not None and failure.code == MemoryLimitError.code  # what it holds may not come free
        with self._lock:
            is_kept = not is_full and not self._is_closed
            self._free += [worker] if is_kept else []
        if not is_kept:
            worker.close()
        if failure is None:
            return answer.rows
        kind = next((each for each in error_classes() if each.code == failure.code), HeadwaterError)
        raise kind(failure.message, hint=failure.hint, span=failure.span)

    def _taken(self, memory: int) -> SqlWorker:
        with self._lock:
            while self._free:
                worker = self._free.pop()
                if worker.is_alive:
                    return worker
                worker.close()
        return SqlWorker(memory)


def _busy() -> TimeLimitError:
    return TimeLimitError("too many queries are waiting", hint="try again in a few seconds")
