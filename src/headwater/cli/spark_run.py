"""`headwater spark-run | spark-plan | spark-jar`: Spark jobs, watched; followed without running; in Java or SQL."""

import dataclasses
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from headwater.cli.options import Command, Flags, command
from headwater.cli.render import print_json
from headwater.errors import EngineError


class _Passing(Command):
    """A command whose words belong to another program, but for our own options at the front."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own: list[str] = []
        while len(args) > 1 and args[0].split("=")[0] in (*_OWN, "--json"):
            count = 1 if "=" in args[0] or args[0] == "--json" else 2
            own += args[:count]
            args = args[count:]
        if args[:1] in (["-h"], ["--help"]):
            return super().parse_args(ctx, args)
        return super().parse_args(ctx, [*own, "--", *args])


_OWN = frozenset({"--sink", "--namespace", "--lake"})


@click.command(
    "spark-run",
    cls=_Passing,
    examples=(
        "headwater spark-run --sink file:events.ndjson job.py --day 2026-01-01",
        "headwater spark-run --lake warehouse --sink lake:warehouse job.py",
        "headwater spark-run --sink http://lineage:5000 --master 'local[4]' --packages org.x:y:1.0 job.py",
    ),
)
@click.option("--sink", metavar="SINK", help="Where events go: file:PATH, http://HOST, console (the default).")
@click.option("--namespace", metavar="NAME", help="The namespace of the job. Default: `default`.")
@click.option("--lake", metavar="WAREHOUSE", help="A warehouse whose tables the job finds as hw.DATABASE.TABLE.")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[SPARK-SUBMIT OPTIONS] JOB.py [ARGS]...")
@click.pass_obj
def spark_run(flags: Flags, /, words: tuple[str, ...], **given: str | None) -> None:
    """Run a PySpark job and report what it reads and writes.

    Takes what `spark-submit` takes; the job needs no change. Its output and its exit code are its own: nothing that
    happens to the reporting changes them. Further settings of the agent are `--conf spark.headwater.NAME=VALUE`.
    """
    from headwater.spark.agent.submit import parse_submission, submit_command

    settings = {name: value for name, value in given.items() if value is not None}
    line, environment = submit_command(parse_submission(words), settings)
    sys.stdout.flush()
    os.execve(line[0], line, environment)


@click.command(
    "spark-plan",
    cls=_Passing,
    examples=("headwater spark-plan job.py --day 2026-01-01", "headwater spark-plan --json --conf spark.x=y job.py"),
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[SPARK-SUBMIT OPTIONS] JOB.py [ARGS]...")
@click.pass_obj
def spark_plan(flags: Flags, /, words: tuple[str, ...]) -> int:
    """Show what a PySpark job would read and write, without running its actions.

    The job's own Python runs, and Spark analyses what it asks for; nothing is read but schemas, nothing is written.
    Actions return no rows, counts are 0, streams do not start. Files and tables that the job reads must be there, or
    have a schema in the job; what the job itself would have written is not.
    """
    from headwater.spark.agent.submit import parse_submission, submit_command

    given = parse_submission(words)
    quiet = {"spark.ui.enabled": "false", "spark.log.level": "ERROR"}
    options = ("--master", "local[1]", *(word for name in quiet for word in ("--conf", f"{name}={quiet[name]}")))
    given = dataclasses.replace(given, options=(*options, *given.options))
    with tempfile.TemporaryDirectory() as folder:  # Spark mixes what a job prints with what is printed of it
        result = Path(folder, "result")
        line, environment = submit_command(given, {}, "planned", "json" if flags.json else "text", str(result))
        code = subprocess.run(line, env=environment, stdout=sys.stderr.fileno()).returncode
        if not result.exists():
            raise EngineError(f"Spark ended with exit code {code} before the job could be followed")
        click.echo(result.read_text(encoding="utf-8"), nl=False)
    return code


@command("spark-jar", examples=("headwater spark-jar headwater-listener.jar",), configured=False)
@click.argument("out", type=click.Path(dir_okay=False, path_type=Path))
@click.pass_obj
def spark_jar(flags: Flags, /, out: Path) -> None:
    """Write the listener jar for jobs in Scala, Java or SQL.

    Give it to Spark with `--jars` and `spark.extraListeners=headwater.agent.Listener`. It writes plans down and sends
    them to the server or the folder that `spark.headwater.sink` names; `headwater serve` and `headwater ingest` make
    lineage of them. The jar is for the Spark release that is installed here.
    """
    from headwater.spark.listener import LISTENER, write_listener_jar

    write_listener_jar(out)
    if flags.json:
        print_json({"jar": str(out), "listener": LISTENER})
    elif not flags.quiet:
        click.echo(f"spark-sql --jars {out} --conf spark.extraListeners={LISTENER} \\")
        click.echo(
            "  --conf spark.headwater.sink=http://HOST:PORT   # or spool:FOLDER, for `headwater ingest FOLDER/*`"
        )
