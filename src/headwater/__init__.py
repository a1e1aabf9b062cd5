"""A lakehouse in which every column knows where it came from.
The public names are imported on first use, so that `import headwater` costs next to nothing."""

from typing import TYPE_CHECKING

from headwater.lazy import on_first_use

if TYPE_CHECKING:
    from headwater.analysis.analyze import analyze
    from headwater.analysis.schemas import import_schema
    from headwater.lake.tables.table import Table
    from headwater.lake.tables.warehouse import Warehouse
    from headwater.lineage.result import AnalyzeResult
    from headwater.query.session import connect

_PUBLIC = {
    "AnalyzeResult": "headwater.lineage.result",
    "Table": "headwater.lake.tables.table",
    "Warehouse": "headwater.lake.tables.warehouse",
    "analyze": "headwater.analysis.analyze",
    "connect": "headwater.query.session",
    "import_schema": "headwater.analysis.schemas",
}

__all__ = ["AnalyzeResult", "Table", "Warehouse", "analyze", "connect", "import_schema"]

__getattr__ = on_first_use(__name__, _PUBLIC)
