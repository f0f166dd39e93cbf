"""The reader: what the ledger says now, kept up to date at the cost of what was added."""

import time
from pathlib import Path

from ..bus.chain import Link, Linked, Tail, follow, trace
from ..bus.index import Index, stamp_of
from ..bus.ledger import Ledger, Stamp
from ..bus.locks import Lock
from ..bus.messages import Message, from_frame
from ..bus.rows import BlockRow
from ..parsers.attachment import private_hash
from ..parsers.frames import Frame, Loose, frame_hash, scan
from ..parsers.ids import time_ms
from ..workspace.files import read_regular
from ..workspace.folder import Workspace
from ..workspace.settings import Settings, read_settings
from .book import Book
from .chains import load_chain
from .hands import adopted_message
from .lease import Lease
from .seals import Seals
from .session import load_session

REST_S = 0.5  # hands may be half-way through a block until the file has rested this long


class Reader:
    """A workspace that is only read: nothing is written, the index neither."""

    def __init__(
        self, workspace: Workspace, settings: Settings | None = None, *, index: Index | None = None
    ) -> None:
        """Open a workspace; nothing is read before it is needed."""
        self.workspace = workspace
        self.settings = settings or read_settings(workspace.folder)
        self.lease = Lease(workspace.state / "lease")
        self.ledger = Ledger(workspace.ledger, Lock(workspace.state / "lock"))
        self.index = index or Index(workspace.state / "index.db", read_only=True)
        self.seals = Seals(workspace.state / "sealed")
        self.notes: list[str] = []
        self._book: Book | None = None
        self._head: Link | None = None
        self._standing = ""  # the hash of the head as its bytes stand now, which may have been edited
        self._tail = Tail(0, (), b"", torn=False)
        self._stamp: Stamp | None = None
        self._seen_at = 0.0

    @property
    def book(self) -> Book:
        """The book as of the last `refresh`."""
        if self._book is None:
            self.refresh()
        assert self._book is not None
        return self._book

    @property
    def head_id(self) -> str:
        """The id of the last block."""
        return self._head.id if self._head else ""

    def is_head_new(self, since: str) -> bool:
        """Tell whether the ledger has gone on since the block `since`."""
        return self.head_id != since

    def refresh(self) -> None:
        """Read what was added to the ledger since the last time: a change costs what it adds.

        A part of the ledger that is not as it was read (an editor wrote the file anew) is read again whole.
        """
        stamp = self.ledger.stamp()
        if self._book is not None and stamp == self._stamp:
            return
        if self._book is None and not self._load():
            self._rebuild()
            self._stamp, self._seen_at = stamp, time.monotonic()
            self._read_anew()
            return
        base = self._head.start if self._head else 0
        data = self.ledger.read(base) if base <= stamp.size else b""
        length = self._head.end - base if self._head else 0
        if self._head is not None and frame_hash(data[:length]) != self._standing:
            self._rebuild()
        else:
            behind = data[length:]
            linked, tail = follow(self._head, scan(behind, base + length), behind, base + length)
            if tail.doubtful:
                self._rebuild()
            else:
                self._tail = tail
                self._take(linked)
        self._stamp, self._seen_at = stamp, time.monotonic()

    def _load(self) -> bool:
        """Take up the book where the index left it; tell whether there was any."""
        saved = self.index.load()
        if not saved.version:
            return False
        self._book = Book(self.settings.names, self.settings.limits.max_chain)
        self._book.load(dict(saved.cursor["book"]), (load_session(row.data) for row in saved.sessions))
        self._head, self._standing = Link(*saved.cursor["head"]), saved.cursor["standing"]
        return True

    def _take(self, linked: list[Linked]) -> None:
        book = self.book
        for one in linked:
            book.take(one)
            self._head = Link(one.frame.id, one.frame.hash, one.frame.start, one.frame.end)
            self._standing = one.frame.hash
        book.take_tail(self._tail)

    def _rebuild(self) -> None:
        """Read the whole ledger. What was decided up to the known head stays decided."""
        known = self.index.load()
        data = self.ledger.read()
        before = Link(*known.cursor["head"]) if known.version else None
        known_id, known_hash = (before.id, before.hash) if before else ("", "")
        linked, self._tail, _ = trace(scan(data), data, known_id, known_hash)
        book = self._book = Book(self.settings.names, self.settings.limits.max_chain)
        passed = before is None or all(one.frame.id != before.id for one in linked)
        if before is not None and passed:
            self.notes.append("the ledger lost its last block, so all of it was read anew")
        for one in linked:
            book.take(one, decided=not passed)
            if before is not None and one.frame.id == before.id:
                waiting = book.waiting
                book.sessions = {row.id: load_session(row.data) for row in known.sessions}
                book.count = known.cursor["book"]["count"]
                book.chain = load_chain(known.cursor["book"]["chain"])
                book.waiting = waiting
                passed = True
            kept = before.hash if before is not None and one.frame.id == before.id else one.frame.hash
            self._head = Link(one.frame.id, kept, one.frame.start, one.frame.end)
            self._standing = one.frame.hash
        if not linked:
            self._head, self._standing = None, ""
        book.take_tail(self._tail)

    def _read_anew(self) -> None:
        """Do what is due after a reading without an index: for a reader, nothing."""

    def _forget(self) -> None:
        """Drop what is in memory: the next reading begins at what was saved."""
        self._book, self._head, self._stamp, self._standing = None, None, None, ""
        self._tail = Tail(0, (), b"", torn=False)

    def message(self, block_id: str) -> Message | None:
        """Find a block by its id; None where there is none."""
        for message in reversed(self.book.messages):
            if message.id == block_id:
                return message
        row = self.index.block(block_id)
        if row is None:
            return None
        return self._read_block(row)

    def unsealed(self, message: Message) -> Message:
        """Give a message as its reader sees it: a private one with its text."""
        sha256 = private_hash(message.body)
        text = read_regular(self.private_folder / sha256) if sha256 else None
        return message._replace(body=text.decode("utf-8", "replace")) if text is not None else message

    @property
    def private_folder(self) -> Path:
        """The folder of private texts."""
        return self.workspace.state / "private"

    def _read_block(self, row: BlockRow) -> Message | None:
        data = self.ledger.read(row.start, row.start + row.size)
        if not row.author:
            frames = [piece for piece in scan(data, row.start) if isinstance(piece, Frame)]
            return from_frame(frames[0]) if frames and frames[0].id == row.id else None
        return adopted_message(
            Loose(row.start, row.start + row.size, data), row.id, row.author, stamp_of(time_ms(row.id))
        )

    @property
    def rested(self) -> bool:
        """Tell whether nobody has written to the ledger for as long as hands are waited for."""
        if self._stamp is None:
            return False
        by_clock = time.time() - self._stamp.modified_ns / 1e9
        return by_clock >= REST_S or time.monotonic() - self._seen_at >= REST_S

    @property
    def has_unruled(self) -> bool:
        """Tell whether something stands there that is ruled on at the latest when it has rested.

        Not asked as "unruled and not rested": between a pass that found it restless and the question, it
        may have come to rest, and nobody would look again.
        """
        return self.book.pending(rested=True) is not None

    @property
    def has_loose_tail(self) -> bool:
        """Tell whether hands have written something that is not ruled on."""
        return self.book.has_loose_tail()

    def close(self) -> None:
        """Close all files."""
        self.lease.close()
        self.ledger.close()
        self.index.close()
