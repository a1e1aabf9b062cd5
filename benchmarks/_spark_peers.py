"""Table formats of others on Spark: their jars by coordinates, where they can be had and run on this Spark."""

import os
import subprocess
import sys
import tempfile

import pyspark
from pyspark.sql import SparkSession

from headwater.spark.environment import spark_environment

SPARK = ".".join(pyspark.__version__.split(".")[:2])
COORDINATES = {
    "delta": (f"io.delta:delta-spark_{SPARK}_2.13:4.4.0",),
    "paimon": (f"org.apache.paimon:paimon-spark-{SPARK}_2.13:1.4.2", "org.apache.paimon:paimon-spark-4.0_2.13:1.4.2"),
}
_SETTINGS = {
    "delta": {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    },
    "paimon": {
        "spark.sql.extensions": "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions",
        "spark.sql.catalog.paimon": "org.apache.paimon.spark.SparkCatalog",
    },
}


def usable() -> tuple[dict[str, str], dict[str, str]]:
    """The coordinates of the peers that can write and read a row here, and for the others why they cannot."""
    found: dict[str, str] = {}
    missing: dict[str, str] = {}
    for name, candidates in COORDINATES.items():
        for each in candidates:
            missing[name] = _refusal(name, each)
            if not missing[name]:
                found[name] = each
                del missing[name]
                break
    return found, missing


def settings(peers: dict[str, str], folder: str) -> dict[str, str]:
    """What Spark must be started with for these peers."""
    if not peers:
        return {}
    extensions = ",".join(_SETTINGS[name]["spark.sql.extensions"] for name in peers)
    merged = {key: value for name in peers for key, value in _SETTINGS[name].items()}
    merged |= {"spark.sql.extensions": extensions, "spark.jars.packages": ",".join(peers.values())}
    return merged | {"spark.sql.catalog.paimon.warehouse": folder}


def _refusal(name: str, coordinates: str) -> str:
    """Why a peer does not run; empty if it does. In a process of its own: a wrong jar spoils the JVM it is in."""
    try:
        run = subprocess.run(
            [sys.executable, __file__, name, coordinates], capture_output=True, text=True, timeout=120
        )
    except subprocess.TimeoutExpired:
        return "it could not be had in two minutes"
    if run.returncode == 0:
        return ""
    return "its jar could not be had" if "module not found" in run.stderr else "it does not run on this Spark"


def _try(name: str, coordinates: str) -> None:
    os.environ |= spark_environment()
    with tempfile.TemporaryDirectory() as folder:
        builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        for key, value in settings({name: coordinates}, f"{folder}/warehouse").items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
        if name == "delta":
            spark.range(3).write.format("delta").save(f"{folder}/t")
            assert spark.read.format("delta").load(f"{folder}/t").count() == 3
            return
        spark.sql("CREATE DATABASE IF NOT EXISTS paimon.db")
        spark.sql("CREATE TABLE paimon.db.t (id BIGINT NOT NULL) TBLPROPERTIES ('primary-key' = 'id')")
        spark.range(3).writeTo("paimon.db.t").append()
        assert spark.table("paimon.db.t").count() == 3


if __name__ == "__main__":
    _try(*sys.argv[1:])
