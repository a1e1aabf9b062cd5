"""Running a job under the agent without touching its code: `headwater spark-run`.

The job goes to `spark-submit` behind a small program of ours (`bootstrap.py`), which waits for the job to make its
Spark, attaches the agent, and is otherwise not there: the job sees its own name, arguments and folder, and its exit
code is the exit code.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyspark

from headwater.errors import InputError, UsageError
from headwater.spark.agent.options import PREFIX
from headwater.spark.environment import spark_environment

_WITHOUT_VALUE = frozenset({"--verbose", "-v", "--supervise", "--version"})


@dataclass(frozen=True, slots=True)
class Submission:
    """A command line taken apart: options of `spark-submit`, the job, and the job's own arguments."""

    options: tuple[str, ...]
    job: str
    arguments: tuple[str, ...]


def parse_submission(words: Sequence[str]) -> Submission:
    """Find the job in a command line of `spark-submit`: the first word that is neither an option nor its value.

    >>> parse_submission(["--master", "local[2]", "job.py", "--day", "1"]).arguments
    ('--day', '1')

    RAISES: UsageError when there is no job, or it is not in Python.
    """
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 1 if words[at] in _WITHOUT_VALUE or "=" in words[at] else 2
    if at >= len(words):
        raise UsageError("there is no job to run", hint="headwater spark-run [options of spark-submit] job.py [args]")
    job = words[at]
    if not job.endswith(".py"):
        raise UsageError(f"`{job}` is not a Python program", hint="jobs in Scala or Java cannot be watched this way")
    return Submission(tuple(words[:at]), job, tuple(words[at + 1 :]))


def submit_command(
    submission: Submission, settings: Mapping[str, str], *program: str
) -> tuple[list[str], dict[str, str]]:
    """The command line and the environment that run a job under the agent; `settings` are the agent's options.

    `program` is the module beside this one that runs the job, and words for it; default: `bootstrap`.

    RAISES: InputError when the job is not there, JavaNotFoundError.
    """
    if not Path(submission.job).is_file():
        raise InputError(f"there is no file {submission.job}")
    script = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    given = [word for name, value in settings.items() for word in ("--conf", f"{PREFIX}{name}={value}")]
    module, *words = program or ("bootstrap",)
    bootstrap = str(Path(__file__).with_name(f"{module}.py"))
    named = ["--name", Path(submission.job).name]  # else the application would have our program's name
    line = [str(script), *named, *submission.options, *given, bootstrap, *words, submission.job]
    line += submission.arguments
    environment = dict(os.environ) | spark_environment()
    environment.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    return line, environment
