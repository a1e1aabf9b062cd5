"""The wrong clock: importing this shifts the time of day of a process by `SOAK_CLOCK` seconds.

libfaketime would do it for any process, but makes timed waits of Python fail or never end; monotonic time must stay
true. Imported first, this is what `from time import time` finds, too.
"""

import os
import time

_SHIFT = int(os.environ.get("SOAK_CLOCK", "0"))
_true, _true_ns = time.time, time.time_ns

if _SHIFT:
    time.time = lambda: _true() + _SHIFT
    time.time_ns = lambda: _true_ns() + _SHIFT * 1_000_000_000
is_set = True
