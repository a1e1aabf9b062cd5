"""Settings: what they are, and where they come from.

Precedence: flag > `HEADWATER_*` variable > `headwater.toml` (the nearest one upward from the working folder) >
default. `Settings` is the one list of settings: the file's keys, the variables' names and
`docs/reference/config.md` all follow from its fields. Relative paths in a file are meant from the file's folder.
"""

import dataclasses
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwater.errors import ConfigError, UnknownSettingError
from headwater.text import Source, Span, nearest

FILE_NAME = "headwater.toml"
PREFIX = "HEADWATER_"
_PATHS = ("warehouse", "schema")


def _setting(
    default: str | bool | tuple[str, ...] | None,
    doc: str,
    choices: tuple[str, ...] = (),
    *,
    variable_only: bool = False,
) -> Any:
    """A setting. One that is `variable_only` is read far below the command line, from the environment alone.

    One with `_` in its name stands in a table of the file: `harvest_target` is `target` below `[harvest]`.
    """
    metadata = {"doc": doc, "choices": choices, "variable_only": variable_only}
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting of Headwater, with its default."""

    warehouse: str = _setting("warehouse", "Where lake tables live: a folder, or an s3://, gs:// or az:// URL.")
    dialect: str | None = _setting(None, "The SQL dialect of files that do not say theirs, for example `bigquery`.")
    schema: str | None = _setting(None, "A schema file (JSON, DDL or information_schema dump) to resolve names with.")
    cache: str | None = _setting(
        None, "Folder for what is made once per machine. Default: the user's cache folder.", variable_only=True
    )
    zetasql_wasm: str | None = _setting(
        None, "Another build of the ZetaSQL engine than the one of the package.", variable_only=True
    )
    zetasql_seconds: str | None = _setting(
        None, "How long ZetaSQL may take for one statement; 0 for no limit. Default: 60.", variable_only=True
    )
    token: str | None = _setting(
        None, "What callers of `headwater serve` must show, when other machines can reach it.", variable_only=True
    )
    pull_password: str | None = _setting(
        None, "The password that `headwater pull` opens a database with.", variable_only=True
    )
    harvest_target: tuple[str, ...] = _setting(
        (), "The table that a file makes, by its path: `sql/{project}/{dataset}/{table}/query.sql`, or several such."
    )
    harvest_exclude: tuple[str, ...] = _setting((), "Paths that `harvest` leaves out, for example `tests/*`.")
    color: str = _setting("auto", "When to use colour; `NO_COLOR` is honoured too.", ("auto", "always", "never"))
    progress: bool = _setting(True, "Show progress of long work on a terminal.")


@dataclass(frozen=True, slots=True)
class SettingsOrigin:
    """The source of a setting's value, for `doctor` and error messages."""

    settings: Settings
    file: Path | None
    sources: dict[str, str]


def load(
    *,
    flags: Mapping[str, object] | None = None,
    env: Mapping[str, str] | None = None,
    file: str | os.PathLike[str] | None = None,
    folder: Path | None = None,
) -> SettingsOrigin:
    """Gather the settings from flags, variables, file and defaults.

    `file` names a configuration file outright; otherwise the nearest `headwater.toml` upward from `folder` counts.

    RAISES: ConfigError, UnknownSettingError.
    """
    path = Path(file) if file is not None else find_file(folder or Path.cwd())
    values: dict[str, object] = {}
    sources: dict[str, str] = {}
    layers = (
        (str(path), _from_file(path, folder or Path.cwd()) if path is not None else {}),
        ("environment", _from_env(os.environ if env is None else env)),
        ("flag", {name: value for name, value in (flags or {}).items() if value is not None}),
    )
    for source, layer in layers:
        values |= layer
        sources |= dict.fromkeys(layer, source)
    return SettingsOrigin(Settings(**values), path, sources)  # type: ignore[arg-type]


def find_file(folder: Path) -> Path | None:
    """The nearest configuration file in a folder or above it."""
    for candidate in (folder, *folder.parents):
        path = candidate / FILE_NAME
        if path.is_file():
            return path
    return None


def _from_file(path: Path, folder: Path) -> dict[str, object]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as err:
        raise ConfigError(f"cannot read the configuration file {path}: {_reason(err)}") from err
    source = Source(text, str(path))
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as err:
        message, span = _toml_place(str(err), source)
        raise ConfigError(f"not valid TOML: {message}", source=source, span=span) from err
    values = {name: _check(name, value, where=where, source=source) for name, where, value in _flat(table)}
    return values if path.parent == folder else {name: _beside(path, name, values[name]) for name in values}


def _flat(table: Mapping[str, object]) -> Iterator[tuple[str, str, object]]:
    """The settings of a file: their names, how the file names them, and their values."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from ((f"{name}_{inner}", f"{name}.{inner}", each) for inner, each in value.items())
        else:
            yield name, name, value


def _beside(file: Path, name: str, value: object) -> object:
    """A path in a file is meant from that file, wherever the command runs."""
    is_path = name in _PATHS and isinstance(value, str) and "://" not in value
    return str(file.parent / str(value)) if is_path else value


def _from_env(env: Mapping[str, str]) -> dict[str, object]:
    values: dict[str, object] = {}
    for variable, text in env.items():
        if variable.startswith(PREFIX) and text:
            name = variable.removeprefix(PREFIX).lower()
            field = _field(name, where=variable)
            value: object = text
            if isinstance(field.default, bool):
                value = _BOOLEANS.get(text.lower(), text)
            elif isinstance(field.default, tuple):
                value = [each.strip() for each in text.split(",")]
            values[name] = _check(name, value, where=variable)
    return values


_BOOLEANS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


def _field(name: str, *, where: str, source: Source | None = None) -> "dataclasses.Field[Any]":
    fields = {field.name: field for field in dataclasses.fields(Settings)}
    if name not in fields:
        close = nearest(name, fields)
        spelt = PREFIX + close.upper() if close and where.startswith(PREFIX) else close
        raise UnknownSettingError(
            f"there is no setting `{where}`",
            hint=f"did you mean `{spelt}`?" if spelt else f"settings: {', '.join(fields)}",
            source=source,
            span=_key_span(source, name),
        )
    return fields[name]


def _check(name: str, value: object, *, where: str, source: Source | None = None) -> object:
    field = _field(name, where=where, source=source)
    if source is not None and field.metadata["variable_only"]:
        raise ConfigError(
            f"setting `{name}` cannot stand in a file",
            hint=f"set the variable {PREFIX}{name.upper()}",
            source=source,
            span=_key_span(source, name),
        )
    wanted = bool if isinstance(field.default, bool) else str
    choices = field.metadata["choices"]
    if isinstance(field.default, tuple):
        several = value if isinstance(value, list) else [value]
        if all(isinstance(each, str) for each in several):
            return tuple(several)
        problem = "must be text, or a list of texts"
    elif type(value) is not wanted:
        problem = f"must be {'true or false' if wanted is bool else 'text'}"
    elif choices and value not in choices:
        problem = f"must be one of {', '.join(choices)}"
    else:
        return value
    raise ConfigError(f"setting `{where}` {problem}, not `{value}`", source=source, span=_key_span(source, name))


def _key_span(source: Source | None, name: str) -> Span | None:
    """Return where a key stands in the file, for the caret."""
    if source is None:
        return None
    for number in range(1, len(source.line_starts) + 1):
        line = source.line(number)
        if line.lstrip(" \t[\"'").startswith(name):
            return source.span_at(number, line.index(name) + 1, len(name))
    return None


def _toml_place(message: str, source: Source) -> tuple[str, Span | None]:
    """Take `(at line 3, column 5)` or `(at end of document)` off the parser's message, as a span."""
    if message.endswith(" (at end of document)"):
        end = len(source.text.rstrip())
        return message.removesuffix(" (at end of document)"), source.span(end, end)
    match = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", message, re.DOTALL)
    if match is None:
        return message, None
    return match[1].rstrip("."), source.span_at(int(match[2]), int(match[3]))


def _reason(err: Exception) -> str:
    return err.strerror or str(err) if isinstance(err, OSError) else "it is not UTF-8 text"
