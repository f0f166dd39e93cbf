"""Ctrl-C and SIGTERM, for what starts other programs: first those are ended, then the work is left."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def interruptible(stop: Callable[[], None]) -> Iterator[None]:
    """Within the block both signals call `stop`, and raise KeyboardInterrupt in the main thread.

    `stop` comes first: where the interpreter happens to run a callback that swallows exceptions, what was raised is
    lost, and nothing but what `stop` noted ends the work.
    """

    def interrupt(*_: object) -> None:
        stop()
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
