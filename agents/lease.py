"""The lease: who is the referee. An operating-system lock, gone with the process that held it."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..bus.locks import Lock

_PATIENCE_S = 1.0  # a command holds the lease for the length of one append


class Lease:
    """One process's view of the lease."""

    def __init__(self, path: Path) -> None:
        """Name the lock's file."""
        self._lock = Lock(path)
        self.is_ours = False

    def take(self) -> bool:
        """Become the referee for as long as this process lives; tell whether that came to pass."""
        deadline = time.monotonic() + _PATIENCE_S
        while not self._lock.try_take():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.005)
        self._lock.note(f"{os.getpid()}\n")
        self.is_ours = True
        return True

    @contextmanager
    def for_one_pass(self) -> Iterator[bool]:
        """Hold the lease for a pass, if nobody else has it; gives whether we have. Under the ledger's lock only."""
        taken = not self.is_ours and self._lock.try_take()
        try:
            yield taken or self.is_ours
        finally:
            if taken:
                self._lock.give_back()

    def is_lost(self) -> bool:
        """Tell whether the lease was ours and its file was taken away: another process could hold a new one."""
        return self.is_ours and not self._lock.is_in_place()

    def is_vacant(self) -> bool:
        """Tell whether no other process is the referee."""
        return self.is_ours or not self._lock.is_held()

    def holder(self) -> str:
        """Give the process id of a running `moot up` other than this one, or nothing."""
        if self.is_vacant():
            return ""
        note = (
            self._lock.read_note()
        )  # of one that was killed it stays: then a command holds it, for one pass
        return note if note.isdecimal() and _is_alive(int(note)) else ""

    def close(self) -> None:
        """Stop being the referee."""
        if self.is_ours:
            self.is_ours = False
            self._lock.note("")
        self._lock.close()


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
