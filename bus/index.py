"""The index: what can be told from the ledger, kept so that no command reads it whole; and the receipts.

One sqlite file under `.state/`. The cursor, blocks, sessions and mail are derived and can be rebuilt; the
receipts (who has read what) cannot. Commits are not synced: a crash of the machine costs a little
rebuilding, since the ledger alone is durable.
"""

import contextlib
import errno
import json
import os
import sqlite3
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..parsers.errors import StoreError
from ..workspace.files import store_error

_SCHEMA = 1
_TABLES = """
create table if not exists cursor (only_one integer primary key check (only_one = 1), version integer, data text);
create table if not exists blocks (id text primary key, start integer, size integer, author text) without rowid;
create table if not exists sessions (id text primary key, n integer, open integer, data text) without rowid;
create index if not exists sessions_open on sessions (n) where open = 1;
create table if not exists mail (
    agent text, id text, session text, read_at text, acknowledged_at text, notified_at text,
    primary key (agent, id)
) without rowid;
create index if not exists mail_unread on mail (agent, id) where read_at is null;
"""
_MAIL = "select agent, id, session, ifnull(read_at, ''), ifnull(acknowledged_at, ''), notified_at from mail"


class Mail(NamedTuple):
    """A block on its way to an agent, with the receipts it has (empty where not yet)."""

    agent: str
    id: str
    session: str = ""
    read_at: str = ""
    acknowledged_at: str = ""
    notified_at: str = ""


class BlockRow(NamedTuple):
    """Where a block stands in the ledger; `author` is set for one by hand."""

    id: str
    start: int
    size: int
    author: str = ""


class SessionRow(NamedTuple):
    """A session: its number in the order of opening, whether it is open, its data as JSON values."""

    id: str
    n: int
    open: bool
    data: Mapping[str, Any]


class Saved(NamedTuple):
    """What was saved last: its version (0 where nothing was), the cursor, the open sessions."""

    version: int
    cursor: Mapping[str, Any]
    sessions: Sequence[SessionRow]


class Index:
    """The sqlite file; opened at the first use. Whatever the disk refuses is a StoreError."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Name the file; a `read_only` index that cannot be read is an empty one."""
        self._path = path
        self._read_only = read_only
        self._opened: sqlite3.Connection | None = None
        self._identity = (0, 0)

    @property
    def _db(self) -> sqlite3.Connection:
        if self._opened is None:
            self._opened = self._open_read_only() if self._read_only else self._open()
        return self._opened

    def _open(self) -> sqlite3.Connection:
        try:
            self._identity = self._look()
            try:
                return self._connect()
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
            self._throw_away()  # all but the receipts comes back from the ledger, so begin anew
            return self._connect()
        except sqlite3.Error as error:
            raise self._fault(error) from error
        except OSError as error:
            raise store_error(error, self._path, "open") from error

    def _open_read_only(self) -> sqlite3.Connection:
        try:
            self._look()
            uri = f"{self._path.as_uri()}?mode=ro"
            db = sqlite3.connect(uri, timeout=10, isolation_level=None, uri=True)
        except (sqlite3.Error, OSError, StoreError):
            return _empty()  # missing, or not ours to read: the ledger tells as well
        try:
            if db.execute("pragma user_version").fetchone()[0] == _SCHEMA:
                return db
        except sqlite3.Error:  # damaged, or in a folder that we may not write to
            pass
        db.close()
        return _empty()

    def _connect(self) -> sqlite3.Connection:
        with contextlib.suppress(FileExistsError):  # sqlite gives its other files the mode of this one
            os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        db = sqlite3.connect(self._path, timeout=10, isolation_level=None, check_same_thread=False)
        try:
            db.execute("pragma journal_mode = wal")
            db.execute("pragma synchronous = normal")
            if db.execute("pragma user_version").fetchone()[0] != _SCHEMA:
                db.executescript(f"begin immediate; {_TABLES} pragma user_version = {_SCHEMA}; commit;")
            self._identity = self._look()
        except BaseException:
            db.close()
            raise
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
        if self._look() == self._identity:
            for ending in ("", "-wal", "-shm"):
                Path(f"{self._path}{ending}").unlink(missing_ok=True)

    def _fault(self, error: sqlite3.Error) -> StoreError:
        if not os.access(self._path.parent, os.W_OK):
            return store_error(PermissionError(errno.EACCES, ""), self._path, "write")
        what, then = (
            f"cannot use the index: {error}",
            "check the folder's permissions and the space on the disk",
        )
        if _is_damage(error) and not self._read_only:
            try:
                self._throw_away()
            except OSError as refused:
                return store_error(refused, self._path, "remove")
            what = f"the index was damaged ({error}), so it was thrown away"
            then = "run the command again: the ledger tells all but who has read what"
        return StoreError(what, where=str(self._path), then=then)

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

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Hold the index for a change that is whole or not at all. StoreError where the disk refuses."""
        db = self._db
        try:
            db.execute("begin immediate")
            try:
                yield
                db.execute("commit")
            except BaseException:
                if db.in_transaction:  # a full disk may have ended it already
                    db.execute("rollback")
                raise
        except sqlite3.Error as error:
            raise self._fault(error) from error

    def _rows(self, query: str, *values: str | int) -> list[Any]:
        try:
            return self._db.execute(query, values).fetchall()
        except sqlite3.Error as error:
            if not (self._read_only and _is_damage(error)):
                raise self._fault(error) from error
        self.close()
        self._opened = _empty()
        return self._opened.execute(query, values).fetchall()

    def load(self) -> Saved:
        """Give the cursor and the open sessions as they were saved last, both by the same writer."""
        self._rows("begin")
        try:
            version, cursor = self.cursor()
            rows = self._rows("select id, n, open, data from sessions where open = 1 order by n")
        finally:
            if self._db.in_transaction:
                self._rows("commit")
        return Saved(version, cursor, [_session_row(row) for row in rows])

    def cursor(self) -> tuple[int, Mapping[str, Any]]:
        """Give the version and the cursor of what was saved last."""
        rows = self._rows("select version, data from cursor")
        return (rows[0][0], json.loads(rows[0][1])) if rows else (0, {})

    def save(self, version: int, cursor: Mapping[str, Any], sessions: Iterable[SessionRow]) -> None:
        """Save a cursor and the sessions that changed; inside `changing`."""
        data = json.dumps(cursor, separators=(",", ":"))
        self._db.execute("insert or replace into cursor values (1, ?, ?)", (version, data))
        rows = [(row.id, row.n, row.open, json.dumps(row.data, separators=(",", ":"))) for row in sessions]
        self._db.executemany("insert or replace into sessions values (?, ?, ?, ?)", rows)

    def add_blocks(self, blocks: Iterable[BlockRow]) -> None:
        """Note where blocks stand; inside `changing`."""
        self._db.executemany("insert or replace into blocks values (?, ?, ?, ?)", blocks)

    def add_mail(self, mail: Iterable[Mail]) -> None:
        """Note mail that was delivered, unless it is known already; inside `changing`."""
        at = now()
        rows = [(m.agent, m.id, m.session, m.read_at or None, None, m.notified_at or at) for m in mail]
        self._db.executemany("insert or ignore into mail values (?, ?, ?, ?, ?, ?)", rows)

    def has_mail(self) -> bool:
        """Tell whether any receipt is kept."""
        return bool(self._rows("select 1 from mail limit 1"))

    def block(self, block_id: str) -> BlockRow | None:
        """Give where a block stands, or None."""
        rows = self._rows("select id, start, size, author from blocks where id = ?", block_id)
        return BlockRow(*rows[0]) if rows else None

    def ids_like(self, beginning: str, limit: int = 5) -> list[str]:
        """Give ids that begin alike, for an error message."""
        query = "select id from blocks where id >= ? and id < ? order by id limit ?"
        return [row[0] for row in self._rows(query, beginning, beginning + "~", limit)]

    def count_blocks(self) -> int:
        """Give how many blocks the ledger holds, those by hand that were adopted included."""
        return int(self._rows("select count(*) from blocks")[0][0])

    def sessions(self) -> list[SessionRow]:
        """Give all sessions, closed ones too, in the order of their opening."""
        return [_session_row(row) for row in self._rows("select id, n, open, data from sessions order by n")]

    def session(self, session_id: str) -> SessionRow | None:
        """Give one session, or None."""
        rows = self._rows("select id, n, open, data from sessions where id = ?", session_id)
        return _session_row(rows[0]) if rows else None

    def unread(self, agent: str, limit: int = -1) -> list[Mail]:
        """Give an agent's unread mail, oldest first."""
        # Told so, since sqlite would rather walk through all mail of the agent, by the primary key.
        query = f"{_MAIL} indexed by mail_unread where agent = ? and read_at is null order by id limit ?"
        return [Mail(*row) for row in self._rows(query, agent, limit)]

    def mail(self, agent: str) -> list[Mail]:
        """Give all mail of an agent, oldest first."""
        return [Mail(*row) for row in self._rows(f"{_MAIL} where agent = ? order by id", agent)]

    def receipts(self, block_id: str) -> list[Mail]:
        """Give the receipts of a block, by agent."""
        return [Mail(*row) for row in self._rows(f"{_MAIL} where id = ? order by agent", block_id)]

    def mark_read(self, agent: str, ids: Iterable[str]) -> None:
        """Note that an agent has read blocks; inside `changing`."""
        at = now()
        self._db.executemany(
            "update mail set read_at = ifnull(read_at, ?) where agent = ? and id = ?",
            [(at, agent, block_id) for block_id in ids],
        )

    def mark_acknowledged(self, agent: str, block_id: str, at: str) -> None:
        """Note that an agent has acknowledged a block, and so read it; inside `changing`."""
        self._db.execute(
            "update mail set read_at = ifnull(read_at, ?), acknowledged_at = ifnull(acknowledged_at, ?)"
            " where agent = ? and id = ?",
            (at, at, agent, block_id),
        )


def _empty() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.executescript(_TABLES)
    return db


def _is_damage(error: sqlite3.Error) -> bool:
    """Tell an error about what the file holds from one about the disk or the lock."""
    primary = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _session_row(row: tuple[str, int, int, str]) -> SessionRow:
    return SessionRow(row[0], row[1], bool(row[2]), json.loads(row[3]))


def now() -> str:
    """Give the time as blocks are stamped with it: UTC, milliseconds, `2026-11-30T19:22:11.123Z`."""
    return stamp_of(time.time_ns() // 1_000_000)


def stamp_of(ms: int) -> str:
    """Write milliseconds since 1970 as a stamp."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ms // 1000)) + f".{ms % 1000:03}Z"
