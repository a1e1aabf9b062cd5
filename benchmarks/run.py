"""Run the benchmarks, one after the other, and show all they measured in one table.

    python benchmarks/run.py [--full] [--keep] [NAME…]      (or: make bench [FULL=1] [KEEP=1] [ONLY="lineage lake"])

Each runs in a process of its own; one that fails or misses a floor stops no other. Ratios are compared with those
kept in results/VERSION.json, and what is more than 20 % worse is printed in red. Exit code 0: every floor is met; 1:
a floor was missed; 2: a benchmark, or this program, failed. A ratio that is worse than the kept one changes no exit
code: machines differ.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from _kept import Line, keep, lines_of, machine, read_results, versions

from headwater.fit import align

HERE = Path(__file__).parent
NAMES = sorted(file.stem for file in HERE.glob("[a-z]*.py") if file.stem not in ("run", "corpora"))
SECONDS = {"quick": 240, "full": 3_600}  # for one benchmark


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all by default")
    parser.add_argument("--full", action="store_true", help="the whole workloads: an hour and more")
    parser.add_argument("--keep", action="store_true", help="write what was measured to results/VERSION.json")
    args = parser.parse_args()
    if unknown := set(args.names) - set(NAMES):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}: {', '.join(NAMES)}")
    mode = "full" if args.full else "quick"
    begun = time.monotonic()
    outcomes: dict[str, dict[str, Any]] = {}
    failed: dict[str, str] = {}
    for name in args.names or NAMES:
        outcome = _run(name, mode)
        if isinstance(outcome, str):
            failed[name] = outcome
        else:
            outcomes[name] = outcome
    release, kept = read_results()
    lines = [line for name, found in outcomes.items() for line in lines_of(found, kept.get(mode, {}).get(name, {}))]
    _show(lines, failed, f"kept {release}" if kept.get(mode) else "kept")
    print(f"{len(outcomes)} benchmarks, {mode}, in {(time.monotonic() - begun) / 60:.1f} minutes")
    if args.keep and outcomes:
        print(f"kept in {keep(mode, outcomes)}; `make docs` brings it into the pages")
    return 2 if failed else int(any(line.missed for line in lines))


def _run(name: str, mode: str) -> dict[str, Any] | str:
    """What a benchmark measured, or why there is nothing."""
    print(f"== {name}", flush=True)
    begun = time.monotonic()
    command = [sys.executable, str(HERE / f"{name}.py"), *(["--quick"] if mode == "quick" else [])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS[mode], check=False)
    except subprocess.TimeoutExpired:
        return f"not done after {SECONDS[mode]} s"
    *said, last = done.stdout.splitlines() or [""]
    outcome = _read_outcome(last)
    if outcome is None or done.returncode != (0 if outcome["floors_met"] else 1):
        print("\n".join([*said, last, done.stderr[-3000:]]))
        return f"ended with {done.returncode} and {'no' if outcome is None else 'a'} result"
    seconds = time.monotonic() - begun
    print("\n".join(said), f"\n{seconds:.0f} s\n", flush=True)
    about = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "machine": machine(), "versions": versions()}
    return about | {"seconds": round(seconds), **outcome}


def _read_outcome(line: str) -> dict[str, Any] | None:
    """What `Report.finish` printed, or None when a benchmark ended before it."""
    try:
        outcome = json.loads(line)
    except json.JSONDecodeError:
        return None
    return outcome if isinstance(outcome, dict) and "floors_met" in outcome else None


def _show(lines: list[Line], failed: dict[str, str], kept: str) -> None:
    rows = []
    for line in lines:
        floor = "" if line.floor is None else f"{'≤' if line.less else '≥'} {line.floor:g}"
        verdict = ", ".join(word for word, so in (("misses its floor", line.missed), ("worse", line.worse)) if so)
        before = "" if line.kept is None else f"{line.kept:g}"
        rows.append((line.benchmark, line.what, f"{line.measured:g}", before, floor, verdict))
    text = align(("benchmark", "what", "now", kept, "floor", ""), rows)
    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    heads, shown = text.splitlines()[:2], text.splitlines()[2:]
    for line, row in zip([None, None, *lines], [*heads, *shown]):
        red = color and line is not None and (line.worse or line.missed)
        print(f"\033[31m{row}\033[0m" if red else row)
    for name, reason in failed.items():
        print(f"\033[31m{name}: {reason}\033[0m" if color else f"{name}: {reason}")


if __name__ == "__main__":
    try:
        code = main()
    except Exception:  # Python would end with 1, which says that a floor was missed
        traceback.print_exc()
        code = 2
    sys.exit(code)
