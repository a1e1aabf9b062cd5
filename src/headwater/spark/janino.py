"""Java compiled inside Spark's own JVM, at run time: the one place that does it.

Spark brings the compiler Janino for its generated code. The few classes we need on the JVM side are kept as `*.java`
files beside the Python that uses them and are compiled when they are first asked for, so there is no jar to build, to
ship or to match with a Scala version. Janino reads roughly Java 8: no lambdas, no inference in anonymous classes.

* `load_class` is for the driver: the class lives in a loader of its own, which looks at its own classes first. The
  jar for jobs without Python may be on the class path too, and has classes of the same names.
* `install` makes the classes visible by name to everything that Spark loads on the driver (catalogs, listeners named
  in the configuration) and, on request, on the executors.

A class name belongs to one text and one of these two ways: Py4J remembers methods by the name of their class.
"""

import hashlib
import re
import shutil
import tempfile
import weakref
import zipfile
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkContext

from headwater.errors import EngineError, MissingDependencyError

_HEAD = re.compile(r"^(?:package|import) .*;$", re.MULTILINE)
_COMPILER = "org.codehaus.janino.SimpleCompiler"
_CHILD_FIRST = "org.apache.spark.util.ChildFirstURLClassLoader"
_loaded: dict[tuple[int, str], Any] = {}  # (JVM, digest of the source) → class loader
_shared: dict[tuple[int, str, str], Any] = {}
_installed: dict[tuple[int, str], Path] = {}


@cache
def java_source(package: str, *names: str) -> str:
    """The text of Java classes that are kept in a Python package; of several one text, for they know each other."""
    units = [files(package).joinpath(f"{name}.java").read_text(encoding="utf-8") for name in names]
    heads = sorted({line for unit in units for line in _HEAD.findall(unit)}, reverse=True)  # the package is first
    return "\n".join([*heads, *(_HEAD.sub("", unit).strip() for unit in units)])


def load_class(context: SparkContext, source: str, class_name: str) -> Any:
    """The `java.lang.Class` of a class in `source`; compiled once per JVM and text.

    RAISES: MissingDependencyError where there is no Janino, EngineError where it refuses the text.
    """
    key = (id(context._gateway), _digest(source))
    if key not in _loaded:
        _loaded[key] = _own_loader(context, _compile(context, source))
        weakref.finalize(context._gateway, _loaded.pop, key, None)
    return _loaded[key].loadClass(class_name)


def new_instance(java_class: Any, context: SparkContext) -> Any:
    """An object of a class with a constructor that takes nothing."""
    gateway, jvm = context._gateway, context._jvm
    assert gateway is not None
    assert jvm is not None
    none_of_class = gateway.new_array(jvm.java.lang.Class, 0)
    return java_class.getDeclaredConstructor(none_of_class).newInstance(gateway.new_array(jvm.java.lang.Object, 0))


def shared_object(context: SparkContext, source: str, class_name: str) -> Any:
    """The one object of a class that this JVM has for all, for classes that keep nothing or that make their like.

    RAISES: as `load_class`.
    """
    key = (id(context._gateway), _digest(source), class_name)
    if key not in _shared:
        _shared[key] = new_instance(load_class(context, source, class_name), context)
        weakref.finalize(context._gateway, _shared.pop, key, None)
    return _shared[key]


def install(context: SparkContext, source: str, *, executors: bool = False) -> Path:
    """Make the classes of `source` loadable by name on the driver and, if asked for, on the executors.

    Returns the jar they are in, which lives as long as this Spark. Doing it again for the same text does nothing.

    RAISES: MissingDependencyError where there is no Janino, EngineError where it refuses the text.
    """
    key = (id(context._gateway), _digest(source))
    if key not in _installed:
        jar = _write_jar([_compile(context, source)], key[1])
        _loader(context).addURL(_jvm(context).java.io.File(str(jar)).toURI().toURL())
        _installed[key] = jar
        weakref.finalize(context._gateway, _forget, key)
    if executors:
        context._jsc.addJar(str(_installed[key]))
    return _installed[key]


def compile_jar(context: SparkContext | type[SparkContext], *sources: str) -> Path:
    """A jar, in a folder of its own, with the classes of several sources; later ones may use those of earlier ones.

    RAISES: as `load_class`.
    """
    compilers: list[Any] = []
    for source in sources:
        compilers.append(_compile(context, source, compilers[-1].getClassLoader() if compilers else None))
    return _write_jar(compilers, _digest("".join(sources)))


def _compile(context: SparkContext | type[SparkContext], source: str, parent: Any = None) -> Any:
    try:
        compiler = getattr(_jvm(context), _COMPILER)()
        compiler.setParentClassLoader(parent or _loader(context))
        compiler.setTargetVersion(8)  # static methods of interfaces are called
    except (Py4JError, TypeError) as err:
        raise MissingDependencyError(
            "this Spark has no Janino compiler", hint="it is among the jars of every Spark that PyPI has"
        ) from err
    try:
        compiler.cook(source)
    except Py4JError as err:
        raise EngineError(f"Spark's compiler refused a class of ours: {_reason(err)}") from err
    return compiler


def _own_loader(context: SparkContext, compiler: Any) -> Any:
    """A class loader with the compiled classes; Spark's own classes come from its parent."""
    jar = _write_jar([compiler], "own")
    weakref.finalize(context._gateway, shutil.rmtree, jar.parent, ignore_errors=True)
    gateway, jvm = context._gateway, _jvm(context)
    assert gateway is not None
    urls = gateway.new_array(jvm.java.net.URL, 1)
    urls[0] = jvm.java.io.File(str(jar)).toURI().toURL()
    return getattr(jvm, _CHILD_FIRST)(urls, _loader(context))


def _write_jar(compilers: list[Any], digest: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="headwater-classes-"))  # mode 0700: nobody else can put classes there
    jar = folder / f"headwater-{digest[:12]}.jar"
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, code in (each for compiler in compilers for each in compiler.getBytecodes().items()):
            archive.writestr(f"{name.replace('.', '/')}.class", bytes(code))
    return jar


def _forget(key: tuple[int, str]) -> None:
    jar = _installed.pop(key, None)
    if jar is not None:
        shutil.rmtree(jar.parent, ignore_errors=True)


def _loader(context: SparkContext | type[SparkContext]) -> Any:
    return _jvm(context).java.lang.Thread.currentThread().getContextClassLoader()


def _jvm(context: SparkContext | type[SparkContext]) -> Any:
    return context._jvm


def _reason(err: Py4JError) -> str:
    """The first line of what Java said."""
    cause = getattr(err, "java_exception", None)
    return str(cause.toString() if cause is not None else err).splitlines()[0]


@cache
def _digest(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()
