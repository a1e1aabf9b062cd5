"""RDDs: the files that a chain of them begins with."""

from typing import Any

from py4j.java_gateway import JavaObject

from headwater.spark.agent.scala import class_name, each

_MOST = 200


def rdd_origins(rdd: Any) -> tuple[list[str], list[str]]:
    """The files or folders that an RDD reads, through everything it was made of, and the kinds of RDDs whose rows
    come from elsewhere; a chain that is too long is one of these."""
    paths: dict[str, None] = {}
    unseen: dict[str, None] = {}
    seen: set[int] = set()
    stack = [rdd]
    while stack:
        one = stack.pop()
        if one.id() in seen:
            continue
        seen.add(one.id())
        kind = class_name(one)
        below = [dependency.rdd() for dependency in each(one.dependencies())]
        if kind in _READERS:
            paths |= dict.fromkeys(_READERS[kind](one))
        elif len(seen) > _MOST or (not below and kind not in _OF_THE_PROGRAM):
            unseen[kind] = None
        stack.extend(below if len(seen) <= _MOST else ())
    return [path for path in paths if "/_delta_log" not in path], list(unseen)


def _scanned(rdd: Any) -> list[str]:
    """A scan of a DataFrame: the files in its partitions."""
    partitions = list(each(rdd.filePartitions()))[:_MOST]
    files = (file for partition in partitions for file in list(partition.files())[:_MOST])
    return list(dict.fromkeys(str(file.filePath().toString()) for file in files))


def _hadoop(rdd: Any) -> list[str]:
    """`sc.textFile` and its like: what was asked for."""
    try:
        text = rdd.getConf().get("mapreduce.input.fileinputformat.inputdir") or ""
    except Exception:  # an input that is no files
        return []
    return [path for path in str(text).split(",") if path]


_READERS = {
    "FileScanRDD": _scanned,
    **dict.fromkeys(("HadoopRDD", "NewHadoopRDD", "WholeTextFileRDD", "BinaryFileRDD"), _hadoop),
}
_OF_THE_PROGRAM = frozenset({"ParallelCollectionRDD", "EmptyRDD"})  # rows that it has made itself


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
