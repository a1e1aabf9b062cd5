"""What is kept of benchmarks, and when a later run is said to be worse. Nothing is measured here."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
_SPEC = importlib.util.spec_from_file_location("kept_results", BENCHMARKS / "_kept.py")
kept = importlib.util.module_from_spec(_SPEC)
sys.modules["kept_results"] = kept
_SPEC.loader.exec_module(kept)


@pytest.mark.parametrize(
    ("measured", "less", "before", "worse"),
    [(0.79, False, 1.0, True), (0.81, False, 1.0, False), (1.21, True, 1.0, True), (1.19, True, 1.0, False)],
)
def test_a_ratio_is_worse_by_a_fifth(measured, less, before, worse):
    outcome = {
        "benchmark": "b",
        "ratios": {"r": measured},
        "floors": {"r": [measured, 1.0]},
        "less_is_better": ["r"] if less else [],
    }
    (line,) = kept.lines_of(outcome, {"ratios": {"r": before}})
    assert line.worse is worse
    assert line.missed is (measured > 1 if less else measured < 1)
    assert kept.lines_of(outcome, {})[0].worse is False


def test_results_are_put_beside_those_of_other_benchmarks(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "RESULTS", tmp_path)
    kept.keep("quick", {"a": {"ratios": {"x": 1}}})
    kept.keep("quick", {"b": {"ratios": {}}})
    kept.keep("full", {"a": {"ratios": {"x": 2}}})
    _, results = kept.read_results()
    assert results == {
        "quick": {"a": {"ratios": {"x": 1}}, "b": {"ratios": {}}},
        "full": {"a": {"ratios": {"x": 2}}},
    }


def test_an_unknown_benchmark_is_refused():
    run = subprocess.run([sys.executable, BENCHMARKS / "run.py", "lineag"], capture_output=True, text=True)
    assert run.returncode == 2
    assert "there is no benchmark lineag" in run.stderr


def test_a_benchmark_that_fails_stops_no_other(tmp_path):
    """The runner itself, on two benchmarks made for it: one dies, the other misses its floor."""
    for name in ("run.py", "_kept.py", "_report.py"):
        (tmp_path / name).write_text((BENCHMARKS / name).read_text())
    (tmp_path / "dies.py").write_text("raise SystemExit('no peer')")
    (tmp_path / "misses.py").write_text(
        "from _report import Report\n"
        "report = Report('misses', ratios={'peer / ours': 0.5})\n"
        "report.floor('peer / ours', 0.5, 1.0)\n"
        "report.finish(('who',), [('ours',)])\n"
    )
    run = subprocess.run([sys.executable, tmp_path / "run.py", "--keep"], capture_output=True, text=True)
    assert run.returncode == 2
    assert "no peer" in run.stdout
    assert "dies: ended with 1 and no result" in run.stdout
    assert "misses     peer / ours  0.5" in run.stdout
    assert "misses its floor" in run.stdout
    again = subprocess.run([sys.executable, tmp_path / "run.py", "misses"], capture_output=True, text=True)
    assert again.returncode == 1
    assert "kept 0." in again.stdout
