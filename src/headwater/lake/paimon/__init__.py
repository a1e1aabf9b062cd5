"""Apache Paimon: publishing lake tables as Paimon tables, and importing those of others."""

from headwater.lake.paimon.publish import Published, publish
from headwater.lake.paimon.read import PaimonTable, import_paimon, open_paimon, read_paimon

__all__ = ["PaimonTable", "Published", "import_paimon", "open_paimon", "publish", "read_paimon"]
