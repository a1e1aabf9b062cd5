"""What is kept of benchmarks, what a run ends with, and what is measured. How fast anything is, is not asked here."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

import headwater

ROOT = Path(__file__).parent.parent
BENCHMARKS = ROOT / "benchmarks"


def load(name, file):
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


kept = load("kept_results", BENCHMARKS / "_kept.py")


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


@pytest.fixture
def run(tmp_path):
    """The runner itself, on benchmarks made for it: each misses its floor, says what it is told to, and ends so."""
    for name in ("run.py", "_kept.py", "_report.py"):
        (tmp_path / name).write_text((BENCHMARKS / name).read_text())

    def run(*words, **benchmarks):
        for name, code in benchmarks.items():
            (tmp_path / f"{name}.py").write_text(code)
        command = [sys.executable, tmp_path / "run.py", *words]
        return subprocess.run(command, capture_output=True, text=True)

    return run


MEASURES = """
from _report import Report
report = Report("NAME", ratios={"peer / ours": RATIO})
report.floor("peer / ours", RATIO, 1.0)
report.finish(("who",), [("ours",)])
"""


def measures(name, ratio):
    return MEASURES.replace("NAME", name).replace("RATIO", str(ratio))


def test_a_benchmark_that_fails_stops_no_other(run):
    """One dies, the other misses its floor."""
    done = run("--keep", dies="raise SystemExit('no peer')", misses=measures("misses", 0.5))
    assert done.returncode == 2
    assert "no peer" in done.stdout
    assert "dies: ended with 1 and no result" in done.stdout
    assert "misses     peer / ours  0.5" in done.stdout
    assert "misses its floor" in done.stdout
    again = run("misses")
    assert again.returncode == 1
    assert "kept 0." in again.stdout


def test_a_ratio_that_is_worse_is_said_and_no_failure(run):
    assert run("--keep", meets=measures("meets", 2.0)).returncode == 0
    worse = run(meets=measures("meets", 1.2))
    assert worse.returncode == 0
    assert worse.stdout.splitlines()[-2].split()[-1] == "worse"


@pytest.mark.parametrize(
    "code",
    [
        "print('5')",
        "print('{}')",
        "",
        "import atexit, os\natexit.register(os._exit, 3)" + measures("odd", 2.0),  # dies after its result
        "import atexit, os\natexit.register(os._exit, 1)" + measures("odd", 2.0),
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
        "raise ImportError('no peer')",
        "(",
    ],
)
def test_only_a_missed_floor_ends_with_1(run, code):
    done = run(odd=code, misses=measures("misses", 0.5))
    assert done.returncode == 2, done.stdout
    assert "odd: ended with" in done.stdout
    assert "misses its floor" in done.stdout


def test_a_runner_that_fails_does_not_end_with_1(run, tmp_path):
    (tmp_path / "results").write_text("a file where the folder of results belongs")
    done = run("--keep", meets=measures("meets", 2.0))
    assert done.returncode == 2
    assert "FileExistsError" in done.stderr


@pytest.fixture
def lake(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return load("lake_benchmark", BENCHMARKS / "lake.py")


@pytest.mark.slow
def test_what_is_said_of_tables_is_measured_on_tables(lake, tmp_path):
    """The rows of the README are those of `Table`; those of the tree below it are called the engine's."""
    rows = lake.make_rows(1_000)
    found = {store.name: lake.measure(store, rows, lake.make_update(rows), passes=1) for store in lake.STORES[:3]}
    assert list(found) == ["headwater", "headwater's engine", "parquet"]
    names = set(lake.ratios(found))
    assert "write: parquet / table" in names
    store = lake.Headwater(tmp_path / "store")
    store.write(rows)
    assert isinstance(store.table, headwater.Table)

    shown = load("performance_page", ROOT / "docs" / "performance.py").IN_SHORT
    rows_of_lake = [(ratio, work) for benchmark, ratio, work, _ in shown if benchmark == "lake"]
    assert len(rows_of_lake) > 4
    for ratio, work in rows_of_lake:
        verb, peer, ours = ratio.replace(":", " /").split(" / ")
        assert verb in lake.VERBS
        assert peer in {store.name for store in lake.STORES}
        assert ours in lake.OURS
        assert ("engine" in work) == (ours == "engine")


def test_kept_ratios_have_the_names_of_today(lake):
    """The page and the README find what was kept."""
    for release in BENCHMARKS.glob("results/*.json"):
        for mode in json.loads(release.read_text()).values():
            for ratio in mode.get("lake", {}).get("ratios", ()):
                assert ratio.rpartition(" / ")[2] in lake.OURS, ratio


def test_a_folder_of_scripts_is_measured(tmp_path):
    """Scripts and the test files of DuckDB and ZetaSQL are read; what fails is counted, and floors are met or not."""
    (tmp_path / "a.sql").write_text("INSERT INTO d SELECT a FROM t;\nSELECT a FROM t WHERE ((;")
    (tmp_path / "b.test").write_text(
        "statement ok\nCREATE TABLE t AS SELECT 1 AS a\n\nquery I\nSELECT a FROM t\n----\n1\n"
    )
    (tmp_path / "c.test").write_text(
        "select 1 as a\n--\nQueryStmt\n==\nselect nothing\n--\nERROR: Unrecognized\n==\n"
    )
    command = [sys.executable, BENCHMARKS / "corpora.py", tmp_path, "--dialect", "duckdb"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout.splitlines()[-1])
    headers, row = outcome["table"]
    measured = dict(zip(headers, row))
    assert (measured["statements"], measured["error"], measured["tables lost"]) == (5, "20.0%", 0)
    assert outcome["floors_met"] is True
