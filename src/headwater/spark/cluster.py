"""Getting Headwater onto the executors of a cluster where it is not installed.

The package itself is pure Python and travels as a zip. What it stands on (pyarrow, numpy, msgspec, mmh3, with object
stores obstore) is compiled and must be there, or come as an archive (`spark.archives`): `docs/guides/cluster.md`.
"""

import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

from pyspark.sql import SparkSession

from headwater.errors import MissingDependencyError
from headwater.spark.source import HeadwaterSource

_PACKAGES = ("headwater", "pyspark_headwater")
_NEEDED = ("pyarrow", "numpy", "msgspec", "mmh3")


def ship_package(spark: SparkSession) -> bool:
    """Send the package to the executors if they do not have it; returns whether that was needed.

    RAISES: MissingDependencyError naming a library that they lack.
    """
    if is_here(spark.sparkContext.master or ""):
        return False

    def missing_there(_: int) -> list[str]:  # travels by value: nothing of this module may be there
        from importlib.util import find_spec as find  # noqa: PLC0415

        return [name for name in ("headwater", "pyarrow", "numpy", "msgspec", "mmh3") if find(name) is None]

    missing = spark.sparkContext.parallelize(range(2), 2).flatMap(missing_there).distinct().collect()
    lacking = sorted(set(missing) & set(_NEEDED))
    if lacking:
        raise MissingDependencyError(
            f"the executors have no {', '.join(lacking)}",
            hint="install what Headwater needs there, or send an environment with `spark.archives`",
        )
    if not missing:
        return False
    spark.sparkContext.addPyFile(str(package_zip(Path(tempfile.mkdtemp(prefix="headwater-package-")))))
    spark.dataSource.register(HeadwaterSource)  # the one that Spark finds by itself would not bring the zip along
    return True


def is_here(master: str) -> bool:
    """Return whether the executors of a master are in the process of its driver.

    >>> is_here("local[2]"), is_here("local-cluster[2,1,1024]")
    (True, False)
    """
    return master.startswith("local") and not master.startswith("local-cluster")


def package_zip(folder: Path) -> Path:
    """Headwater as a zip that Python can import from, for `--py-files`."""
    target = folder / "headwater.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in _PACKAGES:
            spec = find_spec(package)
            assert spec is not None
            assert spec.origin is not None
            root = Path(spec.origin).parent
            for file in sorted(root.rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    archive.write(file, f"{package}/{file.relative_to(root)}")
    return target
