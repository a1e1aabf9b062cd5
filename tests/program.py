"""`headwater` as a program: a process of its own for each run, without the second that each would take to import.

A process that has imported what commands import waits for requests, and forks for each of them. The child has the
folder, the environment and the files of its request, and ends with its exit code. Tests of what a start costs, of
signals and of terminals start a real `python -m headwater` instead.
"""

import atexit
import functools
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from pathlib import Path

ROOT = Path(__file__).parents[1]
PRELOADED = (
    *("pyarrow.compute", "pyarrow.csv", "pyarrow.ipc", "pyarrow.json", "pyarrow.parquet", "duckdb", "rich.console"),
    *("headwater.analysis.analyze", "headwater.analysis.schemas", "headwater.demo", "headwater.files"),
    *("headwater.graph.questions", "headwater.graph.store", "headwater.lake.paimon", "headwater.lake.tools.fsck"),
    *("headwater.lineage.formats.rows", "headwater.query.session", "headwater.sql.frontend", "headwater.view.svg"),
)


def headwater(*args, cwd=None, env=None, input=None):
    """The finished run of a command, as `subprocess.run` gives it, without the settings of the tests' environment."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HEADWATER_")} | (env or {})
    words = [str(word) for word in args]
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("stdin", "stdout", "stderr")]
        files[0].write_text(input or "")
        request = {"args": words, "cwd": str(cwd or Path.cwd()), "env": clean, "files": [str(file) for file in files]}
        channel = _forker()
        channel.write(json.dumps(request) + "\n")
        channel.flush()
        code = int(channel.readline())
        out, err = (file.read_text() for file in files[1:])
    return subprocess.CompletedProcess(["headwater", *words], code, out, err)


@functools.cache
def _forker():
    ours, theirs = socket.socketpair()
    paths = os.pathsep.join(map(str, (ROOT / "src", ROOT)))  # this checkout, whichever one is installed
    environment = os.environ | {"PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.program", str(theirs.fileno())]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
    )
    theirs.close()
    channel = ours.makefile("rw")

    def close():
        channel.close()
        ours.close()
        process.wait()

    atexit.register(close)
    return channel


def serve(number):
    """Answer requests until the tests end."""
    from importlib import import_module

    import headwater.__main__  # noqa: F401

    for module in PRELOADED:
        import_module(module)
    with socket.socket(fileno=number) as connection, connection.makefile("rw") as channel:
        for line in channel:
            child = os.fork()
            if child == 0:
                _run(json.loads(line))
            _, status = os.waitpid(child, 0)
            channel.write(f"{os.waitstatus_to_exitcode(status)}\n")
            channel.flush()


def _run(request):
    """Do what `python -m headwater` does, in a process that has everything imported; does not return."""
    code = 1
    try:
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["env"])
        for number, path in enumerate(request["files"]):
            file = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(file, number)
            os.close(file)
        sys.argv = ["headwater", *request["args"]]
        from headwater.__main__ import main

        main()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 0 if left.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
