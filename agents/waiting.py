"""What there is for an agent now: its oldest unread mail, and what the rules let it do next."""

import time
from typing import NamedTuple

from ..bus.messages import Message
from ..bus.watcher import Watcher
from .protocols.events import Move
from .reader import REST_S
from .referee import Referee
from .session import Session, load_session


class Delivery(NamedTuple):
    """What an agent is given: a message (None where only its turn is due again), its session, its moves.

    `again` says that the message was read before: an agent that was restarted sees its turn once more.
    """

    message: Message | None
    session: Session | None
    moves: tuple[Move, ...]
    unread: int
    again: bool = False


def next_for(referee: Referee, name: str) -> Delivery | None:
    """Give the oldest unread thing for an agent, else a turn that is still its own, else None."""
    unread = referee.index.unread(name, 50)
    for mail in unread:
        message = referee.message(mail.id)
        if message is not None:
            session = _session(referee, mail.session)
            last = all(other.session != mail.session for other in unread if other.id > mail.id)
            moves = _moves(session, name) if last else ()  # nobody moves before having read what was said
            message = referee.unsealed(message)._replace(session=message.session or mail.session)
            return Delivery(message, session, moves, len(unread))
        mark_read(referee, name, mail.id)  # its text is gone from the ledger: there is nothing to read
    for session in referee.book.playing(name):
        if name in session.waiting_for:
            old = [mail.id for mail in referee.index.mail(name) if mail.session == session.opening.session]
            message = referee.message(old[-1]) if old else None
            return Delivery(message, session, _moves(session, name), 0, again=True)
    return None


def wait_for(referee: Referee, name: str, timeout_s: float | None) -> Delivery | None:
    """Block until there is something for an agent; None when the time is up.

    Each time the ledger changes, one pass of the referee is made if nobody else does, so that two agents
    which only send and wait get to the end of a session.
    """
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    referee.rule()
    if (delivery := next_for(referee, name)) is not None:
        return delivery
    with Watcher(referee.workspace.ledger) as watcher:
        while True:
            referee.rule()  # what came between the first look and the watch
            if (delivery := next_for(referee, name)) is not None:
                return delivery
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return None
            watcher.wait(_patience(referee, left))


def _patience(referee: Referee, left: float | None) -> float | None:
    """Give how long nothing has to be looked at, in seconds: until the time is up, hands rest, a turn is due."""
    limits = [left] if left is not None else []
    if referee.has_unruled:
        limits.append(REST_S)
    due_ms = referee.book.next_due_ms()
    if due_ms is not None:
        limits.append(max(0.0, due_ms / 1000 - time.time()) + 0.05)
    return min(limits, default=None)


def mark_read(referee: Referee, name: str, block_id: str) -> None:
    """Note that an agent has read a block; call it after the text was printed and flushed."""
    with referee.index.changing():
        referee.index.mark_read(name, [block_id])


def _session(referee: Referee, name: str) -> Session | None:
    if name in referee.book.sessions:
        return referee.book.sessions[name]
    row = referee.index.session(name) if name else None
    return load_session(row.data) if row is not None else None


def _moves(session: Session | None, name: str) -> tuple[Move, ...]:
    if session is None or session.closed:
        return ()
    return session.rules.moves(session.opening, session.state, name)
