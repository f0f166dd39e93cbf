"""What a pass of the referee keeps beside the ledger: inbox copies, mail, blocks, sessions and the cursor."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..bus.inboxes import Inboxes
from ..bus.index import Index
from ..bus.messages import HUMAN, Message
from ..bus.rows import BlockRow, Mail, SessionRow
from ..parsers.errors import StoreError
from .book import Book, Notice
from .session import Session, dump_session


def save_news(index: Index, book: Book, version: int, cursor: Mapping[str, Any]) -> None:
    """Save what a book has learned, and the cursor behind it; inside `changing`."""
    index.add_mail(
        Mail(name, notice.message.id, notice.session, held=notice.held)
        for notice in book.notices
        for name in notice.names
    )
    for message in book.messages:
        if message.tag == "ACK" and message.re and not message.session:
            index.mark_acknowledged(message.sender, message.re, message.at)
    for name in sorted({message.sender for message in book.messages} & {*book.names}):
        index.see(name)
    index.add_blocks(_block_row(message) for message in book.messages)
    index.save(version, cursor, [_session_row(book.sessions[name]) for name in sorted(book.touched)])


def deliver(
    inboxes: Inboxes,
    notices: Iterable[Notice],
    owed: Iterable[tuple[str, str]],
    find: Callable[[str], Message | None],
) -> tuple[list[tuple[str, str]], list[StoreError]]:
    """Bring each notice to its inboxes, after what is `owed` to them since they could not be written to.

    Gives what is owed now, as (agent, block id), and the faults. A broken inbox file loses nothing: the mail
    is in the index, and its copy is written as soon as the file is mended.
    """
    by_agent: dict[str, list[Message]] = {}
    debts: dict[str, list[str]] = {}
    for name, block_id in owed:
        debts.setdefault(name, []).append(block_id)
    for notice in notices:
        for name in notice.names:
            by_agent.setdefault(name, []).append(notice.message)
    left, faults = [], []
    for name, messages in by_agent.items():
        late = [message for block_id in debts.pop(name, ()) if (message := find(block_id)) is not None]
        try:
            inboxes.deliver(name, [*late, *messages])
        except StoreError as error:
            faults.append(error)
            left += [(name, message.id) for message in (*late, *messages)]
    left += [(name, block_id) for name, ids in debts.items() for block_id in ids]
    return left, faults


def count_as_read(index: Index, names: Iterable[str], sessions: Iterable[Session]) -> None:
    """After a loss of all receipts, leave only the current turn of each open session unread."""
    keep: set[tuple[str, str]] = set()
    for session in sessions:
        for name in session.waiting_for:
            ids = [mail.id for mail in index.unread(name) if mail.session == session.name]
            keep.update((name, block_id) for block_id in ids[-1:])
    for name in (*names, HUMAN):
        index.mark_read(name, [mail.id for mail in index.unread(name) if (name, mail.id) not in keep])


def _block_row(message: Message) -> BlockRow:
    author = message.sender or "?" if message.origin == "hand" else ""
    return BlockRow(message.id, message.start, message.end - message.start, author)


def _session_row(session: Session) -> SessionRow:
    return SessionRow(session.name, session.n, not session.closed, dump_session(session))
