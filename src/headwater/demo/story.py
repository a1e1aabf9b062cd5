"""The whole of Headwater on the shop, end to end, as `headwater demo` tells it. Every command shown is really run.
Raw files go through a PySpark job into lake tables, with the agent on; Snowflake and BigQuery scripts on the same
tables are harvested on Spark; then the graph is asked."""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

from headwater.demo.files import put_files
from headwater.demo.pipeline import Night, open_lake
from headwater.demo.raw_files import NIGHTS, write_correction, write_night
from headwater.errors import HeadwaterError
from headwater.jobs.session import spark_session
from headwater.spark import observe
from headwater.zetasql.compiled import compiled_path

Say = Callable[[str], None]


class Story:
    """The demo in one folder; `say` gets each line of it."""

    def __init__(self, folder: Path, say: Say, title: Say) -> None:
        self.folder = folder.absolute()
        self.say = say
        self.title = title
        self.log = self.folder / "spark.log"

    def tell(self) -> None:
        """Make the folder and everything in it. RAISES: AlreadyExistsError, JavaNotFoundError, HeadwaterError."""
        begun = time.monotonic()
        put_files(self.folder)
        with chdir(self.folder):
            self.title("1. Three nights of a shop: raw files → bronze → silver → gold, in PySpark, with the agent on")
            with self._quiet():
                self._nights()
            if compiled_path() is None:
                self.title("Once per machine: the ZetaSQL engine is compiled, which takes a minute")
                self._run("warmup zetasql")
            self.title("2. SQL on the same tables, in two dialects, harvested on Spark")
            self._harvest("--master 'local[*]'")
            self._questions()
        self.title(f"Done in {time.monotonic() - begun:.0f} s")

    def _nights(self) -> None:
        """Three nights of the pipeline, in one Spark."""
        raw = self.folder / "raw"
        write_night(raw, NIGHTS[1], broken=True)
        with spark_session("local[*]", name="shop", settings={"spark.sql.shuffle.partitions": "2"}) as spark:
            agent = observe(spark, "lake:warehouse")
            lake = open_lake(spark, "warehouse")
            for night in NIGHTS:
                job = Night(lake, raw / night)
                try:
                    job.bronze()
                except Exception as err:
                    self.say(f"  {night}  failed: {str(err).splitlines()[0][:100]}")
                    write_night(raw, night)
                    job.bronze()
                    self.say(f"  {night}  the file is mended, bronze is loaded again: the same rows, once")
                if night == NIGHTS[2]:
                    self.say(f"  {night}  bronze is loaded; silver and gold are still to come")
                    break
                job.silver()
                job.gold()
                total = lake.sql("SELECT round(sum(revenue), 2) FROM gold.revenue").first()
                assert total is not None
                self.say(f"  {night}  bronze, silver, gold: revenue so far {total[0]:,}")
                if night == NIGHTS[1]:
                    late = Night(lake, write_correction(raw, NIGHTS[0]))
                    late.corrections()
                    late.silver()
                    late.gold()
                    self.say(f"  {night}  one line of the first night is corrected; silver and gold are made again")
            agent.stop()

    def _questions(self) -> None:
        self.title("3. Where does the revenue on the board's page come from, down to the files?")
        self._run("trace report.ranking.revenue --influence value")
        self.title("4. Who is hit if the unit price changes?")
        self._run("impact bronze.items.unit_price --influence value --format table")
        self.title("5. A report is changed. What does the change do to lineage?")
        script = self.folder / "reports" / "snowflake" / "monthly.sql"
        before, after = "MAX(buyers) AS most_buyers", "AVG(revenue / buyers) AS per_buyer"
        script.write_text(script.read_text().replace(before, after))
        self._harvest()
        self._run("diff @-1..@0", expect=1)
        self.title("6. Which tables are behind their inputs? The third night has not reached silver and gold")
        self._run("stale", expect=1)
        self.title("7. Why is gold what it is? Every version that made it")
        self._run("why gold.revenue", head=14)
        self.title("8. Which rows is one figure made of? Hop by hop, down to the lines of the raw files")
        self._run("why gold.revenue --row 2026-03-01,NL --rows 1", head=40)
        self.title("9. The revenue moved. Which line of which file did it, and by how much?")
        self._run("bisect gold.revenue --expr 'sum(revenue)' --from 2", expect=1)
        self.title("10. The first night's gold, made again from what it was made of: is it the same?")
        self._run("replay gold.revenue@1")
        self._run("trace report.ranking --format html --output report.html")

    def _harvest(self, more: str = "") -> None:
        paths = "snowflake=reports/snowflake bigquery=reports/bigquery"
        self._run(f"harvest {paths} --schema warehouse {more}".rstrip())

    def _run(self, command: str, *, head: int | None = None, expect: int = 0) -> None:
        """Show a command and what it prints; what Spark says besides goes to the log."""
        self.say(f"$ headwater {command}")
        words = [sys.executable, "-m", "headwater", *shlex.split(command)]
        with self.log.open("a") as log:
            done = subprocess.run(words, stdout=subprocess.PIPE, stderr=log, text=True, check=False)
        lines = done.stdout.splitlines()
        for line in lines[:head]:
            self.say(line)
        if head is not None and len(lines) > head:
            self.say(f"… {len(lines) - head} more lines")
        if done.returncode != expect:
            raise HeadwaterError(
                f"`headwater {command}` ended with {done.returncode}, not {expect}", hint=f"{self.log} says more"
            )

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        """Send what Spark's Java writes to the log: a failing run is part of the story, its trace is not."""
        kept = os.dup(2)
        with self.log.open("a") as log:
            os.dup2(log.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
