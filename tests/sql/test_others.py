"""Properties of scripts that others write, tried on every golden statement: nothing is lost, nothing raises."""

import random
import re
from pathlib import Path

import pytest
from tests.effort import THOROUGH
from tests.golden.golden_cases import lineages, read_cases

from headwater.errors import IssueCode
from headwater.lineage import Status
from headwater.sql.dialects import tokenize
from headwater.text import Source

FILES = sorted((Path(__file__).parents[1] / "golden").glob("*/*.sql"))
FILES = [path for path in FILES if path.parent.name != "googlesql"]


def found(sql, dialect, schema=None):
    return list(lineages(Source(sql), dialect, schema or {}))


def tables(lineage):
    named = [*(each.name for each in lineage.sources), *([lineage.target] if lineage.target else [])]
    return {
        name.parts[-1].lower() for name in named if re.fullmatch(r"[\w*]+", name.parts[-1])
    }  # no files and stages


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_statement_that_is_spoilt_keeps_its_tables(path):
    """The tables of a statement are found without the parser, too: brackets that nothing opened take it away."""
    dialect = path.parent.name
    for case in read_cases(path)[1]:
        good = found(case.sql, dialect)
        if len(good) != 1 or good[0].status is Status.ERROR or case.name in NAMED_OTHERWISE:
            continue
        spoilt = found(case.sql.rstrip().rstrip(";") + " ))", dialect)
        if any(issue.code is IssueCode.PARSE_ERROR for lineage in spoilt for issue in lineage.issues):
            kept = set().union(*(tables(lineage) for lineage in spoilt))
            assert tables(good[0]) <= kept, (case.name, case.sql)


NAMED_OTHERWISE = {"materialized view into a table"}
"""Cases whose tables are not after FROM, JOIN, INTO and the like."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_no_text_raises(path):
    """Statements with some of their tokens dropped, doubled or exchanged are read in every dialect."""
    chance = random.Random(path.parent.name + path.stem)
    cases = read_cases(path)[1]
    for case in cases:
        try:
            tokens = [token.text for token in tokenize(case.sql, path.parent.name)]
        except Exception:
            continue
        for number in range(3):
            changed = list(tokens)
            for _ in range(chance.randint(1, 3)):
                at, other = chance.randrange(len(changed)), chance.randrange(len(changed))
                change = chance.choice(("drop", "double", "exchange"))
                if change == "drop" and len(changed) > 1:
                    del changed[at]
                elif change == "double":
                    changed.insert(at, changed[at])
                else:
                    changed[at], changed[other] = changed[other], changed[at]
            text = " ".join(changed)
            for lineage in found(text, path.parent.name) if THOROUGH or number == 0 else ():
                assert IssueCode.INTERNAL_ERROR not in {issue.code for issue in lineage.issues}, text


def alone(path):
    """The cases of a file that are one statement, which does not depend on others, without their semicolons."""
    for case in read_cases(path)[1]:
        sql = case.sql.strip().rstrip(";")
        if ";" in sql or "@" in sql or "GO" in sql:
            continue
        read = found(sql, "tsql")
        if len(read) == 1 and read[0].status is not Status.ERROR:
            yield sql


def shown(lineage):
    edges = sorted(f"{edge.source} {edge.kind} {edge.target}" for edge in lineage.edges)
    return lineage.statement_type, str(lineage.target), lineage.status, edges


TSQL = [sql for path in FILES if path.parent.name == "tsql" for sql in alone(path)]


@pytest.mark.parametrize("between", ["\n", " "])
def test_t_sql_needs_no_semicolons(between):
    """Any two statements, one after the other, are read as with a semicolon between them."""
    chance = random.Random(between)
    assert len(TSQL) > 40
    for first in TSQL:
        second = chance.choice(TSQL)
        together = [shown(lineage) for lineage in found(f"{first}{between}{second}", "tsql")]
        assert together == [shown(lineage) for lineage in found(f"{first};\n{second}", "tsql")], (first, second)
