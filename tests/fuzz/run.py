"""Feeding targets: nothing but a HeadwaterError may come out, in bounded time and memory."""

import os
import random
import resource
import signal
import time
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headwater.errors import HeadwaterError
from tests.fuzz.target import Target


class TooLongError(BaseException):
    """An input took more than its time. Not an `Exception`: nothing may take it for a refusal."""


@dataclass
class Outcome:
    """What a target made of its inputs."""

    inputs: int = 0
    refused: int = 0
    seconds: float = 0.0
    findings: dict[str, tuple[int, str]] = field(default_factory=dict)  # what → first input, how


def feed(target: Target, seed: int, inputs: int, *, seconds: float = 1e9, trail: Path | None = None) -> Outcome:
    """Feed so many inputs, or as many as the time allows. The number of an input and the seed make it again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _feed(target, (seed, inputs), time.monotonic() + seconds, trail)


def _feed(target: Target, wanted: tuple[int, int], until: float, trail: Path | None) -> Outcome:
    seed, inputs = wanted
    make, take = target.prepare()
    outcome = Outcome()
    begun = time.process_time()
    note = os.open(trail, os.O_WRONLY | os.O_CREAT) if trail is not None else None
    for number in range(inputs):
        if number % 256 == 0 and time.monotonic() > until:
            break
        if note is not None and number % 16 == 0:
            os.pwrite(note, b"%16d" % number, 0)  # what kills the process is among the next sixteen
        given = make(random.Random(seed << 40 | number))
        _taken(target, take, given, number, outcome)
    outcome.seconds = time.process_time() - begun
    if note is not None:
        os.close(note)
    return outcome


def _taken(target: Target, take: Any, given: Any, number: int, outcome: Outcome) -> None:
    outcome.inputs += 1
    signal.setitimer(signal.ITIMER_PROF, target.seconds, 0.5)  # of the processor: a busy machine is no finding
    signal.setitimer(signal.ITIMER_REAL, target.seconds * 60, 0.5)  # one that sleeps is
    try:
        take(given)
    except HeadwaterError:
        outcome.refused += 1
    except (Exception, TooLongError) as err:
        where = traceback.extract_tb(err.__traceback__)
        ours = [f"{Path(each.filename).name}:{each.lineno}" for each in where if "/headwater/" in each.filename]
        what = f"{type(err).__name__} at {' < '.join(ours[::-1][:4])}"
        outcome.findings.setdefault(what, (number, f"{str(err)[:200]!r} by {repr(given)[:300]}"))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def bounded(memory: int) -> None:
    """Hold this process to its bounds: what wants more memory gets an error, what takes too long is interrupted."""
    signal.signal(signal.SIGPROF, _ring)
    signal.signal(signal.SIGALRM, _ring)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))


def unbounded() -> None:
    """Undo `bounded`."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _ring(number: int, frame: object) -> None:
    raise TooLongError(f"by {signal.Signals(number).name}")
