"""The environment that Spark is started in."""

import os
import sys

from headwater.spark.class_archive import class_options
from headwater.spark.java import Java, find_java

# of the Java that is the driver; those among Spark's settings come later, and so win
JAVA_OPTIONS = "SPARK_SUBMIT_OPTS"


def spark_environment(java: Java | None = None) -> dict[str, str]:
    """The variables that make PySpark use a Java, this Python, and the archive of Spark's classes if there is one.

    RAISES: JavaNotFoundError when no Java is given and none is found.
    """
    java = java or find_java()
    given = os.environ.get(JAVA_OPTIONS, "")
    options = given if "SharedArchiveFile" in given else f"{class_options(java)} {given}".strip()
    return {
        "JAVA_HOME": str(java.home),
        "PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable),
        **({JAVA_OPTIONS: options} if options else {}),
    }
