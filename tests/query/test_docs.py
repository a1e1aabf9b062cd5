"""The guide is run as it is printed."""

import doctest
import re
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "sql.md"


def test_the_guide_runs(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {"folder": tmp_path}, "sql.md", str(GUIDE), 0)
    report: list[str] = []
    outcome = doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL).run(test, out=report.append)
    assert outcome.attempted > 8
    assert outcome.failed == 0, "".join(report)
