"""Names in the text of the documentation exist: options, Python, tables, files, tests, variables, flags, make verbs.

`tests/test_pages.py` runs what stands in blocks; here are the names in `code` between words.
"""

import ast
import functools
import importlib
import re
from dataclasses import fields

import click

from headwater.cli.main import headwater
from headwater.config import PREFIX, Settings
from headwater.graph.tables import ALL_TABLES
from headwater.spark.agent.options import PREFIX as SPARK_PREFIX
from headwater.spark.agent.options import AgentOptions
from tests.pages import PAGES, ROOT

EXAMPLES = {
    "spark-sql",
    *(
        "addr.city",
        "database.table",
        "ds.t",
        "hw.db.table",
        "p.ds.t",
        "s.x",
        "shop.gold.status",
        "shop.orders",
        "t.b",
        "us.crm.public.people",
    ),  # of a reader
    *("lake.sql", "literals=True", 'reading="value"', "tier=gold"),  # code in a few words
    *("conda-pack", "venv-pack", "spark-sql", "restart.offset"),  # tools of others; a field of the format
    *("adapter.dispatch", "catalog.json", "marts.customers"),  # of dbt
}
"""Names that look like options and are none."""
OF_SPARK = re.compile(r"spark\.(?!headwater\.).*")
SPANS = [
    (str(page.relative_to(ROOT)), span)
    for page in PAGES
    # the names of others: tests/test_seeds.py checks where they live, test_openlineage_settings.py tries them
    if page.name not in ("seeds.md", "coming-from-openlineage.md")
    for span in re.findall(
        r"`([^`\n]+)`", re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    )
]


@functools.cache
def strings():
    """Every string that stands in the code: the names of options, settings, commands and codes among them."""
    trees = (ast.parse(file.read_text(encoding="utf-8")) for file in ROOT.glob("src/**/*.py"))
    nodes = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {node.value for node in nodes if isinstance(node.value, str)}


def is_python(name):
    """Whether a dotted name is a module of Headwater's, or something in one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part, None)
        return found is not None
    return False


def test_options_are_options():
    """A name with dots or hyphens, or with a value, is an option, a code, a command, a module, a table or a file."""
    known = {*strings(), *EXAMPLES, *(spec.full_name for spec in ALL_TABLES)}
    known |= {f"{SPARK_PREFIX}{name}" for name in ("sink", *(field.name for field in fields(AgentOptions)))}
    known |= {field.name.replace("_", ".", 1) for field in fields(Settings)}
    known |= {file.name for folder in ("src", "tests", "docs", "examples") for file in (ROOT / folder).rglob("*.*")}
    known |= {file.name for file in ROOT.glob("*.*")}
    wrong, met = [], set()
    for page, span in SPANS:
        named = re.fullmatch(r"([a-z]+(?:[.-][a-z]+)*)(?: ?= ?\S+)?", span)
        if named is None or not re.search(r"[.=-]", span) or OF_SPARK.fullmatch(span):
            continue
        if str(page).endswith("mutations.md"):  # lines of code
            continue
        if str(page).endswith("coming-from-openlineage.md"):  # OpenLineage's: each is tried by a test of its own
            continue
        name = span if span in EXAMPLES else named[1]
        met.add(name)
        if name not in known and not (name.startswith("headwater.") and is_python(name)):
            wrong.append(f"{page}: {span}")
    assert wrong == []
    assert EXAMPLES - met == set()
    assert {"wal.fsync", "file.block-size", "headwater.analyze", "lineage.statements"} <= met


def test_an_option_that_is_none_is_noticed():
    assert "wal.fsync" in strings()
    assert "wal.sync" not in strings()
    assert is_python("headwater.spark.connect")
    assert not is_python("headwater.spark.conect")


def test_tests_are_tests():
    named = [(page, *found) for page, span in SPANS for found in re.findall(r"(tests/[\w/.]+)::(\w+)", span)]
    assert len(named) > 25
    assert [each for each in named if f"def {each[2]}(" not in _text(each[1])] == []


def _text(file):
    return (ROOT / file).read_text(encoding="utf-8") if (ROOT / file).is_file() else ""


def test_files_are_files():
    """A path of the repository, from its root or from the package."""
    tops = {path.name for place in (ROOT, ROOT / "src", ROOT / "src" / "headwater") for path in place.iterdir()}
    wrong = []
    for page, span in SPANS:
        path = span.partition("::")[0]
        if re.fullmatch(r"[\w.-]+(/[\w.*-]+)*/?", path) and "/" in path and path.split("/")[0] in tops - {"demo"}:
            found = [hit for place in ("", "src", "src/headwater") for hit in (ROOT / place).glob(path.rstrip("/"))]
            wrong += [] if found else [f"{page}: {span}"]
    assert wrong == []


def test_variables_are_variables():
    known = {f"{PREFIX}{field.name.upper()}" for field in fields(Settings)} | strings()
    named = [(page, name) for page, span in SPANS for name in re.findall(rf"\b{PREFIX}[A-Z_]+\b(?!\*)", span)]
    assert len(named) > 5
    assert [each for each in named if each[1] not in known] == []


def test_verbs_of_make_are_verbs():
    verbs = set(re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = [(page, found[1]) for page, span in SPANS if (found := re.match(r"make ([a-z]+)", span))]
    assert len(named) > 10
    assert [each for each in named if each[1] not in verbs] == []


def flags(command):
    context = click.Context(command)
    for parameter in command.get_params(context):
        yield from (*parameter.opts, *parameter.secondary_opts)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            yield from flags(command.get_command(context, name))


def test_flags_are_flags():
    """A flag that is named without its command is one of some command, of spark-submit or of our own pytest."""
    known = {*flags(headwater), "--help", "--golden", "--conf", "--py-files", "--remote"}
    named = [(page, flag) for page, span in SPANS for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]+", span)]
    assert len(named) > 20
    assert [each for each in named if each[1] not in known] == []
