"""From a URL to a store."""

import sys
from pathlib import Path

import pytest

from headwater.errors import MissingDependencyError, StorageError, UsageError
from headwater.files import LocalFiles, MemoryFiles, ObjectFiles, open_files


def test_paths_and_file_urls_are_local(tmp_path: Path) -> None:
    for url in (tmp_path, str(tmp_path), f"file://{tmp_path}"):
        files = open_files(url)
        assert isinstance(files, LocalFiles)
        assert files.root == tmp_path


def test_a_memory_name_is_one_store() -> None:
    open_files("memory://test-open").put("a", b"1")
    found = open_files("memory://test-open")
    assert isinstance(found, MemoryFiles)
    assert found.get("a") == b"1"


def test_a_mistyped_scheme_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match="not a kind of store") as caught:
        open_files("memroy://x")
    assert caught.value.hint == "did you mean `memory://`?"


def test_without_obstore_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(MissingDependencyError) as caught:
        open_files("s3://bucket/warehouse")
    assert caught.value.hint is not None
    assert "headwater[cloud]" in caught.value.hint


def test_object_store_errors_are_ours(s3_options: dict[str, str]) -> None:
    files = open_files("s3://no-such-bucket/x", s3_options)
    assert isinstance(files, ObjectFiles)
    with pytest.raises(StorageError, match="s3://no-such-bucket/x/a"):
        files.put("a", b"1")


def test_a_bad_option_is_refused(s3_options: dict[str, str]) -> None:
    with pytest.raises(StorageError, match="cannot open"):
        open_files("s3://b/x", s3_options | {"colour": "blue"})
