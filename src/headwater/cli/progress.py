"""Progress of long work: on a terminal, on stderr, and only after half a second."""

import sys
import time
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager

from headwater.cli.options import Flags

_PATIENCE = 0.5  # seconds before anything is shown


@contextmanager
def progress_over(items: Sized, title: str, flags: Flags) -> Iterator[Callable[[str], None]]:
    """A function to call with the name of each item as it begins; it draws a bar if somebody can see it."""
    if not flags.show_progress:
        yield lambda name: None
        return
    from rich.console import Console
    from rich.progress import Progress

    begun = time.monotonic()
    bar = Progress(console=Console(stderr=True, no_color=not flags.use_color(sys.stderr)), transient=True)
    task = bar.add_task(title, total=len(items), start=True)
    done = 0

    def step(name: str) -> None:
        nonlocal done
        if time.monotonic() - begun > _PATIENCE and not bar.live.is_started:
            bar.start()
        bar.update(task, completed=done, description=f"{title} {name}"[-60:])
        done += 1

    try:
        yield step
    finally:
        bar.stop()
