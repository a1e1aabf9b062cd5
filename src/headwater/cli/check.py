"""`headwater check`: SQL text as a test of its own lineage, for CI."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from headwater.cli.issues import github_annotations, render_issue
from headwater.cli.lineage import analysis_options, expression_option, run_analysis
from headwater.cli.options import Flags, command
from headwater.cli.terminal import say
from headwater.errors import Issue, Severity
from headwater.text import counted


@command(
    "check",
    examples=(
        "headwater check models/ --dialect bigquery --schema schema.json",
        "headwater check sql/ --strict --format github",
    ),
)
@click.argument("paths", nargs=-1, metavar="[FILE|FOLDER|-]...", type=click.Path())
@analysis_options
@expression_option
@click.option("--strict", is_flag=True, help="Remarks are findings too, not only warnings and errors.")
@click.option(
    "-f",
    "--format",
    type=click.Choice(["text", "github", "json"]),
    default="text",
    show_default=True,
    help="`github` annotates a pull request.",
)
@click.option("--policy", metavar="FILE", help="The policy. Default: the nearest headwater.policy.toml upward.")
@click.pass_obj
def check(
    flags: Flags, /, paths: tuple[str, ...], strict: bool, format: str, policy: str | None, **options: Any
) -> int:
    """Look for what makes lineage wrong or incomplete. Exit code 1 when there are findings.

    Errors are statements that cannot be read; warnings are unknown tables and columns, ambiguous names, schema
    conflicts; remarks (with --strict) are everything else that makes lineage approximate. What a policy does not
    allow is a warning, too.
    """
    result = run_analysis(flags, paths, **options)
    broken = _violations(result, options["dialect"] or flags.settings.dialect, policy)
    findings = [issue for issue in (*result.issues, *broken) if strict or issue.severity is not Severity.INFO]
    if flags.json or format == "json":
        click.echo(replace(result, issues=(*result.issues, *broken)).to_json())
    elif format == "github":
        click.echo(github_annotations(findings), nl=bool(findings))
    else:
        for issue in findings:
            text = render_issue(issue, result.sources.get(issue.source_name), flags, sys.stdout)
            sys.stdout.write(text + "\n\n")
    if not flags.quiet:
        count, of = len(findings), len(result.statements)
        found = counted(count, "finding") if count else "no findings"
        say(f"{found} in {counted(of, 'statement')}", err=True)
    return 1 if findings else 0


def _violations(result: Any, dialect: str | None, given: str | None) -> list[Issue]:
    """Return what the nearest policy, or the one that was given, does not allow: issues at their places."""
    from headwater.review.policy import find_policy, read_policy

    path = Path(given) if given is not None else find_policy(Path.cwd())
    if path is None:
        return []
    from headwater.review.rules import violations
    from headwater.review.side import side_of_texts

    found = []
    for each in violations(side_of_texts(result, dialect), read_policy(path)):
        source = result.sources.get(each.file)
        span = source.span_at(each.line, 1) if source is not None and each.line else None
        way = f"the way: {' → '.join(each.way)}" if each.way else None
        found.append(Issue(each.code, Severity.WARNING, each.message, span, source_name=each.file, hint=way))
    return found
