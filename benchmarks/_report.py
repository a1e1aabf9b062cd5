"""What all benchmarks share: CPU time of the best of a few passes, a table, and one JSON line at the end."""

import argparse
import gc
import json
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from headwater.fit import align

# A benchmark may be named like what it measures: what is installed comes before what lies beside it.
_HERE = str(Path(__file__).parent)
if sys.path and sys.path[0] == _HERE:
    sys.path.append(sys.path.pop(0))


def arguments(description: str) -> argparse.Namespace:
    """`--quick` keeps a benchmark under a minute."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="a smaller workload, under a minute")
    return parser.parse_args()


def cpu_seconds(work: Callable[[], object], *, passes: int = 3) -> float:
    """The CPU time of the best pass: other programs on the machine can only make a pass slower.

    Like `timeit`, garbage is collected between passes, not during them.
    """
    best = float("inf")
    for _ in range(passes):
        gc.collect()
        gc.disable()
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
        gc.enable()
    return best


@dataclass
class Report:
    """The outcome of one benchmark.

    A ratio compares us with a peer in the same run: more is better, unless it stands in `less`. A floor is met when
    what was measured is at least (or, `most`, at most) it.
    """

    name: str
    ratios: dict[str, float] = field(default_factory=dict)
    floors: dict[str, list[float]] = field(default_factory=dict)
    less: set[str] = field(default_factory=set)
    met: bool = True

    def floor(self, name: str, measured: float, floor: float, *, most: bool = False) -> None:
        self.floors[name] = [round(measured, 4), floor]
        self.met &= measured <= floor if most else measured >= floor
        if most:
            self.less.add(name)

    def finish(self, headers: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
        """Print the table and the JSON line, and leave with 1 when a floor is not met."""
        print(f"{self.name} on {platform.machine()}, Python {platform.python_version()}")
        print(align(headers, rows))
        outcome = {
            "benchmark": self.name,
            "ratios": {name: round(value, 3) for name, value in self.ratios.items()},
            "floors": self.floors,
            "floors_met": self.met,
            "less_is_better": sorted(self.less),
            "table": [headers, *rows],
        }
        print(json.dumps(outcome, default=str))
        sys.exit(0 if self.met else 1)
