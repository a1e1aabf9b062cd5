"""`headwater pr`: what a change of a git repository does to lineage."""

import gc
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.inputs import complete_dialect, parse_variables, say_warning
from headwater.cli.options import Flags, command
from headwater.cli.terminal import say, say_lines
from headwater.errors import NotFoundError

if TYPE_CHECKING:
    from headwater.review.load import ReviewOptions
    from headwater.review.policy import Policy
    from headwater.review.review import Review

_FORMATS = ("text", "github", "gitlab", "sarif", "json", "html")


@command(
    "pr",
    examples=(
        "headwater pr --base main",
        "headwater pr --base origin/main --head HEAD --format github --fail-on breaking",
        "headwater pr --base v1.2 models snowflake=sql/sf --format html > change.html",
    ),
)
@click.argument("paths", nargs=-1, metavar="[[DIALECT=]PATH]...")
@click.option("--base", required=True, metavar="REF", help="What is compared with: where the head left this commit.")
@click.option("--head", metavar="REF", help="The commit with the change. Default: the work tree.")
@click.option("-d", "--dialect", shell_complete=complete_dialect, help="The SQL dialect of paths that name none.")
@click.option("-s", "--schema", metavar="FILE", help="Known tables: a schema file, or a folder of them.")
@click.option(
    "-t", "--target", "targets", metavar="PATTERN", multiple=True, help="Which table a file makes, by its path."
)
@click.option("--exclude", metavar="GLOB", multiple=True, help="Paths to leave out, for example tests/*.")
@click.option(
    "--engine", type=click.Choice(["auto", "zetasql", "sqlglot"]), default="auto", help="Who reads GoogleSQL."
)
@click.option("--var", "variables", metavar="NAME=VALUE", multiple=True, help="A variable of a template.")
@click.option("--policy", metavar="FILE", help="The policy. Default: headwater.policy.toml in the repository.")
@click.option(
    "--fail-on",
    type=click.Choice(["breaking", "pii", "new-issues"]),
    multiple=True,
    help="Exit code 1 if there are any. Can be given several times.",
)
@click.option(
    "-f", "--format", type=click.Choice(_FORMATS), default="text", show_default=True, help="How to show it."
)
@click.pass_obj
def pr(flags: Flags, /, paths: tuple[str, ...], base: str, head: str | None, format: str, **options: Any) -> int:
    """Say what a change does to lineage, what it breaks, and what it may break.

    Both sides come out of git and are analysed here: nothing has to be harvested before. A change is breaking when
    the head still reads a table or column that is gone, possibly breaking when something is gone or made differently,
    and else additive. `--fail-on pii` looks at flows that the policy forbids, or at all of tagged columns.
    """
    from headwater.review.git import open_repository
    from headwater.review.load import Loader
    from headwater.review.review import review

    gc.set_threshold(50_000, 20, 50)  # an estate is millions of objects that stay
    with tempfile.TemporaryDirectory(prefix="headwater-pr-") as scratch:
        repository = open_repository(Path.cwd(), Path(scratch).resolve())
        analysis = _analysis(flags, repository.root, paths, options)
        policy = _policy(options["policy"], repository.root)
        sides = repository.base_and_head(base, head)
        found = review(Loader(repository, analysis), *sides, policy)
    for warning in found.warnings:
        say_warning(warning)
    _show(flags, found, "json" if flags.json else format)
    met = found.failings(options["fail_on"])
    if met and not flags.quiet:
        say(f"fails on {', '.join(met)}", err=True)
    return 1 if met else 0


def _analysis(flags: Flags, root: Path, paths: tuple[str, ...], options: dict[str, Any]) -> "ReviewOptions":
    from headwater.jobs.harvest.sources import Rules
    from headwater.jobs.harvest.targets import Patterns
    from headwater.review.load import ReviewOptions
    from headwater.review.projects import ProjectOptions

    settings = flags.settings
    rules = Rules(
        Patterns(options["targets"] or settings.harvest_target),
        (*options["exclude"], *settings.harvest_exclude),
        parse_variables(options["variables"]),
    )
    chosen = tuple(_inside(path, root) for path in paths)
    selection = ProjectOptions(chosen, options["dialect"] or settings.dialect, rules)

    def waiting(seconds: float) -> None:
        if seconds < 0.3 and not flags.quiet:
            say("another process analyses the same commit: waiting for it", err=True)

    return ReviewOptions(selection, options["schema"] or settings.schema, options["engine"], waiting)


def _inside(text: str, root: Path) -> tuple[str | None, str]:
    """A path of the command line below the repository, and the dialect that was named for it.

    RAISES: NotFoundError when it lies outside.
    """
    from headwater.sql.dialects import dialect_names

    before, equals, path = text.partition("=")
    dialect = before.lower() if equals and before.lower() in dialect_names() else None
    place = Path(text if dialect is None else path).resolve()
    if not place.is_relative_to(root.resolve()):
        raise NotFoundError(f"{place} is not in the repository {root}")
    return dialect, place.relative_to(root.resolve()).as_posix()


def _policy(given: str | None, root: Path) -> "Policy | None":
    from headwater.review.policy import FILE_NAME, read_policy

    path = Path(given) if given is not None else root / FILE_NAME
    return read_policy(path) if given is not None or path.is_file() else None


def _show(flags: Flags, review: "Review", format: str) -> None:
    if format == "text":
        from headwater.review.told import to_text

        say_lines(flags, to_text(review))
    elif format == "json":
        from headwater.review.told import to_json

        click.echo(to_json(review))
    elif format == "sarif":
        from headwater.review.sarif import to_sarif

        click.echo(to_sarif(review))
    elif format == "html":
        from headwater.review.page import to_page

        click.echo(to_page(review))
    else:
        from headwater.review.comment import LIMITS, to_comment

        click.echo(to_comment(review, limit=LIMITS[format]))
    sys.stdout.flush()
