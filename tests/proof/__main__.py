"""`python -m tests.proof [--queries FOLDER] [--generated N] [--worlds N] [--seed N]`: prove lineage by execution.

Without options: all TPC queries, then generated ones. With a folder: its SELECTs only. Findings are printed as they
are met; at the end, the runs and the share of witnessed edges by kind. Exit 1 if there is a finding.
"""

import argparse
import json
import sys
from pathlib import Path

from tests.proof.generated import prove_generated, prove_writes
from tests.proof.judge import Account
from tests.proof.sources import folder_queries, prove_text, tpc_queries, tpc_schema
from tests.proof.tables import Schema


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--queries", type=Path, metavar="FOLDER", help="prove the SELECTs of this folder and nothing else"
    )
    parser.add_argument(
        "--generated", type=int, default=2000, help="how many queries to generate, and a tenth as many writes"
    )
    parser.add_argument("--worlds", type=int, default=3, help="sets of tables for each query, at the most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--tpc", default="tpc", metavar="PREFIX", help="TPC queries by the beginning of their name; '-': none"
    )
    parser.add_argument("--unwitnessed", action="store_true", help="print the edges that no change witnessed")
    given = parser.parse_args()
    account = Account()
    if given.queries is not None:
        queries, schema = folder_queries(given.queries)
        _prove_texts(queries, schema, account, given)
    else:
        chosen = {name: sql for name, sql in tpc_queries().items() if name.startswith(given.tpc)}
        _prove_texts(chosen, tpc_schema(), account, given)
        told = len(account.findings)
        prove_generated(account, seed=given.seed, queries=given.generated, worlds=given.worlds)
        prove_writes(account, seed=given.seed, statements=given.generated // 10, worlds=given.worlds)
        for finding in account.findings[told:]:
            print(f"  FINDING {finding}", flush=True)
    report(account, unwitnessed=given.unwitnessed)
    print(
        json.dumps(
            {"proof": "findings" if account.findings else "ok", "seed": given.seed, "queries": account.queries}
        )
    )
    return 1 if account.findings else 0


def _prove_texts(queries: dict[str, str], schema: Schema, account: Account, given: argparse.Namespace) -> None:
    for name, sql in queries.items():
        told, refused = len(account.findings), account.refused
        prove_text(sql, schema, account, seed=given.seed, worlds=given.worlds)
        if account.refused > refused:
            print(f"{name}: DuckDB does not run it on these tables", flush=True)
        for finding in account.findings[told:]:
            print(f"  FINDING {name} {finding}", flush=True)


def report(account: Account, *, unwitnessed: bool = False) -> None:
    """Print what was run, and the witnessed edges by kind."""
    print(
        f"{account.queries:,} queries, {account.runs:,} changes tried, {account.refused:,} refused by DuckDB, "
        f"{account.unstable:,} unstable, {account.in_doubt:,} not resolved, {len(account.findings):,} findings"
    )
    for kind, count in sorted(account.edges.items(), key=lambda item: item[0].value):
        share = account.witnessed[kind] / count
        print(f"  {kind.influence.value:9} {kind.value:14} {count:>8,} edges, {share:6.1%} witnessed")
    if unwitnessed:
        for sql, (source, target, kind) in account.unwitnessed:
            print(f"  NOT WITNESSED {source} -> {target or '*'} {kind.value}: {' '.join(sql.split())}")


if __name__ == "__main__":
    sys.exit(main())
