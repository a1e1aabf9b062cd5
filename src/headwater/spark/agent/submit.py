"""Running a job under the agent without touching its code: `headwater spark-run`.

The job goes to `spark-submit` behind a small program of ours (`bootstrap.py`), which waits for the job to make its
Spark, attaches the agent, and is otherwise not there: the job sees its own name, arguments and folder, and its exit
code is the exit code.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pyspark

from headwater.errors import InputError, UsageError
from headwater.safe_yaml import read_yaml
from headwater.spark.agent.options import PREFIX
from headwater.spark.environment import spark_environment

PIPELINES = "spark-pipelines"
"""In the place of a job: Spark's own runner of declared pipelines."""
_SPECS = ("spark-pipeline.yml", "spark-pipeline.yaml")
_HOME = Path(pyspark.__file__).parent
_REMOTE = (
    "`headwater spark-jar listener.jar` writes a listener for it: `start-connect-server.sh --jars listener.jar"
    " --conf spark.extraListeners=headwater.agent.Listener --conf spark.headwater.sink=http://HOST:PORT`, where"
    " `headwater serve` listens; then run the job as ever"
)
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

    RAISES: UsageError when there is no job, it is not in Python, or Spark runs elsewhere.
    """
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 1 if words[at] in _WITHOUT_VALUE or "=" in words[at] else 2
    if at >= len(words):
        raise UsageError("there is no job to run", hint="headwater spark-run [options of spark-submit] job.py [args]")
    job = words[at]
    remote = [second for first, second in pairwise(words[:at]) if first == "--remote" and second.startswith("sc:")]
    if remote or any(each.startswith("--remote=sc:") for each in words[:at]):
        raise UsageError("a remote Spark is observed where it runs, not from its client", hint=_REMOTE)
    if not job.endswith(".py") and job != PIPELINES:
        raise UsageError(f"`{job}` is not a Python program", hint="jobs in Scala or Java cannot be watched this way")
    return Submission(tuple(words[:at]), job, tuple(words[at + 1 :]))


def submit_command(
    submission: Submission, settings: Mapping[str, str], *program: str
) -> tuple[list[str], dict[str, str]]:
    """The command line and the environment that run a job under the agent; `settings` are the agent's options.

    `program` is the module beside this one that runs the job, and words for it; default: `bootstrap`.

    RAISES: InputError when the job is not there, JavaNotFoundError.
    """
    given = [word for name, value in settings.items() for word in ("--conf", f"{PREFIX}{name}={value}")]
    module, *words = program or ("bootstrap",)
    bootstrap = str(Path(__file__).with_name(f"{module}.py"))
    if submission.job == PIPELINES:
        line = [str(_HOME / "bin" / "spark-class"), "org.apache.spark.deploy.SparkPipelines", bootstrap]
        line += ["--conf", f"spark.app.name={_pipeline_name(submission.arguments)}", *submission.options, *given]
        line += [str(_HOME / "pipelines" / "cli.py"), *submission.arguments]
    elif Path(submission.job).is_file():
        named = ["--name", Path(submission.job).name]  # else the application would have our program's name
        line = [str(_HOME / "bin" / "spark-submit"), *named, *submission.options, *given, bootstrap, *words]
        line += [submission.job, *submission.arguments]
    else:
        raise InputError(f"there is no file {submission.job}")
    environment = dict(os.environ) | spark_environment()
    environment.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    return line, environment


def _pipeline_name(arguments: Sequence[str]) -> str:
    """The name of the pipeline that `spark-pipelines` finds: of `--spec`, else in this folder or one above it.

    RAISES: InputError when this PySpark has no pipelines, or there is no specification.
    """
    if not (_HOME / "pipelines" / "cli.py").is_file():
        raise InputError(f"Spark {pyspark.__version__} has no declared pipelines", hint="Spark 4.1 brought them")
    given = [second for first, second in pairwise(arguments) if first == "--spec"]
    given += [first.partition("=")[2] for first in arguments if first.startswith("--spec=")]
    here = Path.cwd()
    places = map(Path, given) if given else (folder / name for folder in (here, *here.parents) for name in _SPECS)
    spec = next((each for each in places if each.is_file()), None)
    if spec is None:
        raise InputError(
            "there is no specification of a pipeline", hint=f"--spec FILE, or {_SPECS[0]} in this folder"
        )
    content = read_yaml(spec.read_text(encoding="utf-8"))
    return str(content["name"]) if isinstance(content, dict) and "name" in content else spec.parent.resolve().name
