"""`python -m tests.lake.checker [--seconds 600] [--seed 1] [--only N]`: tables against their model, for long.

Every run is a table of a random shape and forty random steps. Runs that fail are named by their number, from which
`--only N` makes them again. Exit 1 if there is one.
"""

import argparse
import random
import time
import traceback

from tests.lake.checker.run import run
from tests.lake.checker.shapes import random_shape


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    given = parser.parse_args()
    if given.only is not None:
        run(random_shape(random.Random(given.only)), given.only)
        return 0
    first = number = given.seed * 1_000_000
    end, failed = time.monotonic() + given.seconds, 0
    while time.monotonic() < end:
        try:
            run(random_shape(random.Random(number)), number)
        except Exception:
            failed += 1
            print(f"run {number}:\n{traceback.format_exc()}", flush=True)
        number += 1
    print(f"{number - first:,} runs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
