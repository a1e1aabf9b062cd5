"""A process that has imported everything and forks actors on request: `python -m tests.soak.nursery FOLDER`.

Starting Python and its libraries takes seconds, which a soak that kills all the time does not have. Commands come as
JSON lines, `{"actor": …, "seed": …}`; answers are `{"born": pid, "actor": …}` and `{"dead": pid, "status": …}`. A
nursery that runs under another clock has children that do.
"""

import ctypes
import json
import os
import random
import select
import signal
import sys
import traceback
from typing import Any

from tests.soak import clock  # isort: skip  # before anybody has taken the true one

import headwater.jobs.harvest.harvest
import headwater.query
import headwater.server.serve  # noqa: F401
from tests.soak import casting
from tests.soak.stage import Journal, Stage

assert clock.is_set


def play(stage: Stage, name: str, seed: int) -> int:
    """Be an actor until the soak is over. What comes out of it that nobody expects is a finding."""
    journal = Journal(stage.journal(casting.journal_name(stage, name)))
    try:
        casting.CAST[name].play(stage, name, journal, random.Random(seed))
    except SystemExit as end:
        return int(end.code or 0)
    except BaseException:
        journal.note("crash", what=traceback.format_exc()[-3000:])
        return 1
    return 0


def birth(order: dict[str, Any], folder: str) -> int:
    pid = os.fork()
    if pid:
        return pid
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # end with the nursery, which ends with the conductor
    signal.signal(signal.SIGINT, signal.default_int_handler)
    log = os.open(f"{folder}/logs/{order['actor']}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    status = 1
    try:
        status = play(Stage.load(folder), order["actor"], order["seed"])
    finally:
        os._exit(status)


def say(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


def main(folder: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    say(ready=os.getpid())
    buffered = b""
    while True:
        ready, _, _ = select.select([0], [], [], 0.1)
        if ready:
            data = os.read(0, 65536)
            if not data:
                return
            *lines, buffered = (buffered + data).split(b"\n")
            for line in lines:
                order = json.loads(line)
                say(born=birth(order, folder), actor=order["actor"])
        try:
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                say(dead=found[0], status=os.waitstatus_to_exitcode(found[1]))
        except ChildProcessError:
            pass


if __name__ == "__main__":
    main(sys.argv[1])
