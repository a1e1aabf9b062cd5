"""`headwater completion`: the script that lets a shell complete our commands."""

import click
from click.shell_completion import get_completion_class

from headwater.cli.options import Flags, command
from headwater.cli.render import print_json


@command(
    "completion",
    examples=('eval "$(headwater completion bash)"', "headwater completion fish | source"),
    configured=False,
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for a shell. Put the call in the shell's start-up file to keep it."""
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(ctx.find_root().command, {}, "headwater", "_HEADWATER_COMPLETE").source()
    if ctx.ensure_object(Flags).json:
        print_json({"shell": shell, "script": script})
    else:
        click.echo(script)
