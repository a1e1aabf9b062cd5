"""Guards of the house: layers, sizes, what `--help` imports, docs that follow the code."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEAVY = {"pyspark", "pyarrow", "numpy", "sqlglot", "zetasql", "wasmtime", "starlette", "rich", "duckdb", "asyncio"}


def test_imports_go_down_only():
    run = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"], cwd=ROOT, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout


def test_no_file_is_over_400_lines():
    files = [*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/**/*.py")]
    assert len(files) > 20
    assert {str(f.relative_to(ROOT)): n for f in files if (n := len(f.read_text().splitlines())) > 400} == {}


def test_init_files_only_reexport():
    """No logic in `__init__.py`, the lazy table of public names at the top excepted."""
    for init in ROOT.glob("src/headwater/*/**/__init__.py"):
        code = [line for line in init.read_text().splitlines() if line.startswith(("def ", "class ", "if ", "for "))]
        assert set(code) <= {"if TYPE_CHECKING:", "def __getattr__(name: str) -> object:"}, init


def test_help_imports_nothing_heavy():
    run = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "headwater", "--help"], capture_output=True, text=True, check=True
    )
    imported = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in run.stderr.splitlines() if "|" in line}
    assert "click" in imported
    assert imported & HEAVY == set()


def test_generated_pages_follow_the_code():
    run = subprocess.run([sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_registry_hosts_are_not_named():
    """Packages are named, the hosts that serve them are not."""
    hosts = ["pypi" + ".org", "python" + "hosted", "registry.npm" + "js", "repo1" + ".maven"]
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in tracked.split():
        text = (ROOT / name).read_bytes()
        assert not [host for host in hosts if host.encode() in text], name


def test_every_promise_names_a_test():
    """`tests/test_page_names.py` holds that it is there."""
    page = (ROOT / "docs" / "guarantees.md").read_text()
    promises = [line for line in page.splitlines() if line.startswith("| ") and not line.startswith("| promise")]
    assert [line for line in promises if "::" not in line] == []


def _reached(tree: ast.AST) -> Iterator[str]:
    """The names that a module imports or calls, as far as they can be seen."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").split(".")[0]
        elif isinstance(node, ast.Call):
            yield ast.unparse(node.func)
            yield from ("shell=True" for each in node.keywords if each.arg == "shell")


def test_nothing_that_is_read_can_become_code():
    """No pickle, no eval. What Spark pickles between a driver and its own workers is Spark's, and never stored."""
    forbidden = {
        "pickle",
        "cloudpickle",
        "dill",
        "marshal",
        "shelve",
        "yaml",
        "eval",
        "exec",
        "compile",
        "__import__",
    }
    forbidden |= {"os.system", "os.popen", "shell=True", "builtins.eval", "builtins.exec"}
    for path in ROOT.glob("src/**/*.py"):
        allowed = {"yaml"} if path.name == "safe_yaml.py" else set()  # whose loader makes plain values only
        assert (forbidden - allowed).isdisjoint(_reached(ast.parse(path.read_text()))), path
    assert not forbidden.isdisjoint(_reached(ast.parse("import pickle")))


def test_parts_of_arrow_are_imported_where_they_are_used():
    """`pa.compute` works only once somebody has imported `pyarrow.compute`; whether somebody has is chance."""
    parts = {"acero", "compute", "csv", "dataset", "feather", "flight", "fs", "json", "orc", "parquet"}
    for path in [*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/**/*.py")]:
        tree = ast.parse(path.read_text())
        used = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("pa", "pyarrow") and node.attr in parts
        }
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
        imported = {alias.name.removeprefix("pyarrow.") for node in imports for alias in node.names}
        assert used <= imported, path


def test_every_mutation_still_has_its_place_and_every_promise_its_mutation():
    """`make mutations` breaks each promise once; here only that it still can."""
    from tests.mutations.listed import MUTATIONS

    for mutation in MUTATIONS:
        for file, old, _ in mutation.edits:
            assert (ROOT / "src" / "headwater" / file).read_text().count(old) == 1, (mutation.name, file)
    tried = {mutation.test for mutation in MUTATIONS}
    page = (ROOT / "docs" / "guarantees.md").read_text()
    promises = [line for line in page.splitlines() if line.startswith("| ") and "::" in line]
    promises = [line for line in promises if "tests/test_supply.py" not in line]  # nothing of ours to break
    assert [line for line in promises if tried.isdisjoint(re.findall(r"`(tests/[^`]+)`", line))] == []
