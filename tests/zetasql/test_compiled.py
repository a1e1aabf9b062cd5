"""The cache of compiled modules, with a module that compiles in a millisecond in place of ZetaSQL."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import wasmtime

from headwater import cache
from headwater.errors import EngineError, MissingDependencyError
from headwater.zetasql import compiled


@pytest.fixture
def wasm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "tiny.wasm"
    path.write_bytes(wasmtime.wat2wasm('(module (func (export "answer") (result i32) i32.const 42))'))
    monkeypatch.setenv("HEADWATER_ZETASQL_WASM", str(path))
    monkeypatch.setenv("HEADWATER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    return path


def answer(engine: object, module: object) -> int:
    store = wasmtime.Store(engine)
    store.set_epoch_deadline(1)
    return wasmtime.Instance(store, module, []).exports(store)["answer"](store)


def kept(wasm: Path) -> Path:
    return wasm.parent / "cache" / "zetasql" / f"{compiled.cache_key(wasm)}.cwasm"


def test_compiles_once_into_a_private_folder(wasm: Path) -> None:
    assert answer(*compiled.load_module()) == 42
    file = kept(wasm)
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert file.stat().st_mode & 0o077 == 0
    before = file.stat().st_mtime_ns
    assert answer(*compiled.load_module()) == 42
    assert file.stat().st_mtime_ns == before


def test_a_changed_binary_is_compiled_again(wasm: Path) -> None:
    compiled.load_module()
    wasm.write_bytes(wasmtime.wat2wasm('(module (func (export "answer") (result i32) i32.const 4711))'))
    assert answer(*compiled.load_module()) == 4711


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "no record", "bad record"])
def test_a_damaged_cache_is_replaced(wasm: Path, damage: str) -> None:
    compiled.load_module()
    file = kept(wasm)
    good = file.read_bytes()
    record = file.with_suffix(".json")
    match damage:
        case "cut":
            file.write_bytes(good[: len(good) // 2])
        case "flip":
            middle = len(good) // 2
            file.write_bytes(
                good[:middle] + bytes(255 - byte for byte in good[middle : middle + 64]) + good[middle + 64 :]
            )
        case "empty":
            file.write_bytes(b"")
        case "no record":
            record.unlink()
        case "bad record":
            record.write_text("[]")
    assert answer(*compiled.load_module()) == 42
    assert file.read_bytes() == good
    assert json.loads(record.read_text())["size"] == len(good)


def test_a_deleted_cache_comes_back(wasm: Path) -> None:
    compiled.load_module()
    for file in kept(wasm).parent.iterdir():
        file.unlink()
    assert compiled.warmup() == kept(wasm)


def test_a_touched_but_sound_file_is_still_used(wasm: Path) -> None:
    compiled.load_module()
    os.utime(kept(wasm), (1, 1))
    assert answer(*compiled.load_module()) == 42
    assert kept(wasm).stat().st_mtime == 1


def test_a_cache_that_cannot_be_written_moves_to_the_temporary_folder(wasm: Path) -> None:
    (wasm.parent / "cache").write_text("a file where the folder should be")  # root may write to read-only folders
    place = compiled.warmup()
    assert place is not None
    assert str(place).startswith(str(wasm.parent / "tmp"))


def test_nowhere_to_write_still_works(wasm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (wasm.parent / "cache").write_text("")
    monkeypatch.setattr("tempfile.tempdir", str(wasm.parent / "cache"))
    monkeypatch.setattr(compiled, "_compile_in_child", lambda *_: pytest.fail("there is no folder to compile into"))
    assert answer(*compiled.load_module()) == 42


def test_a_folder_others_can_write_to_is_not_trusted(wasm: Path) -> None:
    compiled.load_module()
    kept(wasm).parent.chmod(0o777)
    place = compiled.warmup()
    assert place is not None
    assert place.parent != kept(wasm).parent or not cache.is_private(kept(wasm).parent)
    assert (wasm.parent / "tmp" / f"headwater-{os.getuid()}" / "zetasql" / kept(wasm).name).exists()


def test_two_processes_compile_once(wasm: Path) -> None:
    code = "from headwater.zetasql import compiled; compiled.load_module(); print('ok')"
    children = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(3)]
    assert [child.communicate()[0].strip() for child in children] == [b"ok"] * 3
    assert len(list(kept(wasm).parent.glob("*.cwasm"))) == 1


def test_who_waits_for_the_lock_hears_progress(wasm: Path) -> None:
    folder = kept(wasm).parent
    folder.mkdir(parents=True, mode=0o700)
    heard: list[float] = []
    with cache.locked(kept(wasm).with_suffix(".lock"), heard.append):
        waiter = threading.Thread(target=compiled.load_module, args=(heard.append,))
        waiter.start()
        waiter.join(0.6)
        assert heard, "nothing was said while waiting"
    waiter.join(30)
    assert kept(wasm).exists()


def test_a_missing_or_wrong_binary_is_said_clearly(wasm: Path) -> None:
    wasm.write_text("not wasm")
    with pytest.raises(EngineError, match="could not be compiled"):
        compiled.load_module()
    wasm.unlink()
    with pytest.raises(MissingDependencyError, match="no ZetaSQL binary"):
        compiled.load_module()
