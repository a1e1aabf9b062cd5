"""Files that are made once per machine: who may make them, and which are trusted. ZetaSQL's tests cover the rest."""

import os
import sys
import time

import pytest

from headwater import cache


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADWATER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    return tmp_path / "cache" / "things"


def quiet(seconds):
    pass


def write(path):
    path.write_bytes(b"made")


def read(path):
    return path.read_bytes() or None


def test_a_file_is_made_once_and_found_again(folder):
    assert cache.find("things", "a.bin", read) is None
    assert cache.find_or_make("things", "a.bin", read, write, quiet) == b"made"
    assert cache.find("things", "a.bin", read) == b"made"
    cache.find_or_make("things", "a.bin", read, lambda path: pytest.fail("made twice"), quiet)
    assert sorted(file.name for file in folder.iterdir()) == ["a.bin", "a.json", "a.lock"]


@pytest.mark.parametrize("content", [b"mad", b"made of something else", b"MADE"])
def test_a_file_that_is_not_as_it_was_made_is_made_again(folder, content):
    cache.find_or_make("things", "a.bin", read, write, quiet)
    (folder / "a.bin").write_bytes(content)
    os.utime(folder / "a.bin", (1, 1))
    assert cache.find("things", "a.bin", read) is None
    assert cache.find_or_make("things", "a.bin", read, write, quiet) == b"made"


def test_what_cannot_be_loaded_is_made_again_and_not_for_ever(folder):
    made = []

    def make(path):
        made.append(path)
        path.write_bytes(b"")

    assert cache.find_or_make("things", "a.bin", read, make, quiet) is None
    assert len(made) == len(cache.folders("things"))


def test_half_of_a_file_is_never_seen(folder):
    def die(path):
        path.write_bytes(b"ma")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.find_or_make("things", "a.bin", read, die, quiet)
    assert [file.name for file in folder.iterdir()] == ["a.lock"]


def test_old_files_of_other_names_go(folder):
    for name in ("old.bin", "young.bin"):
        cache.find_or_make("things", name, read, write, quiet)
    then = time.time() - 100 * 86_400
    os.utime(folder / "old.bin", (then, then))
    cache.find_or_make("things", "new.bin", read, write, quiet)
    assert sorted(file.stem for file in folder.glob("*.bin")) == ["new", "young"]
    assert not (folder / "old.json").exists()


def test_no_more_than_some_are_kept(folder):
    for number in range(12):
        cache.find_or_make("things", f"{number:02}.bin", read, write, quiet)
        os.utime(folder / f"{number:02}.bin", (time.time() - 1000 + number,) * 2)
    assert sorted(file.stem for file in folder.glob("*.bin")) == [f"{number:02}" for number in range(4, 12)]


def test_two_that_tidy_at_once_do_not_disturb_each_other(folder, monkeypatch):
    def vanished(*_):
        raise FileNotFoundError

    monkeypatch.setattr(cache, "_tidy", vanished)
    assert cache.find_or_make("things", "a.bin", lambda path: path, write, quiet) == folder / "a.bin"


def test_a_child_that_fails_leaves_its_last_words():
    code = "import sys; print('much'); sys.exit('the reason')"
    assert cache.run_child([sys.executable, "-c", code], quiet) == "the reason"
    assert cache.run_child([sys.executable, "-c", "import os; os._exit(3)"], quiet) == "exit code 3"
    named = "import os, sys; sys.exit(os.environ['COLOUR'] != 'blue')"
    assert cache.run_child([sys.executable, "-c", named], quiet, COLOUR="blue") is None
