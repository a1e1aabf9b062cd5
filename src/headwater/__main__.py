"""`headwater` and `python -m headwater`."""

import sys
from importlib.abc import MetaPathFinder
from typing import Any

from headwater.cli.main import run


class _WithoutPandas(MetaPathFinder):
    """Says that there is no pandas. pyarrow imports it, a quarter of a second, when it first converts a time."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("no command of headwater needs pandas", name=name)


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.meta_path.insert(0, _WithoutPandas())
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
