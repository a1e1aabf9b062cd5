"""The whole of Headwater on a small shop, end to end: run by `make demo`. Every command shown is really run.

Raw files go through a PySpark job into lake tables, with the agent on; Snowflake and BigQuery scripts on the same
tables are harvested on Spark; then the graph is asked.
"""

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
WORK = ROOT / "demo"
LOG = WORK / "spark.log"
WAREHOUSE = "demo/warehouse"
sys.path.insert(0, str(ROOT / "examples"))


def say(title: str) -> None:
    print(f"\n\033[1m{title}\033[0m" if sys.stdout.isatty() else f"\n{title}", flush=True)


def run(command: str, *, head: int | None = None, expect: int = 0) -> None:
    """Show a command and what it prints; what Spark says besides goes to demo/spark.log."""
    print(f"$ headwater {command}", flush=True)
    words = [sys.executable, "-m", "headwater", *shlex.split(command), "--warehouse", WAREHOUSE]
    with LOG.open("a") as log:
        done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True, check=False)
    lines = done.stdout.splitlines()
    print("\n".join(lines[:head]), flush=True)
    if head is not None and len(lines) > head:
        print(f"… {len(lines) - head} more lines", flush=True)
    if done.returncode != expect:
        sys.exit(f"`{command}` ended with {done.returncode}, not {expect}\n{LOG.read_text()[-2000:]}")


@contextmanager
def quiet() -> Iterator[None]:
    """Send what Spark's Java writes to stderr to a file: a failing run is part of the story, its trace is not."""
    kept = os.dup(2)
    with LOG.open("a") as log:
        os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)


def nights() -> None:
    """Three nights of the pipeline, in one Spark."""
    from shop.pipeline import Night, open_lake
    from shop.raw_files import NIGHTS, write_night

    from headwater.jobs.session import spark_session
    from headwater.spark import observe

    raw = WORK / "raw"
    with spark_session("local[*]", name="shop", settings={"spark.sql.shuffle.partitions": "2"}) as spark:
        agent = observe(spark, f"lake:{WAREHOUSE}")
        lake = open_lake(spark, WAREHOUSE)
        for night in NIGHTS:
            write_night(raw, night, broken=night == NIGHTS[1])
            job = Night(lake, raw / night)
            try:
                job.bronze()
            except Exception as err:
                reason = str(err).splitlines()[0]
                print(f"  {night}  failed: {reason[:100]}")
                write_night(raw, night)
                job.bronze()
                print(f"  {night}  the file is mended, bronze is loaded again: the same rows, once")
            if night == NIGHTS[2]:
                print(f"  {night}  bronze is loaded; silver and gold are still to come")
                break
            job.silver()
            job.gold()
            total = lake.sql("SELECT round(sum(revenue), 2) FROM gold.revenue").first()
            assert total is not None
            print(f"  {night}  bronze, silver, gold: revenue so far {total[0]:,}")
        agent.stop()


def questions() -> None:
    say("3. Where does the revenue on the board's page come from, down to the files?")
    run("trace report.ranking.revenue --influence value")
    say("4. Who is hit if the unit price changes?")
    run("impact bronze.items.unit_price --influence value --format table")
    say("5. A report is changed. What does the change do to lineage?")
    script = WORK / "sql" / "snowflake" / "monthly.sql"
    script.write_text(script.read_text().replace("MAX(buyers) AS most_buyers", "AVG(revenue / buyers) AS per_buyer"))
    harvest()
    run("diff @-1..@0", expect=1)
    say("6. Which tables are behind their inputs? The third night has not reached silver and gold")
    run("stale", expect=1)
    say("7. Why is gold what it is? Every version that made it")
    run("why gold.revenue", head=14)
    run("trace report.ranking --format html --output demo/report.html")


def harvest(more: str = "") -> None:
    run(f"harvest snowflake=demo/sql/snowflake bigquery=demo/sql/bigquery --schema {WAREHOUSE} {more}".rstrip())


def main() -> None:
    begun = time.monotonic()
    os.chdir(ROOT)
    shutil.rmtree(WORK, ignore_errors=True)
    shutil.copytree(ROOT / "examples" / "shop" / "reports", WORK / "sql")
    say("1. Three nights of a shop: raw files → bronze → silver → gold, in PySpark, with the agent on")
    with quiet():
        nights()
    say("2. SQL on the same tables, in two dialects, harvested on Spark")
    harvest("--master 'local[*]'")
    questions()
    say(f"Done in {time.monotonic() - begun:.0f} s; demo/report.html is the picture. Try next")
    print(f"  .venv/bin/headwater impact bronze.orders.status --warehouse {WAREHOUSE}")
    print(f"  .venv/bin/headwater sql --warehouse {WAREHOUSE}")
    print("  .venv/bin/python examples/tour.py")


if __name__ == "__main__":
    main()
