"""A terminal of 80 columns for commands that run in this process."""

import os
import pty
import re
import sys
import threading

from headwater.cli.main import run

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def screen(words):
    """What a command writes to a terminal that is its stdout and stderr."""
    ours, theirs = pty.openpty()
    shown = []

    def read():
        try:
            while part := os.read(ours, 65536):
                shown.append(part)
        except OSError:  # the terminal is closed
            pass

    reader = threading.Thread(target=read)
    reader.start()
    before = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = os.fdopen(theirs, "w", encoding="utf-8")
    try:
        run(words)
    finally:
        sys.stdout.close()
        sys.stdout, sys.stderr = before
    reader.join()
    os.close(ours)
    return b"".join(shown).decode().replace("\r\n", "\n")
