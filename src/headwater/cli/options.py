"""The options every command has, before or after its name, and what they amount to."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Any

import click

from headwater.config import Settings, SettingsOrigin, load

GLOBAL_HELP = "Global options"


@dataclass
class Flags:
    """The global options of this call, gathered while the command line is read."""

    json: bool = False
    quiet: bool = False
    verbose: bool = False
    no_color: bool = False
    config: str | None = None
    warehouse: str | None = None
    _loaded: SettingsOrigin | None = field(default=None, repr=False)

    @property
    def origin(self) -> SettingsOrigin:
        """The settings and where they came from, read once.

        RAISES: ConfigError, UnknownSettingError.
        """
        if self._loaded is None:
            color = "never" if self.no_color else None
            self._loaded = load(flags={"warehouse": self.warehouse, "color": color}, file=self.config)
        return self._loaded

    @property
    def settings(self) -> Settings:
        return self.origin.settings

    def use_color(self, stream: IO[str]) -> bool:
        """Return whether to colour what goes to a stream. A broken configuration means no, so that errors still
        show."""
        if self.no_color or os.environ.get("NO_COLOR"):
            return False
        wish = self._loaded.settings.color if self._loaded else os.environ.get("HEADWATER_COLOR", "auto")
        return wish == "always" or (wish != "never" and is_terminal(stream))

    @property
    def show_progress(self) -> bool:
        """Return whether to draw on stderr how far the work is."""
        return not self.quiet and not self.json and self.settings.progress and is_terminal(sys.stderr)


def is_terminal(stream: IO[str]) -> bool:
    """Return whether a stream goes to a terminal that can do more than print: `TERM=dumb` says of one that it
    cannot."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _gather(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    flags = ctx.ensure_object(Flags)
    if value and param.name:
        setattr(flags, param.name, value)


def global_options() -> list[click.Parameter]:
    """Fresh copies of the global options, for a group or a command."""

    def option(*names: str, help: str, **more: Any) -> click.Option:
        return click.Option(names, help=help, expose_value=False, callback=_gather, is_eager=True, **more)

    return [
        option("--json", is_flag=True, help="Print the result as JSON, in a stable form."),
        option("-q", "--quiet", is_flag=True, help="Print the result only, no progress and no summary."),
        option("-v", "--verbose", is_flag=True, help="Say more; show the trace of an unexpected error."),
        option("--no-color", is_flag=True, help="Plain text (NO_COLOR does the same)."),
        option("--config", metavar="FILE", help="Use this configuration file."),
        option("--warehouse", metavar="PATH", help="The warehouse to work on."),
    ]


class Command(click.Command):
    """A command with the global options and examples beneath its help.

    The configuration is read before the command runs, so that a broken one is never passed over in silence;
    `configured=False` is for commands that must work even then.
    """

    def __init__(self, *args: Any, examples: tuple[str, ...] = (), configured: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples
        self.configured = configured
        self.params.extend(global_options())

    def invoke(self, ctx: click.Context) -> Any:
        if self.configured:
            _ = ctx.ensure_object(Flags).origin
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader of our output has gone (`| head`): leave quietly, and keep Python from flushing at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)
        return result

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        split_options(self, ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"  {example}\n")


class SubGroup(click.Group):
    """A group of commands below `headwater`, with the global options last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        split_options(self, ctx, formatter)
        self.format_commands(ctx, formatter)


def command(
    name: str, *, examples: tuple[str, ...] = (), configured: bool = True
) -> Callable[[Callable[..., Any]], Command]:
    """Make a function a command; its docstring is the help."""
    return click.command(name, cls=Command, examples=examples, configured=configured)


def split_options(self: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write a command's own options first, then the global ones."""
    own: list[tuple[str, str]] = []
    shared: list[tuple[str, str]] = []
    for param in self.get_params(ctx):
        record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
        if record is not None:
            (shared if param.callback is _gather else own).append(record)
    for title, records in (("Options", own), (GLOBAL_HELP, shared)):
        if records:
            with formatter.section(title):
                formatter.write_dl(records)
