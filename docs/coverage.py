"""Write docs/coverage.md from the report that `make coverage` makes: `python docs/coverage.py REPORT.json`."""

import datetime
import json
import sys
from collections import defaultdict
from pathlib import Path

PAGE = Path(__file__).resolve().parent / "coverage.md"
SOURCE = "src/headwater/"


def coverage_page(report: dict) -> str:
    """One line for each package: its statements and branches, and the part of both that tests reach."""
    packages = defaultdict(lambda: [0, 0, 0])
    for path, file in report["files"].items():
        name = path.partition(SOURCE)[2].partition("/")[0].removesuffix(".py")
        for row in (packages[name], packages["**all**"]):
            row[0] += file["summary"]["num_statements"]
            row[1] += file["summary"]["num_branches"]
            row[2] += file["summary"]["covered_lines"] + file["summary"]["covered_branches"]
    lines = [
        "# Coverage",
        "<!-- Written by docs/coverage.py: `make coverage` measures and writes it. -->\n",
        "The part of the code that the tests reach, statements and branches together. Processes that tests start are"
        " counted where they end by themselves: not those that are killed, nor Spark's Java.\n",
        f"Measured on {datetime.date.today():%Y-%m-%d} by `make coverage`, with the tests of `make test`.\n",
        "| package | statements | branches | reached |",
        "|---|---|---|---|",
    ]
    for name, (statements, branches, reached) in sorted(packages.items()):
        if statements:
            part = 100 * reached / (statements + branches)
            lines.append(f"| {name} | {statements:,} | {branches:,} | {part:.1f} % |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(coverage_page(json.loads(Path(sys.argv[1]).read_text())), encoding="utf-8")
