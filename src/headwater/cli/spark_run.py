"""`headwater spark-run`: a Spark job, watched, without a line of it changed."""

import os
import sys

import click

from headwater.cli.options import Command, Flags


class _Passing(Command):
    """A command whose words belong to another program, but for our own options at the front."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own: list[str] = []
        while len(args) > 1 and args[0].split("=")[0] in _OWN:
            count = 1 if "=" in args[0] else 2
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
