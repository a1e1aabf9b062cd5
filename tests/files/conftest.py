"""One store of every kind, S3 by a server on the loopback interface."""

import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faulty_files import FaultyFiles

from headwater.files import Files, LocalFiles, MemoryFiles, ObjectFiles


@pytest.fixture(params=["local", "memory", "faulty", "s3"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Files]:
    """Opens the same store anew at every call, as another process would."""
    match request.param:
        case "local":
            return lambda: LocalFiles(tmp_path / "store")
        case "s3":
            options = request.getfixturevalue("s3_options")
            url = f"s3://{request.getfixturevalue('bucket')}/{uuid.uuid4().hex}"
            return lambda: ObjectFiles(url, options)
        case "faulty":
            faulty = FaultyFiles(MemoryFiles())
            return lambda: faulty
        case _:
            memory = MemoryFiles()
            return lambda: memory


@pytest.fixture
def files(opened: Callable[[], Files]) -> Files:
    return opened()
