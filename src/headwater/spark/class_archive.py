"""Spark's Java classes, kept as Java has them in memory, so that it need not read and check them at every start.

A Java that starts Spark loads ten thousand classes out of two hundred jars, for two seconds of CPU. It can write them
down as it ends, in an archive that later ones map ("class data sharing"). We have one written once per machine
(`training.py`), and kept as `java/{key}.jsa` in the cache. The key names the Java, the jars and this release.

An archive that does not fit, because of another class path for instance, Java leaves aside by itself. But it trusts
what is in one, and dies of one that is cut off; so it is told only of one that is as it was made.
"""

import hashlib
import os
import platform
import sys
from functools import partial
from importlib.metadata import version
from pathlib import Path

from pyspark.find_spark_home import _find_spark_home

from headwater import cache
from headwater.cache import Progress
from headwater.errors import EngineError
from headwater.spark.java import Java

_KIND = "java"
_QUIET = "-Xlog:cds*=off -Xlog:class+path=off"  # an archive that does not fit is no trouble of the user's


def class_options(java: Java) -> str:
    """Options that make Java use the archive; none if there is no archive."""
    files = [_kept(name) for name in _needed(java)]
    if None in files:
        return ""
    return f'"-XX:SharedArchiveFile={os.pathsep.join(map(str, files))}" {_QUIET}'


def archive_path(java: Java) -> Path | None:
    """Return where the archive is kept; None if it has not been made."""
    return _kept(_needed(java)[-1])


def make_archive(java: Java, progress: Progress) -> Path | None:
    """Have Java write the archive if need be; returns where it is, None when no folder can be written.

    RAISES: EngineError when this Java cannot make one.
    """
    *base, top = _needed(java)
    below: list[Path] = []
    for name in base:
        found = cache.find_or_make(_KIND, name, _as_is, partial(_write_base, java, progress), progress)
        if found is None:
            return None
        below.append(found)
    return cache.find_or_make(_KIND, top, _as_is, partial(_write_top, java, below, progress), progress)


def _needed(java: Java) -> list[str]:
    """The names of the files that are needed, the archive of Spark's classes last.

    It goes on top of one of Java's own classes. Most Javas bring that along; those made with jlink do not.
    """
    spark = Path(_find_spark_home())
    jars = [(jar.name, jar.stat().st_size, jar.stat().st_mtime_ns) for jar in sorted((spark / "jars").glob("*.jar"))]
    what = [str(java.home), java.words, str(spark), jars, platform.machine(), version("headwater")]
    key = hashlib.sha256(repr(what).encode()).hexdigest()[:24]
    return [f"{key}.jsa"] if ", sharing" in java.words else [f"{key}-base.jsa", f"{key}.jsa"]


def _kept(name: str) -> Path | None:
    return cache.find(_KIND, name, _as_is)


def _as_is(path: Path) -> Path:
    return path


def _write_base(java: Java, progress: Progress, target: Path) -> None:
    _run(java, [str(java.home / "bin" / "java"), "-Xshare:dump", f"-XX:SharedArchiveFile={target}"], progress, target)


def _write_top(java: Java, base: list[Path], progress: Progress, target: Path) -> None:
    command = [sys.executable, "-m", "headwater.spark.class_archive_training", str(target), *map(str, base)]
    _run(java, command, progress, target)


def _run(java: Java, command: list[str], progress: Progress, target: Path) -> None:
    failure = cache.run_child(command, progress, JAVA_HOME=str(java.home))
    if failure is None and not target.is_file():
        failure = "it ended without a word"
    if failure is not None:
        raise EngineError(f"Java {java.version} has written no archive of Spark's classes: {failure}")
