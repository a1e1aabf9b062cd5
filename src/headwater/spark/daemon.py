"""Spark's daemon, which forks its Python workers, with PySpark from where it is compiled.

Spark has its workers import PySpark from a zip. Of what is in a zip Python keeps no compiled modules, so the daemon
and every worker compile it anew, for a second of CPU on two cores. Installed by pip, the same modules lie beside the
zip.

    spark.python.daemon.module = headwater.spark.daemon
"""

import runpy
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path


def run_daemon(*modules: str) -> None:
    """Be the daemon, with some modules imported that every worker needs."""
    sys.path[:] = compiled_first(sys.path)
    for module in modules:
        import_module(module)
    runpy.run_module("pyspark.daemon", run_name="__main__", alter_sys=True)


def compiled_first(path: Sequence[str]) -> list[str]:
    """A search path with Spark's zips last, if the PySpark that is found then is the one they were made of."""
    archive = next((Path(entry) for entry in path if Path(entry).name == "pyspark.zip"), None)
    if archive is None:
        return list(path)
    home = archive.parent.parent.parent  # the package, if pip has installed it: {home}/python/lib/pyspark.zip
    zips = [entry for entry in path if Path(entry).parent == archive.parent]
    others = [entry for entry in path if entry not in zips]
    found = PathFinder.find_spec("pyspark", others)
    is_same = found is not None and found.origin is not None and Path(found.origin).parent == home
    return others + zips if is_same else list(path)


if __name__ == "__main__":
    run_daemon()
