"""What there is for an agent now: its oldest unread mail, and what the rules let it do next."""

import time
from collections.abc import Iterator
from typing import NamedTuple

from ..bus.messages import Message
from ..bus.watcher import Watcher
from .facts import posted
from .presence import marked
from .protocols.events import Move
from .reader import REST_S, Reader
from .referee import Referee
from .session import Session, load_session

LOOKED_AT = 50  # of unread messages, to tell which one is the last of its session


class Shown(NamedTuple):
    """A text that an agent reads under a label, without its author's name; `names_author` where it says it itself."""

    label: str
    text: str
    names_author: bool


class Delivery(NamedTuple):
    """What an agent is given: a message (None where only its turn is due again), its session, its moves.

    `again` says that the message was read before: an agent that was restarted sees its turn once more. `copies`
    are the texts that its turn is about, where it reads those blind.
    """

    message: Message | None
    session: Session | None
    moves: tuple[Move, ...]
    unread: int
    again: bool = False
    copies: tuple[Shown, ...] = ()


class Letter(NamedTuple):
    """A message in an agent's inbox, as that agent reads it, and how far it has come with it."""

    message: Message
    state: str  # notified, read or acknowledged


def mail_for(referee: Referee, name: str, *, everything: bool = False) -> list[Letter]:
    """Give an agent's unread mail, oldest first; with `everything` what was read before, too."""
    referee.rule()
    letters = []
    for mail in referee.index.mail(name) if everything else referee.index.unread(name):
        message = referee.message(mail.id)
        if message is not None:
            message = referee.unsealed(message)._replace(session=message.session or mail.session)
            state = "acknowledged" if mail.acknowledged_at else "read" if mail.read_at else "notified"
            letters.append(Letter(message, state))
    return letters


def deliveries(referee: Referee, name: str, most: int) -> Iterator[Delivery]:
    """Give an agent's unread mail, oldest first, `most` messages of it, each with what the agent may do after it.

    Mail whose text is gone from the ledger is marked as read: there is nothing to read.
    """
    unread = referee.index.unread(name, most)
    for n, mail in enumerate(unread):
        message = referee.message(mail.id)
        if message is None:
            with referee.index.changing():
                referee.index.mark_read(name, [mail.id])
            continue
        session = _session(referee, mail.session)
        last = all(other.session != mail.session for other in unread[n + 1 :])
        moves = _moves(session, name) if last else ()  # nobody moves before having read what was said
        message = referee.unsealed(message)._replace(session=message.session or mail.session)
        copies = copies_for(referee, session, name, moves)
        yield Delivery(message, session, moves, len(unread) - n, copies=copies)


def next_for(referee: Referee, name: str, *, fresh: bool = False) -> Delivery | None:
    """Give the oldest unread thing for an agent, else (unless `fresh`) a turn that is still its own, else None."""
    if (delivery := next(deliveries(referee, name, LOOKED_AT), None)) is not None or fresh:
        return delivery
    for session in referee.book.playing(name):
        if name in session.waiting_for:
            old = [mail.id for mail in referee.index.mail(name) if mail.session == session.opening.session]
            message = referee.message(old[-1]) if old else None
            moves = _moves(session, name)
            copies = copies_for(referee, session, name, moves)
            return Delivery(message, session, moves, 0, again=True, copies=copies)
    return None


def wait_for(
    referee: Referee,
    name: str,
    timeout_s: float | None,
    watcher: Watcher | None = None,
    *,
    fresh: bool = False,
) -> Delivery | None:
    """Block until there is something for an agent; None when the time is up.

    Each time the ledger changes, one pass of the referee is made if nobody else does, so that two agents
    which only send and wait get to the end of a session. Whoever gives the `watcher` ends the wait early by
    closing it, from any thread: None too. `fresh` waits for unread mail alone.
    """
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    referee.rule()
    if (delivery := next_for(referee, name, fresh=fresh)) is not None:
        return delivery
    with marked(referee.index, name, "wait"), watcher or Watcher(referee.workspace.ledger) as watcher:
        while not watcher.is_closed:
            referee.rule()  # what came between the first look and the watch
            if (delivery := next_for(referee, name, fresh=fresh)) is not None:
                return delivery
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return None
            watcher.wait(_patience(referee, left))
    return None


def _patience(referee: Referee, left: float | None) -> float | None:
    """Give how long nothing has to be looked at, in seconds: until the time is up, hands rest, a turn is due."""
    limits = [left] if left is not None else []
    if referee.has_unruled:
        limits.append(REST_S)
    due_ms = referee.next_due_ms()
    if due_ms is not None:
        limits.append(max(0.0, due_ms / 1000 - time.time()) + 0.05)
    return min(limits, default=None)


def mark_read(referee: Reader, name: str, *block_ids: str) -> None:
    """Note that an agent has read blocks; call it after the text was printed and flushed."""
    with referee.index.changing():
        referee.index.mark_read(name, block_ids)
        referee.index.see_reading(name)


def _session(referee: Referee, name: str) -> Session | None:
    if name in referee.book.sessions:
        return referee.book.sessions[name]
    row = referee.index.session(name) if name else None
    return load_session(row.data) if row is not None else None


def copies_for(
    referee: Reader, session: Session | None, name: str, moves: tuple[Move, ...]
) -> tuple[Shown, ...]:
    """Give what an agent that may move reads blind: nothing in most protocols."""
    if session is None or not moves:
        return ()
    rules = session.rules
    seals = {seal.sealed: seal for seal in rules.seals(session.opening, session.state)}
    pinned = next((seal.sealed for seal in seals.values() if seal.tag == "SEED"), "")
    seed = referee.seals.get(pinned) if pinned else None
    shown = []
    for copy in rules.copies(session.opening, session.state, name, seed.text if seed else ""):
        opened = referee.seals.get(copy.sealed) if copy.sealed else None
        message = referee.message(copy.block)
        if message is not None and (opened is not None or not copy.sealed):
            whole = message._replace(body=opened.text if opened is not None else message.body)
            shown.append(Shown(copy.label, whole.body.strip("\n"), posted(whole, 0).names_author))
    return tuple(shown)


def _moves(session: Session | None, name: str) -> tuple[Move, ...]:
    if session is None or session.closed:
        return ()
    return session.rules.moves(session.opening, session.state, name)
