"""SQL that others wrote: how much of a folder of scripts is understood, file by file, without a schema.

    python benchmarks/corpora.py FOLDER --dialect D

Scripts are `*.sql`; `*.test` are read as DuckDB's (sqllogictest) or ZetaSQL's (cases between `==`) according to their
text, and only statements that are expected to work are taken. For the corpora that are known here, the shares have
floors: PostgreSQL's `src/test/regress/sql`, Spark's `sql-tests/inputs`, the SQL Server First Responder Kit, DuckDB's
`test/sql` and ZetaSQL's `analyzer/testdata`. With `--show CODE` the statements are printed instead of the table.
"""

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from _report import Report

import headwater
from headwater.lineage.statement import StatementLineage, Status

KNOWN = {  # a file that only this corpus has → its name, and the share of statements that may fail
    "select_having.sql": ("PostgreSQL", 0.03),
    "higher-order-functions.sql": ("Spark", 0.015),
    "sp_Blitz.sql": ("First Responder Kit", 0.02),
    "aggregate/aggregates/test_sum.test": ("DuckDB", 0.01),
    "aggregate_filtering.test": ("ZetaSQL", 0.10),
}
_QUOTED = re.compile(r"(\$\w*\$).*?\1|'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/", re.DOTALL)
_NAMED = re.compile(  # a table, but neither a function nor a query in brackets
    r"\b(?:FROM|JOIN|INTO|UPDATE)\s+(?!(?:VALUES|LATERAL|TABLE|STDIN|SET|ONLY)\b)([A-Z_\"`\[#@][\w.\"`\[\]#@]*)(?![\w.]|\s*\()",
    re.IGNORECASE,
)
_WITH = re.compile(
    r"([\w\"`\[\]]+)\s*(?:\([^()]*\)\s*)?AS\s*(?:NOT\s+MATERIALIZED\s*|MATERIALIZED\s*)?\(", re.IGNORECASE
)
_COMMAND = re.compile(r"^(?:statement ok|query\b)[^\n]*\n(.*?)(?=\n\s*\n|\n----|\Z)", re.DOTALL | re.MULTILINE)
_OPTIONS = re.compile(r"^(?:\s*#[^\n]*\n|\s*\[(?:[^\]\[]|\[[^\]]*\])*\]\s*)*", re.DOTALL)


@dataclass
class Counts:
    """The counts of the statements of a corpus."""

    statements: int = 0
    by_status: Counter[Status] = field(default_factory=Counter)
    too_deep: int = 0
    exceptions: int = 0
    tables_lost: int = 0  # parse errors without tables though the text names some
    seconds: float = 0.0

    def share(self, status: Status) -> float:
        return self.by_status[status] / max(1, self.statements)


def scripts(folder: Path, limit: int) -> Iterator[tuple[str, str]]:
    """The texts of a folder with their names, in order; at most so many statements of test files."""
    left = limit
    for file in sorted(folder.rglob("*")):
        if file.suffix == ".sql":
            yield str(file.relative_to(folder)), file.read_text("utf-8-sig", errors="replace")
        elif file.suffix in (".test", ".test_slow"):
            text = file.read_text(errors="replace")
            found = list(_zetasql(text) if re.search(r"^==$", text, re.MULTILINE) else _sqllogictest(text))[:left]
            left -= len(found)
            if found:
                yield str(file.relative_to(folder)), ";\n".join(found)


def _sqllogictest(text: str) -> Iterator[str]:
    """The statements of one of DuckDB's tests that must work, but for those with a variable of the test's loops."""
    variables = re.findall(r"^(?:concurrent)?(?:loop|foreach)\s+(\w+)", text, flags=re.MULTILINE)
    for match in _COMMAND.finditer(re.sub(r"^#[^\n]*\n", "", text, flags=re.MULTILINE)):
        statement = match[1].strip().rstrip(";")
        if statement and not any(f"{{{name}}}" in statement for name in variables):
            yield statement


def _zetasql(text: str) -> Iterator[str]:
    """The statements of one of ZetaSQL's tests that it analyses without an error, alternatives left out."""
    if re.search(r"^\[default mode=(?!statement)", text, flags=re.MULTILINE):
        return  # expressions and types
    for case in re.split(r"^==\n", text, flags=re.MULTILINE):
        statement, _, expected = case.partition("\n--\n")
        options = _OPTIONS.match(statement)
        head = options[0] if options else ""
        body = re.sub(r"^\s*#[^\n]*\n?", "", statement[len(head) :], flags=re.MULTILINE).strip().rstrip(";")
        if body and "{{" not in body and "ERROR:" not in expected and "mode=" not in head and expected:
            yield body


def measure(
    folder: Path, dialect: str, engine: str, limit: int
) -> Iterator[tuple[str, str, StatementLineage | None]]:
    """Each statement of a folder: its file, its text and its lineage, which is None when a file raised."""
    for name, text in scripts(folder, limit):
        try:
            found = headwater.analyze(text, dialect=dialect, engine=engine, variables=None)
        except Exception as err:
            yield name, f"{type(err).__name__}: {err}", None
            continue
        for lineage in found.statements:
            span = lineage.span
            yield name, text[span.start : span.end] if span is not None else "", lineage


def problems(text: str, lineage: StatementLineage | None) -> Iterable[str]:
    """Return the column of the table that a statement is counted in."""
    if lineage is None:
        return ["exception"]
    codes = {issue.code.name for issue in lineage.issues}
    found = []
    if "INTERNAL_ERROR" in codes or any("not understood here" in each.message for each in lineage.issues):
        found.append("exception")
    if any("nested too deeply" in issue.message for issue in lineage.issues):
        found.append("too-deep")
    named = lineage.sources or lineage.target is not None
    if "PARSE_ERROR" in codes and not named and names_tables(text):
        found.append("tables-lost")
    return [*found, lineage.status.value]


def names_tables(text: str) -> bool:
    """Return whether a text names tables, other than the queries that it names itself."""
    plain = _QUOTED.sub(" ", text)
    if plain.lstrip().upper().startswith("EXECUTE IMMEDIATE"):  # INTO names variables
        return False
    return bool({each.lower() for each in _NAMED.findall(plain)} - {each.lower() for each in _WITH.findall(plain)})


def count(statements: Iterable[tuple[str, str, StatementLineage | None]], show: str | None) -> Counts:
    counts, begun = Counts(), time.process_time()
    for name, text, lineage in statements:
        found = problems(text, lineage)
        counts.statements += 1
        counts.too_deep += "too-deep" in found
        counts.exceptions += "exception" in found
        counts.tables_lost += "tables-lost" in found
        if lineage is not None:
            counts.by_status[lineage.status] += 1
        if show is not None and show in found:
            said = "; ".join(issue.message for issue in lineage.issues) if lineage is not None else ""
            print(f"## {name}: {said}\n{text}\n")
    counts.seconds = time.process_time() - begun
    return counts


def corpus_of(folder: Path) -> tuple[str, float | None]:
    """The name of a known corpus with the share of statements that may fail; of another, its folder's name."""
    for marker, known in KNOWN.items():
        if (folder / marker).exists():
            return known
    return folder.name, None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a folder of scripts, searched with what is in it")
    parser.add_argument("--dialect", required=True, help="the dialect of all of them")
    parser.add_argument("--engine", default="sqlglot", choices=("sqlglot", "auto"), help="of GoogleSQL")
    parser.add_argument("--limit", type=int, default=12_000, help="statements taken of `*.test` files")
    parser.add_argument("--show", help="print the statements with this status or problem: error, too-deep, …")
    args = parser.parse_args()
    if not args.folder.is_dir():
        parser.error(f"{args.folder} is no folder")
    counts = count(measure(args.folder, args.dialect, args.engine, args.limit), args.show)
    if not counts.statements:
        sys.exit(f"there are no statements in {args.folder}: it is searched for *.sql and *.test")
    name, errors = corpus_of(args.folder)
    report = Report("corpora")
    if errors is not None:
        report.floor(f"{name}: errors", counts.share(Status.ERROR), errors, most=True)
    report.floor(f"{name}: falsely too deep", counts.too_deep, 0, most=True)
    report.floor(f"{name}: exceptions", counts.exceptions, 0, most=True)
    report.floor(f"{name}: parse errors that lose tables", counts.tables_lost, 0, most=True)
    headers = ("corpus", "statements", "error", "table-only", "too deep", "exceptions", "tables lost", "CPU s")
    shares = (f"{counts.share(each):.1%}" for each in (Status.ERROR, Status.TABLE_ONLY))
    row = (name, counts.statements, *shares, counts.too_deep, counts.exceptions, counts.tables_lost)
    report.finish(headers, [(*row, f"{counts.seconds:.1f}")])


if __name__ == "__main__":
    main()
