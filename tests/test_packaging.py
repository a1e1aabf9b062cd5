"""The package as others get it: what it carries, what importing it costs, and how it is installed."""

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.pages import agrees, read_blocks, read_commands

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WHEEL = f"headwater-{PROJECT['version']}-py3-none-any.whl"


def test_importing_the_package_imports_next_to_nothing():
    """Each public name is imported on first use: `import headwater` costs a few milliseconds, whatever it offers."""
    script = "import sys; before = set(sys.modules); import headwater; print(*set(sys.modules) - before)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    ours = {name for name in run.stdout.split() if name.split(".")[0] == "headwater"}
    others = {name.split(".")[0] for name in run.stdout.split()} - sys.stdlib_module_names
    assert ours == {"headwater", "headwater.lazy"}
    assert others == {"headwater"}


def test_the_constraints_fit_what_is_required():
    """`make setup` installs versions that the package accepts, and one of each dependency."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    fixed = dict(line.split("==") for line in lines if not line.startswith("#"))
    versions = {canonicalize_name(name): version for name, version in fixed.items()}
    extras = PROJECT["optional-dependencies"]
    for text in (*PROJECT["dependencies"], *(each for name in ("dev", "docs") for each in extras[name])):
        wanted = Requirement(text)
        if wanted.name != "headwater":
            assert versions[canonicalize_name(wanted.name)] in wanted.specifier, text


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel, as `make build` makes it, in a folder `dist`."""
    folder = tmp_path_factory.mktemp("build") / "dist"
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def test_the_wheel_is_complete(wheel):
    """What is no Python comes along: the marker of types, the page, the demo's files, the licence."""
    names = {name.split("/", 1)[1] for name in zipfile.ZipFile(wheel).namelist()}
    package = ROOT / "src" / "headwater"
    kept = {str(file.relative_to(package)) for file in package.rglob("*") if file.suffix not in (".pyc", "")}
    assert kept <= names
    toolkit = ROOT / "src" / "zetasql_toolkit"
    assert {str(file.relative_to(toolkit)) for file in toolkit.rglob("*.py")} <= names
    assert {"py.typed", "server/page/index.html", "demo/shop/typo.sql", "licenses/LICENSE"} <= names


class Environment:
    """An empty virtual environment, and a shell that has it first on its path."""

    def __init__(self, folder):
        venv.create(folder / "env", with_pip=True)
        self.folder = folder
        ours = ("PYTHON", "PYSPARK_", "SPARK_", "HEADWATER_", "VIRTUAL_ENV")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        path = f"{folder / 'env' / 'bin'}{os.pathsep}{os.environ['PATH']}"
        self.variables = kept | {"PATH": path, "NO_COLOR": "1", "PIP_NO_COMPILE": "1", "PIP_QUIET": "1"}

    def run(self, command, folder=None):
        words = ["bash", "-ec", command]
        where = folder or self.folder
        return subprocess.run(words, cwd=where, env=self.variables, capture_output=True, text=True, timeout=600)


@pytest.fixture
def environment(tmp_path):
    found = Environment(tmp_path)
    if found.run("pip download --no-deps --dest reached click").returncode:
        pytest.skip("no package index can be reached: pip cannot fetch what Headwater runs on")
    yield found
    shutil.rmtree(tmp_path / "env")  # over a gigabyte


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(1_800)
def test_the_first_commands_of_the_readme_run_from_the_wheel_alone(wheel, environment):
    """An empty environment, the wheel with all it runs on, the demo, and what the README asks of it first."""
    blocks = read_blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    consoles = [list(read_commands(block)) for block in blocks if block.language == "console"]
    _, (build, install, demo), (into, harvest, trace, *_), *_ = consoles
    assert build.command.startswith("make build ")
    (environment.folder / "dist").symlink_to(wheel.parent)
    for shown in (install, demo):
        run = environment.run(shown.command)
        assert run.returncode == 0, run.stdout + run.stderr
    assert environment.run("python -c 'import headwater; print(headwater.__file__)'").stdout.startswith(
        str(environment.folder)
    )
    assert into.command == "cd demo"
    for shown in (harvest, trace):
        run = environment.run(shown.command, environment.folder / "demo")
        assert run.returncode == 0, run.stderr
    assert agrees(trace.output, (run.stdout + run.stderr).splitlines())
    checkout = environment.run(f"pip install '{ROOT}[all]' && headwater --version")
    assert checkout.stdout.endswith(f"headwater {PROJECT['version']}\n"), checkout.stdout + checkout.stderr


CORE = (
    ("lineage a.sql", 0, "a.x"),
    ("lineage -d bigquery -e 'SELECT 1 AS n'", 0, "n"),
    ("check a.sql", 0, "no findings"),
    ("diff a.sql b.sql", 1, "TRANSFORMATION"),
    ("pr --base HEAD", 0, "possibly breaking"),
    ("explain no-java", 0, "Spark"),
    ("doctor", 0, "pyarrow"),
)
LAKE = (
    ("harvest a.sql --dialect duckdb --no-spark", 0, "1 statement"),
    ("trace b.y", 0, "a.x"),
    ("search y", 0, "b.y"),
    ("sql -e 'SELECT 41 + 1 AS n'", 0, "42"),
)
SPARK = (("spark-run job.py", 2, "headwater[spark]"), ("demo shop", 2, "headwater[spark]"))
"""Commands, their exit codes, and something that they say."""


def runs(environment, commands):
    """What is not as expected of commands."""
    (environment.folder / "a.sql").write_text("CREATE TABLE b AS SELECT x AS y FROM a;")
    (environment.folder / "b.sql").write_text("CREATE TABLE b AS SELECT x + 1 AS y FROM a;")
    (environment.folder / "job.py").write_text("print(1)")
    if not (environment.folder / ".git").exists():
        environment.run(
            "git init -q && git add a.sql && git -c user.name=me -c user.email=me@example.com commit -qm a"
        )
    (environment.folder / "a.sql").write_text("CREATE TABLE b AS SELECT x AS y FROM a WHERE x > 0;")
    for command, code, said in commands:
        run = environment.run(f"headwater {command}")
        if run.returncode != code or said not in run.stdout + run.stderr or "Traceback" in run.stderr:
            yield command, run.returncode, run.stdout + run.stderr


def refused(commands, extra):
    return tuple((command, 2, f"headwater[{extra}]") for command, _, _ in commands)


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_the_core_alone_and_the_lake_without_spark(wheel, environment):
    """Each part is as large as it says, its commands pass, and the others say what to install."""
    installed = environment.run(
        f"pip install '{wheel}' && pip uninstall --yes setuptools && pip list --format freeze"
    )
    assert installed.returncode == 0, installed.stdout + installed.stderr
    names = {canonicalize_name(line.partition("==")[0]) for line in installed.stdout.split()} - {"headwater", "pip"}
    assert names.isdisjoint({"pyarrow", "numpy", "duckdb", "pyspark", "sqlglotc"})
    site = next((environment.folder / "env" / "lib").glob("python*/site-packages"))
    files = [file for file in site.rglob("*") if file.is_file() and file.relative_to(site).parts[0] != "pip"]
    assert sum(file.stat().st_size for file in files if file.suffix != ".pyc") <= 160e6
    assert list(runs(environment, (*CORE, *refused(LAKE, "lake"), *SPARK))) == []

    assert environment.run(f"pip install '{wheel}[lake]'").returncode == 0
    assert list(runs(environment, (*CORE, *LAKE, *SPARK))) == []


@pytest.mark.parametrize("command", ["lineage a.sql", "check a.sql", "diff a.sql a.sql", "play --help"])
def test_the_core_imports_nothing_of_the_lake(command):
    Path("a.sql").write_text("CREATE TABLE b AS SELECT x AS y FROM a;")
    script = (
        "import sys; sys.modules.update(dict.fromkeys(('pyarrow', 'numpy', 'duckdb', 'mmh3', 'pyspark')));"
        "from headwater.cli.main import run; sys.exit(run(sys.argv[1:]))"
    )
    run = subprocess.run([sys.executable, "-c", script, *command.split()], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def requirements():
    """The names of all packages that Headwater needs, for itself or for some part of it."""
    lists = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    return {re.split(r"[^\w.-]", text)[0] for each in lists for text in each} - {"headwater"}


def told():
    """Every `pip install …` that a page, an example or the code tells a reader to type, and where."""
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.*")]
    for file in files:
        text = file.read_text(encoding="utf-8")
        yield from ((file, found) for found in re.findall(r"pip install ([^`\n]+)", text))
    for file in ROOT.glob("src/**/*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from ((file, found) for found in re.findall(r"pip install ([^`\n{]+)", node.value))


def is_followable(word):
    """Whether pip finds what it is told to install: our checkout, our wheel, or a package that an index has."""
    name, _, extra = word.removesuffix("]").partition("[")
    if name == "." or Path(name).name == WHEEL:
        return all(each in PROJECT["optional-dependencies"] for each in extra.split(",") if each)
    return name in requirements()


def test_what_is_told_to_install_can_be_installed():
    """Headwater is on no index: `pip install headwater` finds nothing, or something else."""
    words = [(str(file.relative_to(ROOT)), word) for file, text in told() for word in shlex.split(text)]
    assert len(words) > 12
    assert [(file, word) for file, word in words if not is_followable(word)] == []
    assert not is_followable("headwater")
    assert not is_followable("headwater[cloud]")
    assert not is_followable(".[clouds]")
