"""What the documentation shows is so: its commands are run, its Python is executed, its links lead somewhere."""

import contextlib
import re
import shlex
import urllib.request

import click
import pytest

from headwater.cli.main import headwater
from tests.pages import PAGES, ROOT, SHOWN, Page, read_blocks

SPARK = {f"docs/guides/{name}.md" for name in ("cluster", "harvest", "observe-spark", "spark-tables")}
"""Pages that need the Spark of the tests: `tests/spark/test_guides.py` runs them."""
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def runs(name):
    """Whether there is anything to run on a page."""
    blocks = list(read_blocks((ROOT / name).read_text(encoding="utf-8")))
    return any(block.language in ("console", "python") and not block.skipped for block in blocks)


HERE = [name for name in NAMES if runs(name) and name not in {*SPARK, "README.md"}]
LONG = {"docs/tour.md"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in HERE]
)
def test_a_page_shows_what_happens(name, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    if name.endswith("object-stores.md"):
        _on_s3(monkeypatch, request.getfixturevalue("s3_options"))
    Page(ROOT / name, golden=request.config.getoption("--golden")).run()


def _on_s3(monkeypatch, options):
    """The bucket of the page, on a server of this machine."""
    urllib.request.urlopen(urllib.request.Request(f"{options['endpoint']}/my-bucket", method="PUT")).close()
    for name, value in options.items():
        monkeypatch.setenv(f"AWS_{name.upper()}", value)
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")


@pytest.mark.slow
@pytest.mark.spark
def test_the_readme_shows_what_happens(demo, monkeypatch, request):
    monkeypatch.chdir(demo.parent)
    Page(ROOT / "README.md", golden=request.config.getoption("--golden")).run()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_shown_that_is_not_run(name):
    """A command stands in a block that is run, or in one that says why it is not."""
    for block in read_blocks((ROOT / name).read_text(encoding="utf-8")):
        assert block.language in {*SHOWN, "console", "python", "hidden"}, f"{name}:{block.first}"
        if block.language == "text" and not name.startswith("docs/reference/cli"):
            commands = [line for line in block.lines if re.match(r"\$ |headwater |make |pip |python ", line)]
            assert commands == [], f"{name}:{block.first}"


@pytest.mark.parametrize("name", NAMES)
def test_commands_in_the_text_are_commands(name, tmp_path, monkeypatch):
    """What prose calls a command is one, with the options it is given."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    prose = re.sub(r"```.*?```", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    for text in re.findall(r"`headwater ([a-z][^`]*)`", prose):
        _parse(text)


def test_examples_of_commands_are_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    page = (ROOT / "docs" / "reference" / "cli.md").read_text()
    examples = [
        line.split("  (")[0].split(" | ")[0]
        for section in re.findall(r"Examples:\n(.*?)```", page, re.DOTALL)
        for line in re.findall(r"^  (?:\S+=\S+ )?headwater (.*)", section, re.MULTILINE)
    ]
    assert len(examples) > 60
    for text in examples:
        _parse(text)


def _parse(text):
    """Read a command line as `headwater` would, without doing anything; what is left out may be left out."""
    group, context, words = headwater, click.Context(headwater), shlex.split(text.replace("…", "x"))
    while isinstance(group, click.Group) and words:
        name, command, words = group.resolve_command(context, words)
        assert command is not None, text
        group = command
    with contextlib.suppress(click.MissingParameter, click.exceptions.NoArgsIsHelpError):
        group.make_context(name, words, parent=context)


def test_links_lead_somewhere():
    """Those of the site are checked by `make docs`; these are the ones that a reader of the repository follows."""
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[\w-]+)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)}: {target}"
