"""Frames that are written together: each names the hash of the one before, all go to disk in one write."""

from typing import NamedTuple

from ..parsers.frames import TORN, Frame, escape, gap_hash, render, scan
from ..parsers.tokens import unclosed
from .chain import Link, Linked, Tail
from .index import stamp_of

PREVIOUS = "previous"  # stands for the id of the draft before, which nobody knows before it is written


class Draft(NamedTuple):
    """A block that is to be written: the header line without its number signs, and the body.

    `secret` is the text that the body holds sealed: the rules are asked about it, and nobody else sees it.
    """

    sender: str
    header: str
    body: str
    to: tuple[str, ...] = ()
    session: str = ""
    re: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    secret: str = ""


class Batch:
    """Frames in the making, behind a head and a tail of a ledger of `size` bytes."""

    def __init__(self, head: Link | None, tail: Tail, size: int) -> None:
        """Begin behind what stands there."""
        self.head = head
        self.tail = tail
        self.size = size
        self.data = bytearray()

    def add(self, draft: Draft, block_id: str, now_ms: int) -> Linked:
        """Render one frame behind the others."""
        self.close_torn()
        self.data += _separator(self.tail.raw[-2:], at_start=self.size == 0 and not self.data)
        closer = unclosed(draft.body)
        facts = {
            "id": block_id,
            "at": stamp_of(now_ms),
            "from": draft.sender,
            "to": ",".join(draft.to),
            "in": draft.session,
            "re": draft.re,
            "prev": self.head.hash if self.head else "",
            "gap": gap_hash(self.tail.raw),
            **dict(draft.facts),
        }
        content = f"### {draft.header}".encode()
        if draft.body:
            content += b"\n\n" + escape(draft.body.encode("utf-8", "replace"))
        raw = render(facts, content, closer.encode())
        start = self.size + len(self.data)
        self.data += raw + b"\n"
        frame = next(piece for piece in scan(raw, start) if isinstance(piece, Frame))
        linked = Linked(frame, self.tail.loose, facts["gap"])
        self.head = Link(frame.id, frame.hash, frame.start, frame.end)
        self.tail = Tail(frame.end, (), b"\n", torn=False)
        return linked

    def close_torn(self) -> None:
        """End what a writer that died has left, so that what stands below it is read."""
        if self.tail.torn:
            marker = (b"" if self.tail.raw.endswith(b"\n") else b"\n") + TORN + b"\n"
            self.data += marker
            self.tail = self.tail._replace(raw=self.tail.raw + marker, torn=False)


def _separator(before: bytes, *, at_start: bool) -> bytes:
    """Give what makes a blank line between what stands there and a marker."""
    if at_start or before.endswith(b"\n\n"):
        return b""
    return b"\n" if before.endswith(b"\n") else b"\n\n"
