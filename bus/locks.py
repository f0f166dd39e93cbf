"""Locks between processes: the kernel's, on a file of their own; gone with the process that held them."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..parsers.errors import StoreError
from ..workspace.files import read_regular, store_error


class Lock:
    """One lock file. The file is never removed: removing one gives the lock to two."""

    def __init__(self, path: Path) -> None:
        """Name the file; it is opened at the first attempt."""
        self._path = path
        self._fd = -1

    def try_take(self) -> bool:
        """Take the lock if nobody holds it; tell whether it is ours now.

        Raises StoreError where the file cannot be opened or the system has no such lock.
        """
        from filelock import lock_descriptor

        try:
            while True:
                if self._fd < 0:
                    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
                    self._fd = os.open(self._path, flags, 0o600)
                if not lock_descriptor(self._fd, blocking=False):
                    self._reopen_if_replaced()
                    return False
                if self.is_in_place():
                    return True
                self.close()  # `git clean` took the file away: what we locked is no lock any more
        except OSError as error:
            self.close()  # it may be ours already, and nobody would give it back
            raise store_error(error, self._path, "lock") from error

    def is_held(self) -> bool:
        """Tell whether somebody holds the lock now; makes no file, and two that look do not see each other."""
        try:
            fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)  # the same lock as filelock's, only shared
                return False
            finally:
                os.close(fd)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        except OSError as error:
            raise store_error(error, self._path, "read") from error

    def give_back(self) -> None:
        """Release the lock; the file stays open for the next time."""
        from filelock import unlock_descriptor

        if self._fd >= 0:
            unlock_descriptor(self._fd)

    def close(self) -> None:
        """Close the file, and with it give up the lock if it was held."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def note(self, text: str) -> None:
        """Write who holds the lock into its file, for those who find it taken. Raises StoreError."""
        try:
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, text.encode(), 0)
        except OSError as error:
            raise store_error(error, self._path, "write") from error

    def read_note(self) -> str:
        """Read what the holder wrote, or nothing. Raises StoreError where the file is a link or a pipe."""
        return (read_regular(self._path) or b"").decode("utf-8", "replace").strip()

    @contextmanager
    def held(self, timeout_s: float) -> Iterator[None]:
        """Hold the lock for a block of code. Raises StoreError after `timeout_s` without it."""
        deadline = time.monotonic() + timeout_s
        attempt = 0
        while not self.try_take():
            if time.monotonic() > deadline:
                raise StoreError(
                    f"another process has held the ledger's lock for {timeout_s:g} s",
                    where=str(self._path),
                    then="see who does with `fuser`, and try again",
                )
            # The kernel offers no wait with a time limit. A holder needs under a millisecond, so
            # yield first, then sleep in growing steps: polling each millisecond halves the rate of
            # eight writers.
            time.sleep(0 if attempt < 8 else min(0.02, 0.0001 * 1.4 ** (attempt - 8)))
            attempt += 1
        try:
            yield
        finally:
            self.give_back()

    def is_in_place(self) -> bool:
        """Tell whether the file that is open is the one at the path."""
        try:
            there = os.stat(self._path, follow_symlinks=False)
        except FileNotFoundError:
            return False
        ours = os.fstat(self._fd)
        return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)

    def _reopen_if_replaced(self) -> None:
        if not self.is_in_place():
            self.close()
