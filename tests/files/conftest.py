"""One store of every kind, S3 by a server on the loopback interface."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer

from headwater.files import FaultyFiles, Files, LocalFiles, MemoryFiles, ObjectFiles


@pytest.fixture(scope="session")
def s3_options() -> Iterator[dict[str, str]]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield {
        "endpoint": f"http://{host}:{port}",
        "access_key_id": "test",
        "secret_access_key": "test",
        "region": "us-east-1",
        "virtual_hosted_style_request": "false",
    }
    server.stop()


@pytest.fixture(scope="session")
def bucket(s3_options: dict[str, str]) -> str:
    import urllib.request

    request = urllib.request.Request(f"{s3_options['endpoint']}/headwater-tests", method="PUT")
    urllib.request.urlopen(request).close()
    return "headwater-tests"


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
