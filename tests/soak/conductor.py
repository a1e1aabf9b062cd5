"""Starts the actors, kills them, wakes them again under another clock, and tells how it goes."""

import ctypes
import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.soak.stage import Stage

ROOT = Path(__file__).parent.parent.parent
CLOCKS = {"true": 0, "ahead": 7200, "behind": -5400}  # seconds
_LAST_WORDS = 240.0  # seconds to come to an end: the client of S3 tries again for up to three minutes
_SPARK_EVERY = 75.0  # seconds between two deaths of Spark, which takes long to wake up


def dies_with_us() -> None:
    """In a child, before it becomes another program: end when the conductor ends, however that ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def environment(clock: str = "true") -> dict[str, str]:
    """What a process is told, also by how much its clock is wrong. Files keep their true times."""
    paths = f"{ROOT}:{ROOT / 'src'}"
    return os.environ | {"PYTHONPATH": paths, "PYTHONUNBUFFERED": "1", "SOAK_CLOCK": str(CLOCKS[clock])}


def start(*command: str, clock: str = "true", log: Path | None = None, **more: Any) -> subprocess.Popen[bytes]:
    errors = log.open("ab") if log is not None else None
    return subprocess.Popen(
        [sys.executable, *command],
        env=environment(clock),
        cwd=ROOT,
        preexec_fn=dies_with_us,
        stderr=errors,
        **more,
    )


class Nursery:
    """A process that forks actors under one clock."""

    def __init__(self, stage: Stage, clock: str) -> None:
        self.clock = clock
        log = stage.root / "logs" / f"nursery-{clock}.log"
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = start("-m", "tests.soak.nursery", stage.folder, clock=clock, log=log, **pipes)
        self._buffer = b""

    def order(self, **facts: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(facts).encode() + b"\n")
        self._process.stdin.flush()

    def news(self) -> list[dict[str, Any]]:
        """What was said since we last asked. RAISES: RuntimeError when the nursery is gone."""
        assert self._process.stdout is not None
        while select.select([self._process.stdout], [], [], 0)[0]:
            data = os.read(self._process.stdout.fileno(), 65536)
            if not data:
                raise RuntimeError(f"the nursery `{self.clock}` is gone")
            self._buffer += data
        *lines, self._buffer = self._buffer.split(b"\n")
        return [json.loads(line) for line in lines]

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)


@dataclass
class Conductor:
    """The chaos of one soak."""

    stage: Stage
    cast: dict[str, tuple[int, bool]]  # actor → how often it is killed, whether its clock may be wrong
    chance: random.Random
    seconds: float
    progress: Callable[["Conductor"], None]
    kills: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    _alive: dict[str, int] = field(default_factory=dict)
    _names: dict[int, str] = field(default_factory=dict)
    _due: dict[str, float] = field(default_factory=dict)  # when an actor that is gone comes back
    _stopped: dict[int, float] = field(default_factory=dict)
    _spark: subprocess.Popen[bytes] | None = None
    _spark_due: float = 0.0

    def run(self, elapsed: float = 0.0) -> None:
        """Play until the time is over, then let everybody come to an end."""
        nurseries = {clock: Nursery(self.stage, clock) for clock in CLOCKS}
        self._due = dict.fromkeys(self.cast, 0.0)
        self._await(nurseries)
        begun, next_kill, next_line = time.monotonic() - elapsed, 0.0, 0.0
        while (now := time.monotonic()) - begun < self.seconds:
            self._hear(nurseries, now)
            self._wake(nurseries, now)
            self._stir_spark(now)
            if now >= next_kill:
                self._strike(now)
                next_kill = now + self.chance.uniform(0.3, 2.0)
            if now >= next_line:
                self.elapsed = now - begun
                (self.stage.root / "elapsed").write_text(str(self.elapsed))
                self.progress(self)
                next_line = now + 10
            time.sleep(0.05)
        self._finish(nurseries)

    def _await(self, nurseries: dict[str, Nursery]) -> None:
        """The time of the soak begins when everything is imported."""
        for nursery in nurseries.values():
            while not nursery.news():
                time.sleep(0.1)

    def _hear(self, nurseries: dict[str, Nursery], now: float) -> None:
        for nursery in nurseries.values():
            for line in nursery.news():
                if "born" in line:
                    self._alive[line["actor"]] = line["born"]
                    self._names[line["born"]] = line["actor"]
                elif "dead" in line:
                    self._mourn(line["dead"], line["status"], now)

    def _mourn(self, pid: int, status: int, now: float) -> None:
        name = self._names.pop(pid)
        self._alive.pop(name, None)
        self._stopped.pop(pid, None)
        if status != -signal.SIGKILL and not self.stage.is_over:
            log = self.stage.root / "logs" / f"{name}.log"
            tail = log.read_text()[-500:] if log.exists() else ""
            self.failures.append(f"{name} ended by itself with {status}: {tail}")
        self._due[name] = now + self.chance.uniform(0.0, 1.5)

    def _wake(self, nurseries: dict[str, Nursery], now: float) -> None:
        for name, due in list(self._due.items()):
            if now >= due:
                del self._due[name]
                wrong = self.cast[name][1] and self.chance.random() < 0.3
                clock = self.chance.choice(["ahead", "behind"]) if wrong else "true"
                nurseries[clock].order(actor=name, seed=self.chance.getrandbits(32))

    def _strike(self, now: float) -> None:
        """Kill somebody, or make somebody stand still for a while."""
        for pid, until in list(self._stopped.items()):
            if now >= until:
                del self._stopped[pid]
                self._send(pid, signal.SIGCONT)
        names = sorted(self._alive)
        weights = [self.cast[name][0] for name in names]
        if not sum(weights):
            return
        name = self.chance.choices(names, weights)[0]
        if self.chance.random() < 0.15:
            self._stopped[self._alive[name]] = now + self.chance.uniform(0.5, 5.0)
            self._send(self._alive[name], signal.SIGSTOP)
        else:
            self.kills[name] += 1
            self._send(self._alive.pop(name), signal.SIGKILL)

    def _send(self, pid: int, what: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, what)

    def _stir_spark(self, now: float) -> None:
        """Spark is a process of its own, with a JVM and workers: they die together."""
        if self._spark is not None and self._spark.poll() is not None:
            self.failures.append(f"spark ended by itself with {self._spark.returncode}")
            self._spark = None
        if self._spark is not None and now >= self._spark_due:
            os.killpg(self._spark.pid, signal.SIGKILL)
            self._spark.wait()
            self.kills["spark"] += 1
            self._spark = None
        if self._spark is None:
            self._spark = self.start_spark()
            self._spark_due = now + self.chance.uniform(0.4, 1.0) * _SPARK_EVERY

    def start_spark(self, *more: str) -> subprocess.Popen[bytes]:
        log = self.stage.root / "logs" / "spark.log"
        command = ("-m", "tests.soak.sparks", self.stage.folder, str(self.chance.getrandbits(32)), *more)
        return start(*command, log=log, start_new_session=True, stdout=subprocess.DEVNULL)

    def _finish(self, nurseries: dict[str, Nursery]) -> None:
        (self.stage.root / "calm").touch()
        (self.stage.root / "stop").touch()
        for pid in self._stopped:
            self._send(pid, signal.SIGCONT)
        if self._spark is not None:
            os.killpg(self._spark.pid, signal.SIGKILL)
            self._spark.wait()
        end = time.monotonic() + _LAST_WORDS
        while self._alive and time.monotonic() < end:
            self._hear(nurseries, time.monotonic())
            time.sleep(0.1)
        for name, pid in self._alive.items():
            self.failures.append(f"{name} did not end")
            self._send(pid, signal.SIGKILL)
        for nursery in nurseries.values():
            nursery.end()
