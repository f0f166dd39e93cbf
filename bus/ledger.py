"""The ledger on disk: read from an offset, append under one lock, make durable.

`comms.md` is an ordinary file that editors and agents may also write, without our lock. So nothing here
trusts its own memory of the file: each append looks at what stands at the end first, and afterwards
checks that the path still names the file that was written.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ..parsers.errors import StoreError
from ..workspace.files import store_error
from .locks import Lock

LOCK_TIMEOUT_S = 10.0  # a holder needs under a millisecond; ten seconds mean that it is stopped


class Stamp(NamedTuple):
    """What a file system says of a file: enough to tell that it has changed."""

    device: int
    inode: int
    size: int
    modified_ns: int


class Moved(Exception):
    """The path named another file, or a frame of another writer stood first: look again and retry."""


class Ledger:
    """The file `comms.md` and its lock."""

    def __init__(self, path: Path, lock: Lock, *, lock_timeout_s: float = LOCK_TIMEOUT_S) -> None:
        """Name the file and its lock; nothing is opened yet."""
        self.path = path
        self._lock = lock
        self._lock_timeout_s = lock_timeout_s
        self._fd = -1

    def stamp(self) -> Stamp:
        """Stat the file. Raises StoreError where it is missing or no ordinary file."""
        try:
            found = os.stat(self.path, follow_symlinks=False)
        except OSError as error:
            raise store_error(error, self.path, "read") from error
        if not stat.S_ISREG(found.st_mode):
            raise StoreError("the ledger is no ordinary file", where=str(self.path), then="move it away")
        return Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)

    def read(self, start: int = 0, stop: int | None = None) -> bytes:
        """Read the bytes from `start` to `stop`, or to the end of the file."""
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                size = os.fstat(fd).st_size if stop is None else stop
                return _read_all(fd, start, size - start)
            finally:
                os.close(fd)
        except OSError as error:
            raise store_error(error, self.path, "read") from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the ledger's lock. Raises StoreError after the lock time-out."""
        with self._lock.held(self._lock_timeout_s):
            yield

    def append(self, data: bytes, expected_size: int) -> int:
        """Write `data` at the end in one call, and give the offset where it stands; the lock must be held.

        `expected_size` is the size that the caller decided on. Raises Moved where the path names another
        file afterwards; StoreError where the disk refuses, with what was written left as a torn tail.
        """
        try:
            self._open()
            written = os.write(self._fd, data)
            while written < len(data):
                written += os.write(self._fd, data[written:])
            ours = os.fstat(self._fd)
        except OSError as error:
            raise store_error(error, self.path, "append to") from error
        there = self.stamp()
        if (there.device, there.inode) != (ours.st_dev, ours.st_ino):
            self.close()
            raise Moved
        if ours.st_size == expected_size + len(data):
            return expected_size
        found = self.read(expected_size).find(data)  # a hand wrote at the same time, without the lock
        if found < 0:
            raise Moved
        return expected_size + found

    def sync(self) -> None:
        """Make what was appended durable; needs no lock, so that many writers share one sync."""
        if self._fd >= 0:
            try:
                os.fdatasync(self._fd)
            except OSError as error:
                raise store_error(error, self.path, "sync") from error

    def close(self) -> None:
        """Close the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _open(self) -> None:
        """Open the file for appending, anew where the path names another one by now."""
        if self._fd >= 0:
            ours, there = os.fstat(self._fd), self.stamp()
            if (ours.st_dev, ours.st_ino) == (there.device, there.inode):
                return
            self.close()
        self.stamp()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        self._fd = os.open(self.path, flags)


def _read_all(fd: int, start: int, size: int) -> bytes:
    parts = []
    while size > 0 and (part := os.pread(fd, size, start)):
        parts.append(part)
        start += len(part)
        size -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
