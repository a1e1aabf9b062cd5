"""Libraries that only a part of Headwater needs: the core has SQL lineage, extras of the package bring the rest."""

import json
import shlex
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any

from headwater.errors import MissingDependencyError

_LAKE = ("duckdb", "mmh3", "numpy", "prompt_toolkit", "pyarrow", "pygments")
_EXTRAS = {
    **dict.fromkeys(_LAKE, "lake"),
    **dict.fromkeys(("py4j", "pyspark"), "spark"),
    "adbc_driver_postgresql": "postgres",
    "fastavro": "paimon",
    "google": "bigquery",
    "mcp": "mcp",
    "mcp_types": "mcp",
    "obstore": "cloud",
    "openlineage": "openlineage",
    "pymysql": "mysql",
}


def need(module: str) -> Any:
    """Import a library that only a part of Headwater needs. RAISES: MissingDependencyError when it is not there."""
    try:
        return import_module(module)
    except ImportError as err:
        raise not_installed(module) from err


def not_installed(module: str) -> MissingDependencyError:
    """The error that says how to install what a module belongs to."""
    name = module.partition(".")[0]
    extra = _EXTRAS.get(name)
    wanted = shlex.quote(_requirement(extra)) if extra else name.replace("_", "-")
    return MissingDependencyError(f"{module} is not installed", hint=f"`pip install {wanted}`")


def is_extra(module: str | None) -> bool:
    """Tell whether a module belongs to an extra."""
    return (module or "").partition(".")[0] in _EXTRAS


def _requirement(extra: str) -> str:
    """Headwater with an extra, from where this one was installed."""
    name = f"headwater[{extra}]"
    try:
        origin = distribution("headwater").read_text("direct_url.json")
    except PackageNotFoundError:
        origin = None
    return f"{name} @ {json.loads(origin)['url']}" if origin else name
