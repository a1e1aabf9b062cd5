"""The shop's files in a folder of one's own: SQL in two dialects, schemas, the nightly job, three nights of CSV."""

import shutil
from importlib.resources import as_file, files
from pathlib import Path

from headwater.config import FILE_NAME
from headwater.demo.raw_files import NIGHTS, write_night
from headwater.errors import AlreadyExistsError

_MARK = "# Written by `headwater demo`, which may replace this folder.\n"
_SETTINGS = _MARK + 'warehouse = "warehouse"\n'


def put_files(folder: Path) -> None:
    """Fill a folder with the shop's files, in the place of an earlier demo.
    RAISES: AlreadyExistsError if something else is there."""
    _clear(folder)
    with as_file(files("headwater.demo")) as package:
        shutil.copytree(package / "shop", folder, dirs_exist_ok=True)
        shutil.copyfile(package / "pipeline.py", folder / "pipeline.py")
    for night in NIGHTS:
        write_night(folder / "raw", night)
    (folder / FILE_NAME).write_text(_SETTINGS, encoding="utf-8")


def _clear(folder: Path) -> None:
    """Remove an earlier demo; never anything else."""
    settings = folder / FILE_NAME
    if settings.is_file() and settings.read_text(encoding="utf-8").startswith(_MARK):
        shutil.rmtree(folder)
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise AlreadyExistsError(f"{folder} is there already, and is no demo", hint="name another folder")
    folder.mkdir(parents=True, exist_ok=True)
