"""Checking a tree: every checksum of every live file, the order of keys, and files that belong to nothing.

Nothing is changed here; `repair.py` mends.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from headwater.errors import HeadwaterError, NotFoundError
from headwater.lake.keys import as_bytes
from headwater.lake.layout import is_data_file
from headwater.lake.lsm import LSMTree
from headwater.lake.opened import OpenFile
from headwater.lake.sst.reader import SSTableReader
from headwater.lake.version import DataFile


@dataclass(slots=True)
class VerifyReport:
    """What was read and what was found."""

    files: int = 0
    blocks: int = 0
    rows: int = 0
    bytes: int = 0
    problems: list[str] = field(default_factory=list)
    orphans: list[str] = field(default_factory=list)  # data files that belong to no version: harmless, but in the way

    @property
    def sound(self) -> bool:
        return not self.problems


def verify_tree(tree: LSMTree) -> VerifyReport:
    """Read and check every block of every live file."""
    report = VerifyReport()
    version = tree.version
    for file in version.files:
        report.files += 1
        report.bytes += file.size
        report.problems += _check_file(tree, file, report)
    report.problems += _check_levels(version.files)
    report.orphans = orphans(tree)
    return report


def orphans(tree: LSMTree) -> list[str]:
    """Data files that belong to no version: left by a crash between writing and committing."""
    live = {file.name for file in tree.version.files}
    names = (entry.name for entry in tree.files.list(tree.paths.data_folder))
    return [name for name in names if is_data_file(name) and name not in live]


def _check_file(tree: LSMTree, file: DataFile, report: VerifyReport) -> Iterator[str]:
    try:
        opened = OpenFile(tree.shelf, file)
        rows, last = 0, None
        for batch in opened.batches(None, None):
            report.blocks += 1
            rows += len(batch)
            if not batch.keys.is_increasing() or (last is not None and as_bytes(batch.keys.native(0)) <= last):
                yield f"{file.name}: keys are not in order"
            last = as_bytes(batch.keys.native(-1))
        yield from _check_facts(opened, file, rows)
        report.rows += rows
    except NotFoundError:
        yield f"{file.name}: the file is missing"
    except HeadwaterError as err:
        yield str(err)


def _check_facts(opened: OpenFile, file: DataFile, rows: int) -> Iterator[str]:
    reader = opened.reader
    if rows != file.rows:
        yield f"{file.name}: {rows} rows instead of {file.rows}"
    if isinstance(reader, SSTableReader):
        reader.check_header()
        if (reader.meta.min_key, reader.meta.max_key) != (file.min_key, file.max_key):
            yield f"{file.name}: its first and last key are not the recorded ones"


def _check_levels(files: tuple[DataFile, ...]) -> Iterator[str]:
    for level in {file.level for file in files} - {0}:
        run = sorted((file for file in files if file.level == level), key=lambda file: file.min_key)
        for before, after in pairwise(run):
            if before.max_key >= after.min_key:
                yield f"level {level}: {before.name} and {after.name} overlap"
