import pytest

from headwater.config import load
from headwater.errors import ConfigError, UnknownSettingError


def write(folder, text):
    (folder / "headwater.toml").write_text(text)
    return folder


def test_defaults(tmp_path):
    origin = load(env={}, folder=tmp_path)
    assert origin.settings.warehouse == "warehouse"
    assert origin.file is None
    assert origin.sources == {}


def test_flag_over_variable_over_file(tmp_path):
    write(tmp_path, 'warehouse = "from-file"\ndialect = "hive"\nprogress = false\n')
    env = {"HEADWATER_WAREHOUSE": "from-env", "HEADWATER_DIALECT": "spark", "PATH": "/bin"}
    origin = load(flags={"warehouse": "from-flag", "dialect": None}, env=env, folder=tmp_path)
    assert (origin.settings.warehouse, origin.settings.dialect) == ("from-flag", "spark")
    assert origin.settings.progress is False
    assert origin.sources == {
        "warehouse": "flag",
        "dialect": "environment",
        "progress": str(tmp_path / "headwater.toml"),
    }


def test_the_nearest_file_upward_counts(tmp_path):
    write(tmp_path, 'warehouse = "outer"')
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert load(env={}, folder=inner).settings.warehouse == str(tmp_path / "outer")
    write(tmp_path / "a", 'warehouse = "inner"')
    assert load(env={}, folder=inner).settings.warehouse == str(tmp_path / "a" / "inner")


def test_unknown_key_is_refused_with_a_guess_and_a_place(tmp_path):
    write(tmp_path, 'dialect = "hive"\nwarehose = "x"\n')
    with pytest.raises(UnknownSettingError) as caught:
        load(env={}, folder=tmp_path)
    assert caught.value.hint == "did you mean `warehouse`?"
    assert caught.value.place.endswith("headwater.toml:2:1")


def test_unknown_variable_is_refused(tmp_path):
    with pytest.raises(UnknownSettingError) as caught:
        load(env={"HEADWATER_WAREHOSE": "x"}, folder=tmp_path)
    assert caught.value.hint == "did you mean `HEADWATER_WAREHOUSE`?"


def test_syntax_error_has_a_place(tmp_path):
    write(tmp_path, 'warehouse = "a"\ndialect = = 1\n')
    with pytest.raises(ConfigError) as caught:
        load(env={}, folder=tmp_path)
    assert caught.value.place.endswith("headwater.toml:2:11")


@pytest.mark.parametrize("text", ["warehouse = 5", 'color = "sometimes"', 'progress = "perhaps"'])
def test_values_of_the_wrong_kind_are_refused(tmp_path, text):
    write(tmp_path, text)
    with pytest.raises(ConfigError, match=text.split()[0]):
        load(env={}, folder=tmp_path)


@pytest.mark.parametrize(("text", "value"), [("0", False), ("on", True), ("FALSE", False)])
def test_booleans_from_variables(tmp_path, text, value):
    assert load(env={"HEADWATER_PROGRESS": text}, folder=tmp_path).settings.progress is value


def test_a_named_file_must_be_readable(tmp_path):
    with pytest.raises(ConfigError, match="No such file"):
        load(env={}, file=tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load(env={}, file=tmp_path / "binary.toml")


def test_settings_of_the_engine_are_variables_only(tmp_path):
    write(tmp_path, 'cache = "x"')
    with pytest.raises(ConfigError) as caught:
        load(env={}, folder=tmp_path)
    assert caught.value.hint == "set the variable HEADWATER_CACHE"
    (tmp_path / "headwater.toml").unlink()
    assert load(env={"HEADWATER_CACHE": "x"}, folder=tmp_path).settings.cache == "x"
