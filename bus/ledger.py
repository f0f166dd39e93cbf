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
from ..parsers.frames import Frame, scan
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
        except FileNotFoundError as error:
            then = "put it back (`git log moot` has copies), or begin a new one with `moot init`"
            raise StoreError("the ledger is missing", where=str(self.path), then=then) from error
        except OSError as error:
            raise store_error(error, self.path, "read") from error
        self._refuse_strange(found)
        return Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)

    def read(self, start: int = 0, stop: int | None = None) -> bytes:
        """Read the bytes from `start` to `stop`, or to the end of the file.

        Raises StoreError where it is missing or no ordinary file.
        """
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                found = os.fstat(fd)
                self._refuse_strange(found)
                return _read_all(fd, start, (found.st_size if stop is None else stop) - start)
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

        `expected_size` is the size that the caller decided on. Raises Moved where the data is not in the file
        that the path names, or does not count there; StoreError where the disk refuses, with what was written
        left as a torn tail.
        """
        try:
            self._open()
            start = self._write(data)
            size = os.fstat(self._fd).st_size
        except OSError as error:
            raise store_error(error, self.path, "append to") from error
        if not self._is_in_place():
            start = self._find(data)
        elif size == expected_size + len(data) and start == expected_size:
            return start
        elif self.read(start, start + len(data)) != data:  # truncated, or written over, since
            raise Moved
        if start > expected_size and _names_same(self.read(expected_size, start), data):
            raise Moved
        return start

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
            if self._is_in_place():
                return
            self.close()
        self.stamp()  # first: a device may act on being opened
        flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        self._fd = os.open(self.path, flags)
        self._refuse_strange(os.fstat(self._fd))

    def _write(self, data: bytes) -> int:
        """Write at the end, and give the offset; Moved where somebody wrote between two parts of a write.

        Then the rest is left out: a block with a piece of another in it would look like one that was edited.
        """
        left = memoryview(data)
        left = left[os.write(self._fd, left) :]
        while left:
            if os.lseek(self._fd, 0, os.SEEK_CUR) != os.fstat(self._fd).st_size:
                raise Moved
            left = left[os.write(self._fd, left) :]
        return os.lseek(self._fd, 0, os.SEEK_CUR) - len(data)

    def _find(self, data: bytes) -> int:
        """Find what we wrote in the file that stands in the place of ours: its writer may have copied it."""
        try:
            self._open()
        except OSError as error:
            raise store_error(error, self.path, "append to") from error
        start = self.read().rfind(data)
        if start < 0:
            raise Moved
        return start

    def _is_in_place(self) -> bool:
        try:
            ours = os.fstat(self._fd)
        except OSError as error:
            raise store_error(error, self.path, "look at") from error
        there = self.stamp()
        return (ours.st_dev, ours.st_ino) == (there.device, there.inode)

    def _refuse_strange(self, found: os.stat_result) -> None:
        if not stat.S_ISREG(found.st_mode):
            raise StoreError("the ledger is no ordinary file", where=str(self.path), then="move it away")


def _names_same(between: bytes, data: bytes) -> bool:
    """Tell whether a frame stands before ours that names the same frame: then ours is not the next link."""
    ours = next((piece for piece in scan(data) if isinstance(piece, Frame)), None)
    return ours is not None and any(
        isinstance(piece, Frame) and not piece.edited and piece.fact("prev") == ours.fact("prev")
        for piece in scan(between)
    )


def _read_all(fd: int, start: int, size: int) -> bytes:
    parts = []
    while size > 0 and (part := os.pread(fd, size, start)):
        parts.append(part)
        start += len(part)
        size -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
