"""Checking, and if wished mending, everything in the folder of a tree or of a table."""

from headwater.errors import HeadwaterError, InputError
from headwater.files import Files, Locking, open_files
from headwater.lake.engine.layout import PathFactory
from headwater.lake.engine.lsm import LSMTree
from headwater.lake.tables.names import TableName
from headwater.lake.tables.store import TableStore
from headwater.lake.tools.repair import remove_orphans, repair, schema_in
from headwater.lake.tools.repair_table import repair_table
from headwater.lake.tools.verify import VerifyReport, verify_table, verify_tree


def open_folder(url: str) -> TableStore | Files:
    """Return the table in a folder, or the files of the tree in it.

    RAISES: InputError when neither is there.
    """
    files = open_files(url)
    folders = {entry.name for entry in files.list() if entry.is_folder}
    if folders & {"schema", "snapshot", "manifest"}:
        name = url.rstrip("/").rpartition("/")[2]
        return TableStore(TableName("", name), files, "")
    if folders & {"data", "version", "wal"}:
        return files
    raise InputError(
        f"{url} is neither the folder of a table nor of a tree",
        hint="name a table as database.table, or a folder that holds `schema` or `data`",
    )


def verify(target: TableStore | Files) -> VerifyReport:
    """Check a table or a tree; what cannot be opened is a problem."""
    if isinstance(target, TableStore):
        return verify_table(target)
    try:
        with LSMTree(target, schema_in(target), read_only=True) as tree:
            return verify_tree(tree)
    except HeadwaterError as err:
        return VerifyReport(problems=[err.message])


def mend(target: TableStore | Files) -> list[str]:
    """Repair a table or a tree and say what was done.

    RAISES: StorageError when another process has it open, CorruptFileError when a schema is lost.
    """
    if isinstance(target, TableStore):
        return repair_table(target)
    held = target.lock(PathFactory("").lock) if isinstance(target, Locking) else None
    try:
        done = repair(target, schema_in(target))
        return [*done, *(f"{name}: removed, it belonged to nothing" for name in remove_orphans(target))]
    finally:
        if held is not None:
            held.close()
