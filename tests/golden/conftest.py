"""Collects the cases of `tests/golden/<dialect>/<topic>.sql`; `pytest --golden` rewrites their expectations."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.golden.golden_cases import Case, found, normalize, read_cases, rewrite


class GoldenFile(pytest.File):
    """One file of cases."""

    def collect(self) -> Iterator["GoldenItem"]:
        dialect = self.path.parent.name
        if self.config.getoption("--golden"):
            rewrite(self.path, dialect)
        schema, cases = read_cases(self.path)
        for case in cases:
            item = GoldenItem.from_parent(self, name=case.name.replace(" ", "-"))
            item.case, item.schema, item.dialect = case, schema, dialect
            item.add_marker(pytest.mark.golden)
            yield item


class GoldenItem(pytest.Item):
    """One case: the edges found are the edges expected."""

    case: Case
    schema: dict
    dialect: str

    def runtest(self) -> None:
        actual = normalize(found(self.case.sql, self.dialect, self.schema))
        expected = normalize(self.case.expected)
        if actual != expected:
            missing = [line for line in expected if line not in actual]
            surplus = [line for line in actual if line not in expected]
            raise GoldenMismatch(self.case.sql, missing, surplus)

    def repr_failure(self, excinfo, style=None) -> str:
        if isinstance(excinfo.value, GoldenMismatch):
            sql, missing, surplus = excinfo.value.args
            return "\n".join([sql.strip(), "expected:", *missing, "found:", *surplus])
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"{self.dialect}/{self.path.stem}: {self.case.name}"


class GoldenMismatch(Exception):
    """What was found is not what was expected."""


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> GoldenFile | None:
    return GoldenFile.from_parent(parent, path=file_path) if file_path.suffix == ".sql" else None
