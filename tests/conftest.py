"""What all tests share."""

import subprocess
import sys

import pytest
from hypothesis import settings

from tests.effort import THOROUGH
from tests.s3_server import S3Server

# Machines are noisy: how long an example takes says nothing.
settings.register_profile("headwater", deadline=None, max_examples=100 if THOROUGH else 25)
settings.load_profile("headwater")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="write golden expectations anew instead of comparing")


@pytest.fixture(scope="session")
def s3_options():
    """How to reach an S3 server on the loopback interface."""
    server = S3Server()
    yield {
        "endpoint": server.url,
        "access_key_id": "test",
        "secret_access_key": "test",
        "region": "us-east-1",
        "virtual_hosted_style_request": "false",
    }
    server.stop()


@pytest.fixture(scope="session")
def bucket(s3_options):
    """A bucket on that server."""
    import urllib.request

    request = urllib.request.Request(f"{s3_options['endpoint']}/headwater-tests", method="PUT")
    urllib.request.urlopen(request).close()
    return "headwater-tests"


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """The folder that `headwater demo` has filled, and `told.txt` beside it with what it said."""
    folder = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-m", "headwater", "demo"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr + run.stdout
    (folder / "told.txt").write_text(run.stdout)
    return folder / "demo"
