"""Checking, and if wished mending, everything in the folder of a tree."""

from typing import Any

from headwater.errors import HeadwaterError
from headwater.files import Files, Locking, open_files
from headwater.lake.layout import PathFactory
from headwater.lake.lsm import LSMTree
from headwater.lake.repair import remove_orphans, repair, schema_in
from headwater.lake.verify import verify_tree
from headwater.model.schema import Schema


def check_folder(url: str, *, folder: str = "", mend: bool = False) -> dict[str, Any]:
    """What is wrong with a tree, and with `mend` what was done about it.

    RAISES: StorageError when it is to be mended and another process has it open.
    """
    files = open_files(url)
    schema = schema_in(files, folder)
    repaired = _mend(files, schema, folder) if mend else []
    problems: list[str] = []
    orphans: list[str] = []
    torn: list[str] = []
    try:
        with LSMTree(files, schema, folder=folder, read_only=True) as tree:
            report = verify_tree(tree)
            problems, orphans = report.problems, report.orphans
            torn = [f"{log.path}: cut at byte {log.torn_at}" for log in tree.recovered if log.torn_at is not None]
    except HeadwaterError as err:
        problems = [str(err)]
    return {"problems": problems, "orphans": orphans, "torn_logs": torn, "repaired": repaired}


def _mend(files: Files, schema: Schema, folder: str) -> list[str]:
    held = files.lock(PathFactory(folder).lock) if isinstance(files, Locking) else None
    try:
        done = repair(files, schema, folder)
        return [*done, *(f"{name}: removed, it belonged to nothing" for name in remove_orphans(files, folder))]
    finally:
        if held is not None:
            held.close()
