"""RDDs: the files that a chain of them begins with."""

from typing import Any

from py4j.java_gateway import JavaObject

from headwater.spark.agent.scala import class_name, each

_MOST = 200


def rdd_paths(rdd: Any) -> list[str]:
    """The files or folders that an RDD reads, through everything it was made of; a chain too long is not followed."""
    paths: dict[str, None] = {}
    seen: set[int] = set()
    stack = [rdd]
    while stack and len(seen) < _MOST:
        one = stack.pop()
        if one.id() in seen:
            continue
        seen.add(one.id())
        kind = class_name(one)
        paths |= dict.fromkeys(_READERS[kind](one) if kind in _READERS else ())
        stack.extend(dependency.rdd() for dependency in each(one.dependencies()))
    return [path for path in paths if "/_delta_log" not in path]


def _scanned(rdd: Any) -> list[str]:
    """A scan of a DataFrame: the folders of the files in its partitions."""
    found: dict[str, None] = {}
    for partition in list(each(rdd.filePartitions()))[:_MOST]:
        for file in list(partition.files())[:_MOST]:
            found[str(file.filePath().toString()).rpartition("/")[0]] = None
    return list(found)


def _hadoop(rdd: Any) -> list[str]:
    """`sc.textFile` and its like: what was asked for."""
    try:
        text = rdd.getConf().get("mapreduce.input.fileinputformat.inputdir") or ""
    except Exception:  # an input that is no files
        return []
    return [path for path in str(text).split(",") if path]


_READERS = {"FileScanRDD": _scanned, "HadoopRDD": _hadoop, "NewHadoopRDD": _hadoop}


def rdd_output(job: Any) -> str | None:
    """The folder that a job on RDDs writes to, from the settings that its tasks carry; None when it writes none."""
    stage = job.finalStage()
    if class_name(stage) != "ResultStage":
        return None
    function = stage.func()
    for field in function.getClass().getDeclaredFields():
        field.setAccessible(True)
        folder = _output_folder(field.get(function))
        if folder is not None:
            return folder
    return None


def _output_folder(value: Any) -> str | None:
    """The folder in the settings of a Hadoop writer, when a captured value is one."""
    if not isinstance(value, JavaObject) or not class_name(value).startswith("HadoopMap"):
        return None
    field = value.getClass().getDeclaredField("conf")
    field.setAccessible(True)
    folder = field.get(value).value().get("mapreduce.output.fileoutputformat.outputdir")
    return None if folder is None else str(folder)
