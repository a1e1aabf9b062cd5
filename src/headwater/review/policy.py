"""`headwater.policy.toml`: what a repository asks of its own lineage.

[tags]                               # tag → patterns of columns
pii = ["raw.*.email", "*.ssn"]

[masking]
functions = ["vault.mask"]           # beside those that Headwater knows: hashes, counts, masks

[[flows]]                            # values of tagged columns may not reach these tables, unless masked
tag = "pii"
to = ["mart.*"]
except = ["mart.contacts.*"]

[[owners]]
tables = ["mart.*"]
owner = "finance@example.com"

[require]
owner = ["mart.*"]
description = ["mart.*"]

[stars]
forbidden = ["mart.*"]               # no `SELECT *` over a table

[depth]
most = 8                             # tables on the longest way from a source
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from headwater.errors import ConfigError, UnknownSettingError
from headwater.text import Source, nearest

FILE_NAME = "headwater.policy.toml"
Part = TypeVar("Part", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class FlowRule:
    """A flow that is forbidden: the values of columns with a tag into tables or columns like some patterns."""

    tag: str
    to: tuple[str, ...]
    exempt: tuple[str, ...] = ()

    def forbids(self, dataset: str, column: str) -> bool:
        """Return whether a column may not have such values."""
        name = f"{dataset}.{column}"
        return any(_is_like(each, self.to) for each in (dataset, name)) and not any(
            _is_like(each, self.exempt) for each in (dataset, name)
        )


@dataclass(frozen=True, slots=True)
class OwnerRule:
    """The owner of the tables that are like some patterns. The first rule that matches counts."""

    tables: tuple[str, ...]
    owner: str


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules that a repository sets for its own lineage. Patterns are those of files; case does not count."""

    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    masking: frozenset[str] = frozenset()
    flows: tuple[FlowRule, ...] = ()
    owners: tuple[OwnerRule, ...] = ()
    need_owner: tuple[str, ...] = ()
    need_description: tuple[str, ...] = ()
    no_star: tuple[str, ...] = ()
    depth: int | None = None

    def owner_of(self, table: str) -> str | None:
        """The owner of a table."""
        return next((rule.owner for rule in self.owners if _is_like(table, rule.tables)), None)

    def tags_of(self, dataset: str, column: str) -> list[str]:
        """The tags of a column."""
        return [tag for tag, patterns in self.tags.items() if _is_like(f"{dataset}.{column}", patterns)]

    def wants(self, patterns: tuple[str, ...], table: str) -> bool:
        """Return whether a table is like one of some patterns."""
        return _is_like(table, patterns)


def _is_like(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name.casefold(), pattern.casefold()) for pattern in patterns)


def find_policy(folder: Path) -> Path | None:
    """The nearest policy in a folder or above it."""
    return next((each / FILE_NAME for each in (folder, *folder.parents) if (each / FILE_NAME).is_file()), None)


def read_policy(path: Path) -> Policy:
    """The policy in a file. RAISES: ConfigError when it is not of the form, UnknownSettingError for unknown keys."""
    try:
        text = path.read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as err:
        raise ConfigError(f"the policy {path} cannot be read: {err}") from err
    return _policy(table, Source(text, str(path)))


class _Form(msgspec.Struct, forbid_unknown_fields=True):
    tags: dict[str, list[str]] = {}
    masking: dict[str, Any] = {}
    flows: list[dict[str, Any]] = []
    owners: list[dict[str, Any]] = []
    require: dict[str, Any] = {}
    stars: dict[str, Any] = {}
    depth: dict[str, Any] = {}


class _Masking(msgspec.Struct):
    functions: list[str] = []


class _Flow(msgspec.Struct):
    tag: str
    to: list[str]
    exempt: list[str] = msgspec.field(name="except", default_factory=list)


class _Owner(msgspec.Struct):
    tables: list[str]
    owner: str


class _Require(msgspec.Struct):
    owner: list[str] = []
    description: list[str] = []


class _Stars(msgspec.Struct):
    forbidden: list[str] = []


class _Depth(msgspec.Struct):
    most: int | None = None


def _policy(table: Mapping[str, Any], source: Source) -> Policy:
    form = _read(table, _Form, "", source)
    flows = [_read(each, _Flow, "flows", source) for each in form.flows]
    owners = [_read(each, _Owner, "owners", source) for each in form.owners]
    for flow in flows:
        if flow.tag not in form.tags:
            close = nearest(flow.tag, form.tags)
            hint = f"did you mean `{close}`?" if close else "name its columns under [tags]"
            raise ConfigError(f"`flows` forbids a tag `{flow.tag}` that nothing has", hint=hint, source=source)
    required = _read(form.require, _Require, "require", source)
    return Policy(
        {tag: tuple(patterns) for tag, patterns in form.tags.items()},
        frozenset(name.casefold() for name in _read(form.masking, _Masking, "masking", source).functions),
        tuple(FlowRule(each.tag, tuple(each.to), tuple(each.exempt)) for each in flows),
        tuple(OwnerRule(tuple(each.tables), each.owner) for each in owners),
        tuple(required.owner),
        tuple(required.description),
        tuple(_read(form.stars, _Stars, "stars", source).forbidden),
        _read(form.depth, _Depth, "depth", source).most,
    )


def _read(table: Mapping[str, Any], form: type[Part], where: str, source: Source) -> Part:
    """A table of the file in its form. RAISES: ConfigError, UnknownSettingError."""
    known = [each.encode_name for each in msgspec.structs.fields(form)]
    for name in table:
        if name not in known:
            close = nearest(name, known)
            hint = f"did you mean `{close}`?" if close else f"there are: {', '.join(known)}"
            place = f"`{name}`" + (f" in `{where}`" if where else "")
            raise UnknownSettingError(f"a policy has no {place}", hint=hint, source=source, span=_place(source, name))
    try:
        return msgspec.convert(table, form)
    except msgspec.ValidationError as err:
        raise ConfigError(f"`{where or 'the policy'}` is not of its form: {err}", source=source) from err


def _place(source: Source, name: str) -> Any:
    at = source.text.find(name)
    return source.span(at, at + len(name)) if at >= 0 else None
