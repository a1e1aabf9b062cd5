"""What `headwater spark-run` starts: attaches the agent to the Spark that a job makes, and runs the job.

Whatever goes wrong with the agent, the job runs.
"""

import functools
import logging
import runpy
import sys
from pathlib import Path
from typing import Any

from pyspark import SparkContext

from headwater.spark.agent.observe import note_failure, observe


def attach_to_coming_spark() -> None:
    """Have every SparkContext that is made from now on observed."""
    made = SparkContext.__init__

    @functools.wraps(made)
    def observed(self: SparkContext, *args: Any, **kwargs: Any) -> None:
        made(self, *args, **kwargs)
        try:
            observe()
        except Exception:
            logging.getLogger("headwater.spark").exception("The job is not observed; it runs all the same.")

    SparkContext.__init__ = observed  # type: ignore[method-assign]


def main() -> None:
    """Run the job named first, as if Python had been started with it."""
    sys.argv = sys.argv[1:]
    sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
    attach_to_coming_spark()
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as leave:
        if leave.code not in (None, 0):
            note_failure(f"the job ended with exit code {leave.code}")
        raise


if __name__ == "__main__":
    main()
