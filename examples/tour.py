"""What Headwater does with SQL text and lake tables, command by command. Every command shown is really run."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
WORK = ROOT / "demo" / "tour"


def say(title: str) -> None:
    print(f"\n\033[1m{title}\033[0m" if sys.stdout.isatty() else f"\n{title}", flush=True)


def run(command: str, *, head: int | None = None, expect: int = 0) -> None:
    """Show a command and what it prints."""
    print(f"$ {command}", flush=True)
    words = [sys.executable, *([] if command.startswith("examples/") else ["-m"]), *shlex.split(command)]
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    lines = done.stdout.splitlines()
    print("\n".join(lines[:head]), flush=True)
    if head is not None and len(lines) > head:
        print(f"… {len(lines) - head} more lines", flush=True)
    if done.returncode != expect:
        sys.exit(f"`{command}` ended with {done.returncode}, not {expect}")


def lineage() -> None:
    shop = "examples/shop"
    say("1. Where do the columns of these Snowflake scripts come from?")
    run(f"headwater lineage {shop}/snowflake -d snowflake -s {shop}/schemas/shop.sql", head=45)
    say("2. The same as a diagram, by table")
    run(f"headwater lineage {shop}/snowflake -d snowflake -s {shop}/schemas/shop.sql --format mermaid --level table")
    say("3. BigQuery, read by the real ZetaSQL: structs, arrays, variables and temporary tables keep their lineage")
    run(f"headwater lineage {shop}/bigquery -d bigquery -s {shop}/schemas/web.sql --reading value")
    say("4. A typo, found before it is deployed (exit code 1, so that CI stops)")
    run(f"headwater check {shop}/typo.sql -s {shop}/schemas/shop.sql", expect=1)


def lake() -> None:
    say("5. A lake table: upserts, a delete, time travel, every version of one key")
    run("examples/lake_table.py demo/tour/warehouse")
    say("6. SQL on it, with the past in reach")
    sql("SELECT status, count(*) AS n FROM shop.orders GROUP BY 1 ORDER BY 1")
    sql("SELECT * FROM shop.orders VERSION AS OF 1 WHERE id = 9")
    say("7. Every snapshot knows where it came from: which columns, of which table, at which version")
    sql("CREATE TABLE shop.by_status AS SELECT status, sum(amount) AS total FROM shop.orders GROUP BY status")
    sql("SELECT * EXCLUDE (commit_time, operation, job, run_id) FROM shop.by_status$lineage")


def sql(text: str) -> None:
    run(f"headwater sql -e '{text}' --warehouse demo/tour/warehouse")


def main() -> None:
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    say("Is everything here?")
    run("headwater doctor")
    lineage()
    lake()
    say("Try next")
    print("  .venv/bin/headwater sql --warehouse demo/tour/warehouse")
    print("  .venv/bin/headwater lineage YOUR.sql --dialect postgres")
    print("  .venv/bin/headwater lineage -e 'INSERT INTO d SELECT a + b AS c FROM t' --format mermaid")


if __name__ == "__main__":
    main()
