"""Public names of a package that are imported on first use, so that importing the package costs next to nothing."""

from collections.abc import Callable, Mapping
from importlib import import_module


def on_first_use(package: str, names: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a package: `names` says in which module each of its public names is."""

    def find(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module `{package}` has no attribute `{name}`")
        return getattr(import_module(names[name]), name)

    return find
