"""Presence: who waits, runs, is silent or gone, told from the signs of life that agents leave in the index.

A sign is left by `moot wait` while it blocks, by a hook at each of its program's events, by a runner while its
command runs, and by everything that an agent writes or reads. None of it stands in the ledger: it is worth no more
than the moment.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from ..bus.index import Index
from ..bus.rows import Presence
from ..parsers.ids import stamped_ms

WORKING_MS = 600_000  # from one event of an agent at work to the next: a long tool call takes minutes


class Standing(NamedTuple):
    """How an agent stands: waiting, running, silent, gone, or unseen; and when it was last seen ("" never)."""

    state: str
    seen_at: str = ""
    pid: int = 0


@contextmanager
def marked(index: Index, name: str, doing: str) -> Iterator[None]:
    """Have an agent seen as doing something in this process, for as long as the block lasts."""
    with index.changing():
        index.see(name, doing, os.getpid())
    try:
        yield
    finally:
        with index.changing():
            index.see(name, "work")


def standing(seen: Presence | None, now_ms: int) -> Standing:
    """Tell how an agent stands by what was seen last of it."""
    if seen is None or not seen.seen_at:
        return Standing("unseen")
    if seen.doing in ("wait", "run"):
        state = {"wait": "waiting", "run": "running"}[seen.doing] if _is_alive(seen.pid) else "gone"
        return Standing(state, seen.seen_at, seen.pid)
    recent = now_ms - (stamped_ms(seen.seen_at) or 0) < WORKING_MS
    return Standing("running" if seen.doing != "rest" and recent else "silent", seen.seen_at)


def signs_of_work(presence: Mapping[str, Presence], now_ms: int) -> dict[str, int]:
    """Give when each agent was last seen at work, in milliseconds since 1970; now, where its command runs."""
    signs = {}
    for name, seen in presence.items():
        if seen.doing == "run" and _is_alive(seen.pid):
            signs[name] = now_ms
        elif seen.doing == "work":
            at_ms = stamped_ms(seen.seen_at) or 0
            signs[name] = at_ms if at_ms <= now_ms else 0  # a clock was ahead once: that tells nothing
    return signs


def _is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that we may not ask does."""
    try:
        os.kill(pid, 0) if pid > 0 else None
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return pid > 0
