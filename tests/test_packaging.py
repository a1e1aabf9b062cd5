"""The package as others get it: what it carries, and what importing it costs."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_importing_the_package_imports_next_to_nothing():
    """Each public name is imported on first use: `import headwater` costs a few milliseconds, whatever it offers."""
    script = "import sys; before = set(sys.modules); import headwater; print(*set(sys.modules) - before)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    ours = {name for name in run.stdout.split() if name.split(".")[0] == "headwater"}
    others = {name.split(".")[0] for name in run.stdout.split()} - sys.stdlib_module_names
    assert ours == {"headwater"}
    assert others == {"headwater"}


def test_the_wheel_is_complete(tmp_path):
    """What is no Python comes along: the marker of types, the page, the demo's files, the licence."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = {name.split("/", 1)[1] for name in zipfile.ZipFile(wheel).namelist()}
    package = ROOT / "src" / "headwater"
    kept = {str(file.relative_to(package)) for file in package.rglob("*") if file.suffix not in (".pyc", "")}
    assert kept <= names
    assert {"py.typed", "server/page/index.html", "demo/shop/typo.sql", "licenses/LICENSE"} <= names
