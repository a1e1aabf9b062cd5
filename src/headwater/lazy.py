"""Imports on first use: public names of a package, and modules of libraries that take long to import."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_first_use(package: str, names: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a package: `names` says in which module each of its public names is."""

    def find(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module `{package}` has no attribute `{name}`")
        try:
            module = import_module(names[name])
        except ModuleNotFoundError as err:
            extras = import_module("headwater.extras")
            if extras.is_extra(err.name):
                raise extras.not_installed(err.name) from err
            raise
        return getattr(module, name)

    return find


class LazyModule:
    """Stands for a module, and imports it when something of it is first asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._name), name)
        setattr(self, name, found)  # the next time, no `__getattr__` is called
        return found


# Each takes a short command a tenth of its time, and most commands use neither.
arrow_compute = LazyModule("pyarrow.compute")
arrow_csv = LazyModule("pyarrow.csv")
arrow_orc = LazyModule("pyarrow.orc")
arrow_parquet = LazyModule("pyarrow.parquet")
