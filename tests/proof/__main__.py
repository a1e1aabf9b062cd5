"""`python -m tests.proof`: prove lineage by execution.

Without options: all TPC queries, then generated ones. With a folder: its SELECTs only. Findings are printed as they
are met, with the seed and number of a generated query (`--only 7:123` proves it again); at the end, the runs, the
queries that took too long to be proven whole, and the share of witnessed edges by kind. Exit 1 if there is a finding.
"""

import argparse
import json
import sys
from pathlib import Path

from headwater.model.edges import InfluenceClass
from tests.proof.account import Account
from tests.proof.bound import SECONDS
from tests.proof.engines import ENGINES
from tests.proof.generated import WORLDS, prove_one
from tests.proof.run import DUCKDB, Progress, prove_slices, slices
from tests.proof.sources import folder_queries, prove_text, tpc_queries, tpc_schema
from tests.proof.tables import Schema


def main() -> int:
    given = _arguments()
    account = Account(shrinks=True)
    if given.queries is not None:
        queries, schema = folder_queries(given.queries, given.schema)
        _prove_texts(queries, schema, account, given)
    elif given.engine != DUCKDB:
        if (reason := ENGINES[given.engine].missing()) is not None:
            print(f"{given.engine} is missing, nothing was proven in it: {reason}", file=sys.stderr)
            return 2
        wanted = slices(given.seed, given.first, given.generated, given.worlds, given.engine)
        prove_slices(wanted, given.jobs, Progress(given.generated, account))
    elif given.only is not None:
        prove_one(account, given.only)
    else:
        chosen = {name: sql for name, sql in tpc_queries().items() if name.startswith(given.tpc)}
        _prove_texts(chosen, tpc_schema(), account, given)
        wanted = slices(given.seed, given.first, given.generated, given.worlds)
        prove_slices(wanted, given.jobs, Progress(given.generated * 11 // 10, account))
    if given.json:
        print(json.dumps(summary(account, given.seed)))
    else:
        for finding in account.findings if given.only else ():
            print(f"FINDING {finding}")
        report(account, unwitnessed=given.unwitnessed)
    return 1 if account.findings else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--queries", type=Path, metavar="FOLDER", help="prove the SELECTs of this folder and nothing else")
    add("--schema", type=Path, metavar="FILE", help="tables of the folder: CREATE TABLEs or JSON; else its own")
    add("--generated", type=int, default=2000, help="how many queries to generate, and a tenth as many writes")
    add("--first", type=int, default=0, help="number of the first generated query")
    add("--worlds", type=int, default=WORLDS, help="sets of tables for each query, at the most")
    add("--seed", type=int, default=1)
    add("--only", metavar="SEED:NUMBER", help="one generated query; SEEDw:NUMBER: one that writes")
    add("--engine", choices=(DUCKDB, *ENGINES), default=DUCKDB, help="where generated queries run")
    add("--jobs", type=int, default=1, help="processes")
    add("--tpc", default="tpc", metavar="PREFIX", help="TPC queries by the beginning of their name; '-': none")
    add("--unwitnessed", action="store_true", help="print the edges that no change witnessed")
    add("--json", action="store_true", help="print the summary as JSON")
    return parser.parse_args()


def _prove_texts(queries: dict[str, str], schema: Schema, account: Account, given: argparse.Namespace) -> None:
    for at, (name, sql) in enumerate(queries.items(), 1):
        if at % 10 == 0:
            print(f"{at} of {len(queries)}: {name}", file=sys.stderr, flush=True)
        told, refused = len(account.findings), account.refused
        prove_text(sql, schema, account, name=name, seed=given.seed, worlds=given.worlds)
        if account.refused > refused:
            print(f"{name}: the engine does not run it on these tables", file=sys.stderr, flush=True)
        for finding in account.findings[told:]:
            print(f"FINDING {finding}", flush=True)


def summary(account: Account, seed: int) -> dict[str, object]:
    """The sum of a proof, for programs."""
    return {
        "proof": "findings" if account.findings else "ok",
        "seed": seed,
        **{name: getattr(account, name) for name in ("queries", "runs", "refused", "empty", "unstable", "in_doubt")},
        "slow": account.slow,
        "broken": account.broken,
        "findings": [str(finding) for finding in account.findings],
        "edges": {kind.value: [account.witnessed[kind], account.edges[kind]] for kind in account.edges},
        "witnessed": {influence.value: round(account.share(influence), 4) for influence in InfluenceClass},
    }


def report(account: Account, *, unwitnessed: bool = False) -> None:
    """Print what was run, and the witnessed edges by kind."""
    print(
        f"{account.queries:,} queries, {account.runs:,} changes tried, {account.refused:,} refused by the engine, "
        f"{account.empty:,} without rows, {account.unstable:,} unstable, {account.in_doubt:,} not resolved, "
        f"{len(account.slow):,} slow, {len(account.broken):,} broken, {len(account.findings):,} findings"
    )
    for name in account.slow:
        print(f"  SLOW: not all changes were tried in {SECONDS:.0f} s: {name}")
    for name in account.broken:
        print(f"  BROKEN: the engine failed by a fault of its own: {name}")
    for kind, count in sorted(account.edges.items(), key=lambda item: (item[0].influence.value, item[0].value)):
        share = account.witnessed[kind] / count
        print(f"  {kind.influence.value:9} {kind.value:14} {count:>9,} edges, {share:6.1%} witnessed")
    for influence in InfluenceClass:
        print(f"  {influence.value:24} {account.share(influence):>23.1%} witnessed")
    if unwitnessed:
        for sql, (source, target, kind) in account.unwitnessed:
            print(f"  NOT WITNESSED {source} -> {target or '*'} {kind.value}: {' '.join(sql.split())}")


if __name__ == "__main__":
    sys.exit(main())
