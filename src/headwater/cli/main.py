"""The `headwater` group: finds a command, runs it, and turns whatever happens into an exit code.

0 done · 1 findings · 2 usage, input or configuration · 130 interrupted.
"""

import re
import shlex
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from headwater import errors
from headwater.cli.options import Flags, command, global_options, split_options
from headwater.cli.render import print_json, print_table, render_error
from headwater.cli.terminal import say, width_of
from headwater.errors import HeadwaterError, MemoryLimitError, UsageError
from headwater.extras import is_extra, not_installed
from headwater.text import suggest

SECTIONS = {
    "Begin": {
        "demo": "headwater.cli.demo:demo",
        "doctor": "headwater.cli.doctor:doctor",
        "explain": "headwater.cli.main:explain",
        "completion": "headwater.cli.main:completion",
        "warmup": "headwater.cli.warmup:warmup",
    },
    "SQL text": {
        "lineage": "headwater.cli.lineage:lineage",
        "play": "headwater.cli.play:play",
        "check": "headwater.cli.check:check",
        "diff": "headwater.cli.graph_changes:diff",
        "pr": "headwater.cli.pr:pr",
    },
    "The graph": {
        "harvest": "headwater.cli.harvest:harvest",
        "pull": "headwater.cli.pull:pull",
        "ingest": "headwater.cli.graph_changes:ingest",
        "harvests": "headwater.cli.graph:harvests",
        "search": "headwater.cli.graph:search",
        "trace": "headwater.cli.graph:trace",
        "impact": "headwater.cli.graph:impact",
        "path": "headwater.cli.graph:path",
        "unused": "headwater.cli.graph:unused",
        "tag": "headwater.cli.graph:tag",
        "describe": "headwater.cli.describe:describe",
        "pii": "headwater.cli.graph:pii",
        "checks": "headwater.cli.quality:checks",
        "drift": "headwater.cli.graph_changes:drift",
        "serve": "headwater.cli.serve:serve",
        "mcp": "headwater.cli.mcp:mcp",
    },
    "Tables": {
        "sql": "headwater.cli.sql:sql",
        "lake": "headwater.cli.lake:lake",
        "why": "headwater.cli.graph_changes:why",
        "replay": "headwater.cli.provenance:replay",
        "bisect": "headwater.cli.provenance:bisect",
        "rebuild": "headwater.cli.rebuild:rebuild",
        "stale": "headwater.cli.graph_changes:stale",
        "check-data": "headwater.cli.quality:check_data",
    },
    "Spark": {
        "spark-run": "headwater.cli.spark_run:spark_run",
        "spark-plan": "headwater.cli.spark_run:spark_plan",
        "spark-jar": "headwater.cli.spark_run:spark_jar",
        "jobs": "headwater.cli.jobs:jobs",
    },
}
COMMANDS = {name: place for section in SECTIONS.values() for name, place in section.items()}
"""Command → where it is defined. A module is imported when its command is asked for."""


class Group(click.Group):
    """A group that imports a command's module only when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            hint = suggest(args[0], COMMANDS, "`headwater --help` lists the commands", "`headwater {}`")
            raise UsageError(f"there is no command `{args[0]}`", hint=hint)
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        split_options(self, ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands by what they are for, each with its first sentence, whole."""
        for title, names in SECTIONS.items():
            with formatter.section(title):
                commands = [(name, self.get_command(ctx, name)) for name in names]
                formatter.write_dl([(name, found.get_short_help_str(200)) for name, found in commands if found])


@click.group(
    cls=Group,
    params=global_options(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(None, "-V", "--version", package_name="headwater", message="headwater %(version)s")
@click.pass_context
def headwater(ctx: click.Context) -> None:
    """A lakehouse in which every column knows where it came from.

    New here? `headwater demo` shows what it does, in a minute.
    """
    ctx.ensure_object(Flags)


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [code for code in errors.explanations() if code.casefold().startswith(incomplete.casefold())]


@command(
    "explain",
    examples=("headwater explain no-java", "headwater explain UNKNOWN_TABLE", "headwater explain"),
    configured=False,
)
@click.argument("code", required=False, shell_complete=_complete)
@click.pass_obj
def explain(flags: Flags, code: str | None) -> None:
    """Explain an error or issue code; without one, list them all."""
    if code is None:
        known = errors.explanations()
        if flags.json:
            print_json(known)
        else:
            print_table(("code", "meaning"), [(name, text.split("\n\n")[0]) for name, text in known.items()])
        return
    text = errors.explain(code)
    if flags.json:
        print_json({"code": code, "explanation": text})
    else:
        say(text)


@command(
    "completion",
    examples=('eval "$(headwater completion bash)"', "headwater completion fish | source"),
    configured=False,
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for a shell. Put the call in the shell's start-up file to keep it."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(ctx.find_root().command, {}, "headwater", "_HEADWATER_COMPLETE").source()
    if ctx.ensure_object(Flags).json:
        print_json({"shell": shell, "script": script})
    else:
        click.echo(script)


def run(args: Sequence[str]) -> int:
    """Run one command line and return its exit code; never raises, never shows a bare traceback."""
    own = args[: args.index("--")] if "--" in args else args
    flags = Flags(json="--json" in own, no_color="--no-color" in own)  # also for what is wrong before they are read
    try:
        return _invoke(args, flags)
    except HeadwaterError as err:
        return _report(err if flags.json else with_command(err, args), flags)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130
    except MemoryError as err:
        return _report(MemoryLimitError(f"there is not enough memory: {err or 'an allocation failed'}"), flags)
    except Exception as err:
        if isinstance(err, ModuleNotFoundError) and is_extra(err.name):
            return _report(not_installed(err.name or ""), flags)
        if flags.verbose:
            traceback.print_exc()
        message = f"{type(err).__name__}: {err}"
        return _report(HeadwaterError(message, hint="this is a bug; run again with --verbose for the trace"), flags)


def _invoke(args: Sequence[str], flags: Flags) -> int:
    try:
        result = headwater.main(list(args), prog_name="headwater", standalone_mode=False, obj=flags)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.Abort as err:
        raise KeyboardInterrupt from err
    except click.UsageError as err:
        command = err.ctx.command_path if err.ctx else "headwater"
        raise UsageError(err.format_message().rstrip("."), hint=f"`{command} --help` shows what it takes") from err
    except click.ClickException as err:
        raise UsageError(err.format_message()) from err
    return result if isinstance(result, int) else 0


def with_command(err: HeadwaterError, args: Sequence[str]) -> HeadwaterError:
    """An error with a hint that can be followed as it stands: the command line with what was meant in place of what
    was typed, or a search in the same state."""
    hint = err.hint or ""
    meant = re.fullmatch(r"did you mean `(?!headwater )([^`]+)`\?", hint)
    said = re.split(r"[\s`,:]+(?:default\.)?", err.message)
    wrong = [at for at, arg in enumerate(args) if _NAME.sub(r"\2", arg) in said]
    if meant and wrong:
        line = list(args)
        line[wrong[-1]] = _NAME.sub(lambda found: f"{found[1]}{meant[1]}{found[3]}", line[wrong[-1]])
        whole = shlex.join(line)
        hint = f"did you mean `headwater {whole}`?" if len(whole) <= _LONGEST else hint
    elif "--as-of" in args[:-1] and hint.startswith("`headwater search "):
        state = shlex.quote(args[args.index("--as-of") + 1])
        hint = re.sub("^`([^`]*)`", lambda found: f"`{found[1]} --as-of {state}`", hint)
    err.hint = hint or None
    return err


_LONGEST = 200  # characters of a command line that a hint repeats
_NAME = re.compile(r"^((?:\d*\+)?)([^+@]+)((?:\+\d*|@.*)?)$")  # alone, with steps (`2+name+1`) or a moment (`name@3`)


def _report(err: HeadwaterError, flags: Flags) -> int:
    how: Any = {"color": flags.use_color(sys.stderr), "width": width_of(sys.stderr)}
    sys.stderr.write(render_error(err, json=flags.json, **how) + "\n")
    return err.exit_code
