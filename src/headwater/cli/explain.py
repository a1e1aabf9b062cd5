"""`headwater explain`: what a code means."""

import click

from headwater import errors
from headwater.cli.options import Flags, command
from headwater.cli.render import print_json, print_table


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
        click.echo(text)
