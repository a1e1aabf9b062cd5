"""A Spark master and workers on this machine, from the PySpark that is installed.

    python tests/spark/standalone.py          # start, print the URL of the master, stop at the end of the input

Workers have addresses of their own (127.0.0.1, 127.0.0.2, …): Spark never runs two attempts of a task on one host.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyspark

from headwater.spark.environment import spark_environment

HOME = Path(pyspark.__file__).parent
_WAIT = 60


class Cluster:
    """A master and its workers; stopped when the block ends."""

    def __init__(self, folder, workers=2, cores=1, memory="1g"):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.shape = workers, cores, memory
        self.processes = []
        self.url = ""

    def __enter__(self):
        workers, cores, memory = self.shape
        try:
            self._start("master", "deploy.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
            self.url = self._wait("master", r"(spark://127\.0\.0\.1:\d+)")
            for each in range(1, workers + 1):
                options = [
                    "--host",
                    f"127.0.0.{each}",
                    "--cores",
                    str(cores),
                    "--memory",
                    memory,
                    "--webui-port",
                    "0",
                ]
                options += ["--work-dir", str(self.folder / f"work-{each}")]
                self._start(f"worker-{each}", "deploy.worker.Worker", *options, self.url)
            for each in range(1, workers + 1):
                self._wait(f"worker-{each}", r"(Successfully registered with master)")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(10)

    def executors(self):
        """The process ids of the executors that run now."""
        found = []
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                text = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if "CoarseGrainedExecutorBackend" in text and str(self.folder) in self._folder_of(entry.parent):
                found.append(int(entry.parent.name))
        return found

    @staticmethod
    def _folder_of(process):
        try:
            return os.readlink(process / "cwd")
        except OSError:
            return ""

    def _start(self, name, main, *arguments):
        log = (self.folder / f"{name}.log").open("wb")
        env = os.environ | spark_environment() | {"SPARK_HOME": str(HOME), "SPARK_NO_DAEMONIZE": "1"}
        command = [str(HOME / "bin" / "spark-class"), f"org.apache.spark.{main}", *arguments]
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=env, start_new_session=True)
        log.close()
        self.processes.append(process)

    def _wait(self, name, pattern):
        end = time.monotonic() + _WAIT
        while time.monotonic() < end:
            match = re.search(pattern, (self.folder / f"{name}.log").read_text(errors="replace"))
            if match:
                return match[1]
            time.sleep(0.2)
        raise TimeoutError(
            f"{name} did not start: {(self.folder / f'{name}.log').read_text(errors='replace')[-2000:]}"
        )


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as here, Cluster(here) as cluster:
        print(cluster.url, flush=True)
        sys.stdin.read()
