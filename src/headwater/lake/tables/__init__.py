"""Tables: schemas, snapshots, time travel and concurrent writers, on the engine."""

from headwater.lake.engine.predicates import Compare, In, IsNull, Predicate, StartsWith
from headwater.lake.tables.plan import ScanPlan, Split
from headwater.lake.tables.table import Table
from headwater.lake.tables.warehouse import Warehouse

__all__ = ["Compare", "In", "IsNull", "Predicate", "ScanPlan", "Split", "StartsWith", "Table", "Warehouse"]
