"""`headwater` and `python -m headwater`."""

import os
import sys
from typing import Any, cast

from headwater.cli.main import run


class _WithoutPandas:
    """Says that there is no pandas. pyarrow imports it, a quarter of a second, when it first converts a time."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("no command of headwater needs pandas", name=name)


_OF_OTHERS = frozenset({"spark-run", "spark-plan"})  # commands that hand their environment on to a job


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.meta_path.insert(0, cast("Any", _WithoutPandas()))
    if _OF_OTHERS.isdisjoint(sys.argv):  # NumPy's linear algebra, which we do not use, takes 0.1 s to start threads
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
