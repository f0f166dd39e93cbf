"""The whole ledger, read anew: for `log`, `replay`, `verify`, and for whoever doubts the index."""

from typing import NamedTuple

from ..bus.chain import Linked, Tail, trace
from ..bus.messages import Message
from ..parsers.errors import NotFound
from ..parsers.frames import Frame, scan
from ..parsers.names import did_you_mean, shown
from .book import Book, Ruling
from .reader import Reader


class Reading(NamedTuple):
    """A ledger folded from its first byte: the chain, what is off it, and the book."""

    linked: list[Linked]
    tail: Tail
    quoted: list[Frame]
    book: Book
    known: list[str]


def read_whole(reader: Reader) -> Reading:
    """Fold the ledger, trusting nothing that was kept beside it but the ids of its blocks."""
    version, cursor = reader.index.cursor()
    head, head_hash = cursor["head"][:2] if version else ("", "")
    data = reader.ledger.read()
    linked, tail, quoted = trace(scan(data), data, head, head_hash)
    book = Book(reader.settings.names, reader.settings.limits.max_chain)
    for one in linked:
        book.take(one)
    book.take_tail(tail)
    return Reading(linked, tail, quoted, book, reader.index.frame_ids())


def entries(reading: Reading) -> list[tuple[Message, Ruling | None, tuple[str, ...]]]:
    """Give all blocks in their order, each with the ruling that answers it and what there is to say of it."""
    book = reading.book
    answers = {ruling.block: ruling for ruling in book.rulings if ruling.block}
    void = {message.id for message in book.void}
    broken = {one.frame.id for one in reading.linked if one.broken}
    listed = []
    for message in book.messages:
        flags = [
            flag
            for flag, holds in (
                ("edited", message.edited),
                ("unproven", message.origin == "hand"),
                ("void", message.id in void),
                ("after-a-gap", message.id in broken),
            )
            if holds
        ]
        listed.append((message, answers.get(message.id), tuple(flags)))
    listed += [(item.message, None, ("unproven", "unruled")) for item in book.unruled_hands()]
    return listed


def selected(
    reading: Reading, session: str | None, last: int | None
) -> list[tuple[int, Message, Ruling | None, tuple[str, ...]]]:
    """Give the last blocks (all without `last`), numbered, of one session or of all; NotFound for a strange one."""
    listed = [(n, *entry) for n, entry in enumerate(entries(reading), 1)]
    if session:
        check_session(reading, session)
        listed = [one for one in listed if session in (one[1].session, one[2].session if one[2] else "")]
    return listed[-(last or len(listed)) :]


def check_session(reading: Reading, name: str) -> None:
    """Raise NotFound where the ledger holds no session of that name."""
    known = [session.opening.session for session in reading.book.sessions.values()]
    if name not in known:
        raise NotFound(f"no session {shown(name)}", then=did_you_mean(name, known))
