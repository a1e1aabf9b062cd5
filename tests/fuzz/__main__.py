"""`python -m tests.fuzz [TARGET …] [--inputs N] [--seconds S] [--seed N]`: bad inputs, by the million.

Each target runs in a process of its own, with a bound on memory and on the time of one input. A line for each says
how many inputs it took and how fast; what is not a refusal in our own words is a finding, named with the number of
the input, from which `--seed S --only N` makes it again. Exit 1 if there is one.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tests.fuzz import run
from tests.fuzz.all_targets import TARGETS


def in_child(name: str, given: argparse.Namespace, trail: Path) -> tuple[int, dict[str, object]]:
    """Feed a target in a process that may die of it."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _child(name, given, trail, writing)
        except BaseException:  # not an input's: those are caught where they are fed
            traceback.print_exc()
        os._exit(1)
    os.close(writing)
    data = b""
    while piece := os.read(reading, 65536):
        data += piece
    os.close(reading)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return status, json.loads(data) if data else {}


def _child(name: str, given: argparse.Namespace, trail: Path, writing: int) -> None:
    run.bounded(TARGETS[name].memory)
    outcome = run.feed(TARGETS[name], given.seed, given.inputs, seconds=given.seconds, trail=trail)
    told = {
        "inputs": outcome.inputs,
        "refused": outcome.refused,
        "cpu": outcome.seconds,
        "findings": outcome.findings,
    }
    os.write(writing, json.dumps(told).encode()[:60_000])
    os._exit(0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; default: all")
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=1e9, help="for each target, at the most")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", type=int, help="feed this one input, and show what comes of it")
    given = parser.parse_args()
    if given.only is not None:
        make, take = TARGETS[given.targets[0]].prepare()
        value = make(random.Random(given.seed << 40 | given.only))
        print(repr(value)[:3000])
        take(value)
        return 0
    found = 0
    for name in given.targets or list(TARGETS):
        with tempfile.NamedTemporaryFile() as trail:
            begun = time.monotonic()
            status, told = in_child(name, given, Path(trail.name))
            near = Path(trail.name).read_text().strip() or 0
            died = f"died with {status} near input {near}" if status else ""
        found += report(name, told, died, time.monotonic() - begun)
    print(json.dumps({"fuzz": "ok" if not found else "findings", "seed": given.seed, "findings": found}))
    return 1 if found else 0


def report(name: str, told: dict[str, object], died: str, seconds: float) -> int:
    inputs, cpu = int(str(told.get("inputs", 0))), float(str(told.get("cpu", 0)))
    rate = inputs / cpu if cpu else 0
    print(
        f"{name:10} {inputs:>9,} inputs, {told.get('refused', 0):>9,} refused, {rate:8,.0f}/CPU-s, {seconds:6.0f} s",
        flush=True,
    )
    findings = told.get("findings") or {}
    assert isinstance(findings, dict)
    for what, (number, how) in findings.items():
        print(f"  FINDING {what} (input {number}): {how}", flush=True)
    if died:
        print(f"  FINDING {died}", flush=True)
    return len(findings) + bool(died)


if __name__ == "__main__":
    sys.exit(main())
