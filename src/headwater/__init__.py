"""A lakehouse in which every column knows where it came from.
The public names are imported on first use, so that `import headwater` costs next to nothing."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater.analysis.door import analyze
    from headwater.analysis.schemas import import_schema
    from headwater.lake.tables.table import Table
    from headwater.lake.tables.warehouse import Warehouse
    from headwater.lineage.result import AnalyzeResult
    from headwater.query.session import connect

_PUBLIC = {
    "AnalyzeResult": "headwater.lineage.result",
    "Table": "headwater.lake.tables.table",
    "Warehouse": "headwater.lake.tables.warehouse",
    "analyze": "headwater.analysis.door",
    "connect": "headwater.query.session",
    "import_schema": "headwater.analysis.schemas",
}

__all__ = ["AnalyzeResult", "Table", "Warehouse", "analyze", "connect", "import_schema"]


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module `headwater` has no attribute `{name}`")
    return getattr(import_module(_PUBLIC[name]), name)
