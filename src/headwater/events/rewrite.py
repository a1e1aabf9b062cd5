"""The changes to every event before it is sent: names of datasets, facets that are left out or added.

The rules are those of OpenLineage's settings (`headwater.events.settings`); without a setting nothing is changed.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import msgspec

from headwater.errors import ConfigError
from headwater.events.event import Event, RunEvent
from headwater.events.facet import Facets
from headwater.events.facets import SUBSETS, ColumnLineageFacet, FieldLineage, InputField, LocationCondition
from headwater.events.naming import DatasetName

_REMOVED = "remove"  # the group of a pattern that is taken out of a name


@dataclass(frozen=True, slots=True)
class Resolver:
    """Gives hosts in a namespace one name."""

    pattern: re.Pattern[str]
    name: str | None  # None: what the group has found
    group: str | None = None
    scheme: str | None = None

    def resolve(self, namespace: str) -> str:
        """The namespace with the host replaced; as it was when this is not for it."""
        found = self.pattern.search(namespace)
        if found is None or (self.scheme and not namespace.startswith(f"{self.scheme}://")):
            return namespace
        name = self.name if self.group is None else found[self.group]
        return self.pattern.sub(lambda _: name or "", namespace)


@dataclass(frozen=True)
class Rewrite:
    """The changes, as settings ask for them."""

    without: frozenset[str] = frozenset()  # facets, by key
    dropped: tuple[re.Pattern[str], ...] = ()  # jobs of which nothing is sent
    resolvers: tuple[Resolver, ...] = ()
    remove: re.Pattern[str] | None = None  # with a group `remove`
    trimmers: frozenset[str] = frozenset()  # DateTrimmer, MultiDirDateTrimmer, YearMonthTrimmer
    dataset_lineage: bool = True  # False: what decides about rows goes under every field
    descriptions: bool = True
    most_columns: int | None = None  # of a schema; above it there is no column lineage
    job_facets: Facets = field(default_factory=dict)
    run_facets: Facets = field(default_factory=dict)

    def apply(self, event: Event) -> Event | None:
        """The event as it is to be sent, None when it is not."""
        if not isinstance(event, RunEvent) or self == _NOTHING:
            return event
        if any(pattern.fullmatch(event.job.name) for pattern in self.dropped):
            return None
        job = msgspec.structs.replace(event.job, facets=self._kept(self.job_facets | event.job.facets))
        run = msgspec.structs.replace(event.run, facets=self._kept(self.run_facets | event.run.facets))
        inputs = _joined([self._renamed(each, "input") for each in event.inputs])
        outputs = _joined([self._renamed(each, "output") for each in event.outputs])
        return msgspec.structs.replace(event, job=job, run=run, inputs=inputs, outputs=outputs)

    def name(self, namespace: str, name: str) -> DatasetName:
        """Return what a dataset is called."""
        for resolver in self.resolvers:
            resolved = resolver.resolve(namespace)
            if resolved != namespace:
                namespace = resolved
                break
        if self.remove is not None:
            found = self.remove.search(name)
            if found is not None and found[_REMOVED]:
                name = name[: found.start(_REMOVED)] + name[found.end(_REMOVED) :]
        return DatasetName(namespace, trimmed(name, self.trimmers))

    def _kept(self, facets: Facets) -> Facets:
        return {key: facet for key, facet in facets.items() if key not in self.without}

    def _renamed(self, dataset: Any, kind: str) -> Any:
        name, facets = self.name(dataset.namespace, dataset.name), self._kept(dataset.facets)
        own = getattr(dataset, f"{kind}_facets")
        if name.name != dataset.name:  # the whole name says which part of the dataset it was
            where = LocationCondition(locations=(str(DatasetName(dataset.namespace, dataset.name)),))
            own = {"subset": SUBSETS[kind](**{f"{kind}_condition": where})} | own
        lineage, schema = facets.get("columnLineage"), facets.get("schema")
        if isinstance(lineage, ColumnLineageFacet):
            facets["columnLineage"] = self._lineage(lineage)
            if self.most_columns is not None and schema is not None and len(schema.fields) > self.most_columns:
                del facets["columnLineage"]
        changes = {
            "namespace": name.namespace,
            "name": name.name,
            "facets": facets,
            f"{kind}_facets": self._kept(own),
        }
        return msgspec.structs.replace(dataset, **changes)

    def _lineage(self, lineage: ColumnLineageFacet) -> ColumnLineageFacet:
        rows = [self._field(each) for each in lineage.dataset]
        fields = {
            column: [self._field(each) for each in made.input_fields] for column, made in lineage.fields.items()
        }
        if not self.dataset_lineage:
            fields, rows = {column: [*inputs, *rows] for column, inputs in fields.items()}, []
        made = {column: FieldLineage(input_fields=_merged_fields(inputs)) for column, inputs in fields.items()}
        return msgspec.structs.replace(lineage, fields=made, dataset=tuple(rows))

    def _field(self, one: InputField) -> InputField:
        name = self.name(one.namespace, one.name)
        ways = one.transformations
        if not self.descriptions:
            ways = tuple(dict.fromkeys(msgspec.structs.replace(way, description=None) for way in ways))
        return msgspec.structs.replace(one, namespace=name.namespace, name=name.name, transformations=ways)


_NOTHING = Rewrite()


def _merged_fields(fields: Iterable[InputField]) -> list[InputField]:
    """Each field of a dataset once, with all its transformations."""
    found: dict[tuple[str, str, str], InputField] = {}
    for one in fields:
        before = found.get((one.namespace, one.name, one.field), msgspec.structs.replace(one, transformations=()))
        ways = tuple(dict.fromkeys((*before.transformations, *one.transformations)))
        found[one.namespace, one.name, one.field] = msgspec.structs.replace(one, transformations=ways)
    return list(found.values())


def _joined(datasets: list[Any]) -> tuple[Any, ...]:
    """Datasets that have got one name, once; their numbers are added, the places where they lie are gathered."""
    found: dict[tuple[str, str], Any] = {}
    for one in datasets:
        before = found.get((one.namespace, one.name))
        found[one.namespace, one.name] = one if before is None else _sum(before, one)
    return tuple(found.values())


def _sum(first: Any, second: Any) -> Any:
    """Two datasets, or facets of them, as one: what is counted is added, what is a place is gathered."""
    changes: dict[str, Any] = {}
    for name in type(first).__struct_fields__:
        before, after = getattr(first, name), getattr(second, name)
        if isinstance(before, int) and isinstance(after, int):
            changes[name] = before + after
        elif name == "locations":
            changes[name] = tuple(dict.fromkeys((*before, *after)))
        elif isinstance(before, LocationCondition):
            changes[name] = _sum(before, after)
        elif name in ("input_facets", "output_facets"):
            both = {key: _sum(one, after[key]) for key, one in before.items() if key in after}
            changes[name] = before | after | both
    return msgspec.structs.replace(first, **changes)


# ------------------------------------------------------------------------------------------------------ trimming


def trimmed(name: str, trimmers: frozenset[str]) -> str:
    """A path without the folders at its end that are dates.

    >>> trimmed("/raw/2026/01/31", TRIMMERS), trimmed("/raw/orders/20260131T0600Z", TRIMMERS)
    ('/raw', '/raw/orders')
    >>> trimmed("/raw/2026/13/01", TRIMMERS), trimmed("/2026-01-31", TRIMMERS)
    ('/raw/2026/13/01', '/2026-01-31')
    """
    parts = name.strip("/").split("/")
    start = "/" if name.startswith("/") else ""
    while cut := max(
        (count for each, count, form in _DATED if each in trimmers and _ends(parts, count, form)), default=0
    ):
        parts = parts[:-cut]
        name = start + "/".join(parts)
    return name


def _ends(parts: list[str], count: int, form: str) -> bool:
    """Return whether the last folders are a date, with another folder before them."""
    text = "".join(parts[-count:])
    for found in re.finditer(form, text) if len(parts) > count and re.fullmatch(r"[\d\s:.TZ-]+", text) else ():
        try:
            date(int(found["y"]), int(found["m"]), int(found.groupdict().get("d") or 1))
        except ValueError:
            continue
        return True
    return False


_DATED = (  # trimmer, how many folders, how they look together
    ("DateTrimmer", 1, r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)"),
    ("DateTrimmer", 1, r"(?P<d>\d\d)\.(?P<m>\d\d)\.(?P<y>\d{4})"),
    ("DateTrimmer", 1, r"(?P<y>\d{4})(?P<m>\d\d)(?P<d>\d\d)"),
    ("YearMonthTrimmer", 1, r"^(?P<y>\d{4})-?(?P<m>\d\d)$"),
    ("MultiDirDateTrimmer", 2, r"^(?P<y>\d{4})(?P<m>\d\d)$"),
    ("MultiDirDateTrimmer", 3, r"^(?P<y>\d{4})(?P<m>\d\d)(?P<d>\d\d)$"),
)
TRIMMERS = frozenset(trimmer for trimmer, _, _ in _DATED)


def java_pattern(text: str, where: str) -> re.Pattern[str]:
    """A pattern in Java's spelling. RAISES: ConfigError for one that Python does not read."""
    try:
        return re.compile(re.sub(r"\(\?<(?![=!])", "(?P<", text))
    except re.error as err:
        raise ConfigError(f"`{where}` is not a pattern that Python reads: {err}") from err
