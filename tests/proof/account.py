"""The account of a proof: the runs, the edges that there were and those that were witnessed, the findings."""

from collections import Counter
from dataclasses import dataclass, field

from headwater.model.edges import InfluenceClass, Kind
from tests.proof.judge import EdgeKey, Query

KEPT = 400
"""Edges without a witness that are kept for reading; all are counted."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference that no edge explains."""

    sql: str
    rule: str
    source: str
    column: str | None
    way: str
    seed: str = ""
    shrunk: str = ""

    def __str__(self) -> str:
        seed = f"seed {self.seed} " if self.seed else ""
        told = f"{seed}[{self.rule}] {self.source} ({self.way}) changes {self.column or 'rows'}: {self.sql}"
        return f"{told}\n{self.shrunk}" if self.shrunk else told


@dataclass(slots=True)
class Account:
    """The sum of a proof."""

    queries: int = 0
    runs: int = 0
    refused: int = 0
    empty: int = 0
    unstable: int = 0
    unconfirmed: int = 0
    """Differences that were not there when the query ran on the variant alone."""
    identified: int = 0
    in_doubt: int = 0
    shrinks: bool = False
    edges: Counter[Kind] = field(default_factory=Counter)
    witnessed: Counter[Kind] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    unwitnessed: list[tuple[str, EdgeKey]] = field(default_factory=list)
    by_chance: list[str] = field(default_factory=list)
    """Queries that were unstable."""
    not_run: list[str] = field(default_factory=list)
    """Queries that the engine refused."""
    slow: list[str] = field(default_factory=list)
    """Queries whose time was over before all changes were tried."""
    broken: list[str] = field(default_factory=list)
    """Queries by which the engine broke itself."""

    def settle(self, query: Query, witnessed: set[EdgeKey]) -> None:
        """Count the edges of a query and those that were witnessed."""
        self.queries += 1
        self.in_doubt += not query.edges.resolved
        for key in query.edges.keys:
            self.edges[key[2]] += 1
            self.witnessed[key[2]] += key in witnessed
            if key not in witnessed and len(self.unwitnessed) < KEPT:
                self.unwitnessed.append((query.sql, key))

    def add(self, other: "Account") -> None:
        """Add the account of another part of the same proof."""
        for name in ("queries", "runs", "refused", "empty", "unstable", "unconfirmed", "identified", "in_doubt"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.edges += other.edges
        self.witnessed += other.witnessed
        self.findings += other.findings
        self.by_chance += other.by_chance
        self.not_run += other.not_run
        self.slow += other.slow
        self.broken += other.broken
        self.unwitnessed += other.unwitnessed[: KEPT - len(self.unwitnessed)]

    def share(self, influence: InfluenceClass) -> float:
        """The witnessed share of all edges of one influence."""
        kinds = [kind for kind in self.edges if kind.influence is influence]
        return sum(self.witnessed[kind] for kind in kinds) / max(1, sum(self.edges[kind] for kind in kinds))
