"""A sqlite file of our own, which others may damage, remove or replace at any time; it can be made anew."""

import contextlib
import errno
import fcntl
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..parsers.errors import StoreError
from ..workspace.files import store_error

_TIMEOUT_S = 10.0  # a change takes milliseconds; ten seconds mean that whoever makes it is stopped


class Database:
    """One file; opened at the first use. Whatever the disk refuses is a StoreError.

    `tables` is the SQL that makes them, `schema` its version. With `read_only` nothing is written, and a file
    that cannot be read is an empty one.
    """

    def __init__(self, path: Path, tables: str, schema: int, *, read_only: bool) -> None:
        """Name the file."""
        self._path = path
        self._tables = tables
        self._schema = schema
        self._read_only = read_only
        self._opened: sqlite3.Connection | None = None
        self._identity = (0, 0)

    @property
    def _db(self) -> sqlite3.Connection:
        if self._opened is None:
            self._opened = self._open_read_only() if self._read_only else self._open()
        return self._opened

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Hold the file for a change that is whole or not at all. StoreError where the disk refuses."""
        with self._transaction("immediate"):
            yield

    @contextlib.contextmanager
    def _transaction(self, kind: str) -> Iterator[None]:
        db = self._db
        try:
            db.execute(f"begin {kind}")
            try:
                yield
                db.execute("commit")
            except BaseException:
                if db.in_transaction:  # a full disk may have ended it already
                    db.execute("rollback")
                raise
        except sqlite3.Error as error:
            if db is not self._opened and self._read_only and _is_damage(error):
                return  # what was read came from the empty one in its place
            if db.in_transaction:
                self.close()
            raise self._fault(error) from error
        finally:
            if db is not self._opened:
                db.close()

    def is_gone(self) -> bool:
        """Tell whether the path names another file by now than the one that is open, or none."""
        if self._opened is None or self._read_only:
            return False
        try:
            return self._look() != self._identity
        except (OSError, StoreError):
            return True

    def close(self) -> None:
        """Close the file."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _rows(self, query: str, *values: str | int) -> list[Any]:
        try:
            return self._db.execute(query, values).fetchall()
        except sqlite3.Error as error:
            if not (self._read_only and _is_damage(error)):
                raise self._fault(error) from error
        damaged, self._opened = self._db, self._empty()
        if not damaged.in_transaction:
            damaged.close()
        return self._opened.execute(query, values).fetchall()

    def _open(self) -> sqlite3.Connection:
        try:
            self._identity = self._look()
            try:
                return self._connect()
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
            self._throw_away()
            return self._connect()
        except sqlite3.Error as error:
            raise self._fault(error) from error
        except OSError as error:
            raise store_error(error, self._path, "open") from error

    def _connect(self) -> sqlite3.Connection:
        if not self._path.exists():
            self._make()
        db = sqlite3.connect(self._path, timeout=_TIMEOUT_S, isolation_level=None, check_same_thread=False)
        try:
            _keep_a_log(db)
            db.execute("pragma synchronous = normal")
            schema = db.execute("pragma user_version").fetchone()[0]
            if not schema:
                pragma = f"pragma user_version = {self._schema}"
                db.executescript(f"begin immediate; {self._tables}; {pragma}; commit;")
            elif schema != self._schema:
                what = "the index was made by another version of moot"
                raise StoreError(what, where=str(self._path), then="use that version, or remove the file")
            self._identity = self._look()
        except BaseException:
            db.close()
            raise
        return db

    def _make(self) -> None:
        """Make the file, without what a removed one left beside it: sqlite would take that for this one's."""
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)  # one at a time, or it would be the log of another's new file
            if not self._path.exists():
                for ending in ("-wal", "-shm"):
                    Path(f"{self._path}{ending}").unlink(missing_ok=True)
                # sqlite gives its other files the mode of this one
                os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
        finally:
            os.close(folder)

    def _open_read_only(self) -> sqlite3.Connection:
        try:
            self._look()
            uri = f"{self._path.as_uri()}?mode=ro"
            db = sqlite3.connect(uri, timeout=_TIMEOUT_S, isolation_level=None, uri=True)
        except (sqlite3.Error, OSError, StoreError):  # missing, or not ours to read
            return self._empty()
        try:
            if db.execute("pragma user_version").fetchone()[0] == self._schema:
                return db
        except sqlite3.Error:  # damaged, or in a folder that we may not write to
            pass
        db.close()
        return self._empty()

    def _empty(self) -> sqlite3.Connection:
        db = sqlite3.connect(":memory:", isolation_level=None)
        db.executescript(self._tables)
        return db

    def _look(self) -> tuple[int, int]:
        """Give device and inode of the file, zeros where there is none; sqlite would follow a link."""
        try:
            found = os.lstat(self._path)
        except FileNotFoundError:
            return 0, 0
        if not stat.S_ISREG(found.st_mode):
            raise StoreError("the index is no ordinary file", where=str(self._path), then="move it away")
        return found.st_dev, found.st_ino

    def _throw_away(self) -> None:
        """Remove a damaged file, unless another process has made a new one by now."""
        try:
            fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)  # one at a time; who comes later finds that it is another file
            if self._look() == self._identity:
                for ending in ("-wal", "-shm", ""):
                    Path(f"{self._path}{ending}").unlink(missing_ok=True)
        finally:
            os.close(fd)

    def _fault(self, error: sqlite3.Error) -> StoreError:
        if not os.access(self._path.parent, os.W_OK):
            return store_error(PermissionError(errno.EACCES, ""), self._path, "write")
        what = f"cannot use the index: {error}"
        then = "check the folder's permissions and the space on the disk"
        if _is_damage(error) and not self._read_only:
            try:
                self._throw_away()
            except OSError as refused:
                return store_error(refused, self._path, "remove")
            what = f"the index was damaged ({error}), so it was thrown away"
            then = "run the command again: the ledger tells all but who has read what"
        return StoreError(what, where=str(self._path), then=then)


def _keep_a_log(db: sqlite3.Connection) -> None:
    """Turn on write-ahead logging: readers and a writer do not wait for each other."""
    deadline = time.monotonic() + _TIMEOUT_S
    while True:
        try:
            db.execute("pragma journal_mode = wal")
            return
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.002)  # of several that make the file, sqlite refuses all but one, and waits for none


def _is_damage(error: sqlite3.Error) -> bool:
    """Tell an error about what the file holds from one about the disk or the lock."""
    return _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _code(error: sqlite3.Error) -> int:
    """Give sqlite's primary code; Python's own errors have none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
