"""The whole answer: what a change does, what it breaks or may break, and what is to be done about it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from headwater.errors import UsageError
from headwater.review.changes import Change, Risk, Sides
from headwater.review.git import Revision
from headwater.review.load import Loader
from headwater.review.policy import Policy
from headwater.review.rules import PiiFlow, Violation, pii_flows, violations
from headwater.review.side import IssueRecord, Side

FAILINGS = ("breaking", "pii", "new-issues")
"""What `--fail-on` takes."""


@dataclass(frozen=True)
class Review:
    """The effects of a change on lineage."""

    base: str
    head: str
    changes: tuple[Change, ...] = ()
    findings: tuple[IssueRecord, ...] = ()  # errors and warnings that the base does not have
    violations: tuple[Violation, ...] = ()  # of the policy, that the base does not have
    flows: tuple[PiiFlow, ...] = ()  # of tagged columns, that the base does not have
    rebuild: tuple[str, ...] = ()
    owners: Mapping[str, str] = field(default_factory=dict)  # of the datasets that are named here
    analysed: tuple[int, int] = (0, 0)  # units of base and head, this time
    units: int = 0  # of the head
    same: tuple[str, ...] = ()  # files of SQL that changed, and whose lineage is the same
    warnings: tuple[str, ...] = ()  # what could not be read on the head
    has_policy: bool = False
    sides: tuple[Side, Side] | None = field(default=None, repr=False)

    @property
    def counts(self) -> dict[Risk, int]:
        """Count the changes of each risk."""
        found = Counter(each.risk for each in self.changes)
        return {risk: found[risk] for risk in Risk}

    def failings(self, wanted: tuple[str, ...]) -> list[str]:
        """The wanted reasons to fail that are met."""
        met = {
            "breaking": bool(self.counts[Risk.BREAKING]),
            "pii": any(each.forbidden for each in self.flows),
            "new-issues": bool(self.findings or self.violations),
        }
        unknown = [name for name in wanted if name not in met]
        if unknown:
            raise UsageError(f"`{unknown[0]}` is nothing to fail on", hint=f"there are: {', '.join(FAILINGS)}")
        return [name for name in dict.fromkeys(wanted) if met[name]]


def review(loader: Loader, base: Revision, head: Revision, policy: Policy | None) -> Review:
    """Compare two versions of a repository. RAISES: DialectError, SchemaError, InputError."""
    before = loader.side(base)
    after = before if base.tree == head.tree else loader.side(head, before)
    comparison = Sides(before, after, loader.repository.renames(base, head), loader.analysis.engine)
    changes = comparison.changes()
    found = _against(policy, comparison) if policy is not None else ((), ())
    return Review(
        base.label,
        head.label,
        tuple(changes),
        tuple(comparison.new_findings()),
        *found,
        rebuild=tuple(comparison.to_rebuild(changes)),
        owners=_owners(after, policy, changes),
        analysed=(before.analysed, 0 if after is before else after.analysed),
        units=len(after.units),
        same=tuple(_same_files(loader, base, head, comparison, changes)),
        warnings=tuple(after.kept.warnings),
        has_policy=policy is not None,
        sides=(before, after),
    )


def _against(policy: Policy, sides: Sides) -> tuple[tuple[Violation, ...], tuple[PiiFlow, ...]]:
    """Return the violations of a policy and the flows of tagged columns that the head has and the base has not."""
    known = Counter(each.key for each in violations(sides.base, policy))
    broken = []
    for each in violations(sides.head, policy):
        if not known[each.key]:
            broken.append(each)
        known[each.key] -= 1
    there = {each.key for each in pii_flows(sides.base, policy)}
    return tuple(broken), tuple(each for each in pii_flows(sides.head, policy) if each.key not in there)


def _owners(side: Side, policy: Policy | None, changes: list[Change]) -> dict[str, str]:
    """The owners of the datasets that changes name, by the policy or else by their project."""
    said = {each.table.casefold(): each.owner for each in side.kept.words}
    named = {each.dataset for each in changes} | {name for each in changes for name in each.reaches}
    found = {}
    for name in sorted(named):
        owner = (policy.owner_of(name) if policy is not None else None) or said.get(name.casefold())
        if owner:
            found[name] = owner
    return found


def _same_files(loader: Loader, base: Revision, head: Revision, sides: Sides, changes: list[Change]) -> Iterator[str]:
    """The files of SQL that differ and make nothing that changed: only their form did, or their templates say the
    same here."""
    before, after = (loader.repository.files(each) for each in (base, head))
    changed = {each.dataset for each in changes}
    makers: dict[str, set[str]] = {}
    for unit in sides.head.kept.units:
        makers.setdefault(unit.file, set()).update(each.target for each in unit.statements if each.target)
    old = {new: name for name, new in sides.renamed_files.items()}
    for path in sorted(makers.keys() & after.keys()):
        if before.get(old.get(path, path)) not in (None, after[path]) and not makers[path] & changed:
            yield path
