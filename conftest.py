"""Every test, doctests under `src` included, runs in a temporary folder: none writes to the checkout."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")
ROOM = 4_000_000_000  # bytes; one run of the tests takes less than half of it


def pytest_configure() -> None:
    """Put temporary folders into memory: on a disk, half of the time goes into waiting for `fsync`.

    They stay where `TMPDIR` says, and on the disk with `THOROUGH=1` (`make test-all`, CI).
    """
    if os.environ.get("TMPDIR") or os.environ.get("THOROUGH"):
        return
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None  # asked for anew


@pytest.fixture(scope="session", autouse=True)
def session_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The current folder of fixtures that outlive a test, such as the Spark session."""
    began = Path.cwd()
    folder = tmp_path_factory.mktemp("session")
    os.chdir(folder)
    yield folder
    os.chdir(began)


@pytest.fixture(autouse=True)
def current_folder(session_folder: Path) -> Iterator[None]:
    """The current folder of one test: empty at its beginning, removed at its end."""
    with tempfile.TemporaryDirectory(dir=session_folder, ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        yield
        os.chdir(session_folder)
