"""`headwater` and `python -m headwater`."""

import atexit
import gc
import os
import sys
import threading
from typing import Any, NoReturn, cast

from headwater.cli.main import run


class _WithoutPandas:
    """Says that there is no pandas. pyarrow imports it, a quarter of a second, when it first converts a time."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("no command of headwater needs pandas", name=name)


_OBJECTS = 50_000  # between two collections of garbage: a command makes as many while it imports, and frees none

_OF_OTHERS = frozenset({"spark-run", "spark-plan"})  # commands that hand their environment on to a job


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.meta_path.insert(0, cast("Any", _WithoutPandas()))
    if _OF_OTHERS.isdisjoint(sys.argv):  # NumPy's linear algebra, which we do not use, takes 0.1 s to start threads
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(_OBJECTS, *gc.get_threshold()[1:])
    _leave(run(sys.argv[1:]))


def _leave(code: int) -> NoReturn:
    """End the process without taking down its modules first: that is a tenth of the time of a short command."""
    if threading.active_count() > 1:  # the interpreter waits for threads that are at work
        sys.exit(code)
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):  # who read it has gone, or it is closed: the interpreter says so
        sys.exit(code)
    os._exit(code)


if __name__ == "__main__":
    main()
