"""A store that is not a disk."""

import uuid

import pytest

from headwater.files import ObjectFiles


@pytest.fixture
def s3_store(s3_options: dict[str, str], bucket: str) -> ObjectFiles:
    return ObjectFiles(f"s3://{bucket}/{uuid.uuid4().hex}", s3_options)
