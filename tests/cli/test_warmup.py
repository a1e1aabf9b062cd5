import json
import os
import subprocess
import sys
from pathlib import Path

HIDE_JAVA = (
    "import sys, headwater.spark.java as j; j._USUAL_PLACES = (); j.find_spec = lambda name: None;"
    "from headwater.cli.main import run; sys.exit(run(sys.argv[1:]))"
)


def headwater(*words, code="import sys; from headwater.cli.main import run; sys.exit(run(sys.argv[1:]))", **env):
    words = [sys.executable, "-c", code, *words]
    return subprocess.run(words, env=os.environ | env, capture_output=True, text=True)


def test_what_is_ready_is_found_again():
    """`make setup` has made both."""
    first, again = (json.loads(headwater("warmup", "--json").stdout) for _ in range(2))
    assert Path(first["zetasql"]).suffix == ".cwasm"
    assert Path(first["spark"]).suffix == ".jsa"
    assert {name: again[name] for name in ("zetasql", "spark")} == {
        name: first[name] for name in ("zetasql", "spark")
    }
    assert "spark" not in json.loads(headwater("warmup", "zetasql", "--json").stdout)


def test_without_java_only_the_archive_is_missing(tmp_path):
    done = headwater("warmup", "spark", code=HIDE_JAVA, PATH=str(tmp_path), JAVA_HOME="")
    assert done.returncode == 0
    assert "Spark starts as slowly as before: Spark needs Java" in done.stderr
    assert "Traceback" not in done.stderr


def test_another_word_is_refused():
    done = headwater("warmup", "sparc")
    assert done.returncode == 2
    assert "error[usage]" in done.stderr
