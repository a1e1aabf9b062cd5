"""Every command that stands in `--help` or in the hint of an error is run, in a world where its names exist."""

import ast
import glob
import io
import re
import shlex
import shutil

import pytest
from tests.cli.said import make_world
from tests.effort import one_in
from tests.pages import ROOT

from headwater.cli.main import run

ELSEWHERE = {
    "demo": "tests/test_examples.py",
    "play": "tests/server",
    "serve": "tests/server",
    "spark-plan": "tests/spark/agent/test_planned.py",
    "spark-run": "tests/spark/agent/test_faults.py",
    "jobs": "tests/jobs",
    "mcp": "tests/mcp",
    "warmup": "tests/cli/test_warmup.py",
}
"""Commands that start Spark or a server, and where they are run."""
FAR = re.compile(r"s3://|@db\.example/|jdbc:…|--master|--packages|HEADWATER_TOKEN=…|/mnt/disk|/data/paimon")
"""Things that no test machine has: other stores, clusters, folders outside the test."""
FINDINGS = {"bisect", "check", "check-data", "checks", "diff", "drift", "impact", "replay", "stale", "unused"}
"""Commands whose exit code 1 says that there is something to see."""
PLACES = {
    "CODE": "no-java",
    "FILE": "file.sst",
    "FOLDER": "models",
    "NAME": "v1",
    "PATH": "models",
    "TABLE.COLUMN": "raw.orders.amount",
    "TABLE": "sales.orders",
    "TEXT": "orders",
    "COMMAND": "lake",
    "{quote(name)}": "orders",
    "{verb} {words}": "trace mart.revenue --depth 1",
    "{tag}": "new",
}


def examples():
    page = (ROOT / "docs" / "reference" / "cli.md").read_text()
    for section in re.findall(r"Examples:\n(.*?)```", page, re.DOTALL):
        for line in re.findall(r"^  (.*headwater.*)", section, re.MULTILINE):
            yield re.sub(r"\s+\(.*", "", line)


def hints():
    """Commands in backticks in any hint of the source: `{…}` stands for what the program fills in."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.keyword) and node.arg == "hint":
                text = ast.unparse(node.value)
                yield from re.findall(r"`(headwater [^`]*)`", text)


def words_of(line):
    """The command line without what a shell does around it."""
    line = re.sub(r"^(eval \"\$\(|cat \S+ \| |(\w+=\S+ )+)", "", line).split(" | ")[0].removesuffix(')"')
    return shlex.split(line)[1:]


def runs_here(line):
    words = words_of(line)
    return FAR.search(line) is None and (not words or words[0] not in ELSEWHERE)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The world, made once."""
    folder = tmp_path_factory.mktemp("world")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        make_world(folder)
    data = sorted((folder / "lake" / "sales").rglob("*.sst"))[0]
    shutil.copy(data, folder / "file.sst")
    return folder


@pytest.fixture
def world(made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path / "w")
    monkeypatch.chdir(tmp_path / "w")
    monkeypatch.setattr("sys.stdin", io.StringIO("SELECT 1;\n"))


def carried_out(words):
    words = [path for word in words for path in (sorted(glob.glob(word)) if "/*." in word else [word])]
    code = run(words)
    assert code == 0 or (code == 1 and not FINDINGS.isdisjoint(words[:2])), words


@pytest.mark.parametrize("line", one_in(3, [line for line in examples() if runs_here(line)]))
def test_an_example_of_help_runs(world, line, capsys):
    if " lake create" in line:
        assert run(["sql", "-e", "DROP TABLE sales.orders"]) == 0
    if "--output" in line:
        line = line.replace("2 hours ago", "@-1")
    if "2 days ago" in line:
        line = line.replace("2 days ago", "@-1")
    if "--rounds" in line:
        line = line.replace("200", "2")
    carried_out(words_of(line))


@pytest.mark.parametrize("line", sorted({line for line in hints() if runs_here(line) and "{close}" not in line}))
def test_a_command_in_a_hint_runs(world, line, capsys):
    line = line.replace("ingest FILE", "ingest events.ndjson")
    for name, value in PLACES.items():
        line = line.replace(name, value)
    words = words_of(line)
    if words in (["lake", "verify"], ["lake", "repair"]):
        words.append("sales.orders")
    carried_out(words)


def test_there_are_hints_and_examples():
    assert len(list(hints())) > 10
    assert len([line for line in examples() if runs_here(line)]) > 60


@pytest.mark.parametrize("command", ELSEWHERE)
def test_what_runs_elsewhere_runs_there(command):
    assert (ROOT / ELSEWHERE[command]).exists()
