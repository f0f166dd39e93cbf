"""Asking the rules: which session a block belongs to, and what its protocol says to it.

A block that belongs to no open session is answered as well, since silence helps nobody: each ruling here
says in one sentence what its author can do.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from ..bus.messages import EVERYBODY, HUMAN, Message
from ..parsers.headers import Header, Vocabulary
from ..parsers.names import nearest
from ..parsers.seal import Opened
from .facts import might_have_been, posted
from .protocols.events import Close, Effect, Event, Lost, Notify, Rule, Seal, Ticked, Unsealed, quoted
from .session import Session

NOTHING = Rule("", "", "")  # what the rules say where there is nothing to rule on
STANDING = ("refused", "adopted", "noted")  # verdicts that leave every session as it was


class Judgment(NamedTuple):
    """What the rules say to one event: the ruling, and the session and state that follow from it."""

    rule: Rule
    session: Session | None = None
    state: Any = None
    effects: tuple[Effect, ...] = ()

    @property
    def close(self) -> Close | None:
        """The end of the session, where this is it."""
        return next((effect for effect in self.effects if isinstance(effect, Close)), None)


class Floor(NamedTuple):
    """Who can be heard: the sessions, open or closed, and the names of the workspace's roster."""

    sessions: Mapping[str, Session]
    names: Collection[str]

    @property
    def open(self) -> list[Session]:
        """The open sessions, in the order of opening."""
        return [session for session in self.sessions.values() if not session.closed]

    @property
    def vocabulary(self) -> Vocabulary:
        """The tags and names that make a header now."""
        tags = {tag for session in self.open for tag in session.rules.TAGS}
        seated = {name for session in self.open for name in session.opening.names}
        return Vocabulary(tags, {*self.names, *seated, HUMAN})


def judge_block(floor: Floor, message: Message, at_ms: int) -> Judgment:
    """Say what the rules say to a block."""
    found = _session_of(floor, message)
    if isinstance(found, Session):
        return _step(found, posted(message, at_ms))
    told = Notify(recipients(floor, message), block=True) if found.verdict == "adopted" else None
    return Judgment(found, effects=(found, told or Notify((message.sender,))))


def judge_time(session: Session, at_ms: int) -> Judgment:
    """Say what the rules say to time going by in a session."""
    return _step(session, Ticked(at_ms))


def judge_seal(session: Session, seal: Seal, opened: Opened | None, ruling_id: str, at_ms: int) -> Judgment:
    """Say what the rules say to a sealed text that is read now, in the ruling of that id; or is lost."""
    if opened is None:
        return _step(session, Lost(seal.sealed, at_ms))
    header = f"[{seal.tag} - {seal.author}]"
    message = Message(
        ruling_id,
        "",
        seal.author,
        (),
        session.name,
        seal.block,
        header,
        seal.tag,
        "",
        opened.text,
        "tool",
        0,
        0,
    )
    return _step(session, Unsealed(seal.sealed, posted(message, at_ms)))


def judge_prose(lines: str) -> Judgment:
    """Say what there is to say to text under no header."""
    many = "1 line under no header belongs" if lines == "1" else f"{lines} lines under no header belong"
    return Judgment(Rule("noted", "prose", f"noted: {many} to nobody"))


def recollections(session: Session | None, message: Message, ruled: Rule, at_ms: int) -> Iterator[Judgment]:
    """Give what the rules can have said to a block before somebody changed its text.

    A ruling that left the session as it was is taken at its word: there is nothing that it could do.
    """
    if ruled.verdict in STANDING:
        yield Judgment(ruled, session, session.state if session is not None else None)
    elif session is not None:
        for event in might_have_been(posted(message, at_ms)):
            yield _step(session, event)


def recipients(floor: Floor, message: Message) -> tuple[str, ...]:
    """Give the names that a message is for; ALL are the agents of the roster, less the sender."""
    told: list[str] = []
    for name in message.to:
        everybody = [agent for agent in floor.names if agent != message.sender]
        told += everybody if name == EVERYBODY else [name]
    return tuple(dict.fromkeys(told))


def label_of(message: Message) -> str:
    """Give who speaks in one form, whatever the header looked like: `PEER_A - CC`."""
    tag, name, role = (quoted(word) if word else "" for word in (message.tag, message.sender, message.role))
    return Header(tag, name, role).label or "nobody"


def _step(session: Session, event: Event) -> Judgment:
    state, effects = session.rules.step(session.opening, session.state, event)
    if not effects:
        return Judgment(NOTHING)
    rule = effects[0]
    assert isinstance(rule, Rule)
    return Judgment(rule, session, state, effects)


def _session_of(floor: Floor, message: Message) -> Session | Rule:
    """Give the session that a block belongs to, or the ruling where it belongs to none."""
    if message.session:
        session = floor.sessions.get(message.session)
        if session is not None and not session.closed:
            return session
        return _no_such_session(floor, message.session)
    if message.to and not message.tag:
        return _by_hand(floor, message)
    if message.sender not in ("", HUMAN):
        playing = [session for session in floor.open if session.opening.seat(message.sender)]
    else:  # the human has a word in every session, its rules say which
        playing = [session for session in floor.open if message.tag in session.rules.TAGS]
    if len(playing) == 1:
        return playing[0]
    return _which_session(message, playing) if playing else _plays_nowhere(floor, message)


def _by_hand(floor: Floor, message: Message) -> Rule:
    """Answer a message to others that a hand wrote."""
    for name in message.to:
        if name not in (*floor.names, HUMAN, EVERYBODY):
            return _no_agent(floor, name)
    return Rule("adopted", "message", f"message from {message.sender}, by hand and so unproven")


def _which_session(message: Message, playing: list[Session]) -> Rule:
    names = [session.name for session in playing]
    label = label_of(message) if message.sender else f"{message.tag} - NAME"
    return Rule(
        "refused", "which-session", f"which session? write [{label}] in {names[0]} (of {', '.join(names)})"
    )


def _no_such_session(floor: Floor, name: str) -> Rule:
    near = nearest(name, [session.name for session in floor.open])
    closed = name in floor.sessions
    why = f"{quoted(name)} is closed" if closed else f"no session {quoted(name)} is open"
    names = [session.name for session in floor.open]
    meant = f"; did you mean {near}?" if near else f"; open: {', '.join(names)}" if names else ""
    return Rule("refused", "no-such-session", f"{why}{meant}")


def _plays_nowhere(floor: Floor, message: Message) -> Rule:
    """Answer a block whose author has no open session, or is nobody."""
    name = message.sender
    if name and name not in (*floor.names, HUMAN):
        return _no_agent(floor, name)
    tagged = [session for session in floor.open if message.tag in session.rules.TAGS]
    if tagged:
        first = tagged[0]
        peers = " and ".join(first.opening.names)
        movers = f", and {' and '.join(first.waiting_for)} moves next" if first.waiting_for else ""
        why = f"{name} takes no part in {first.name}; {peers} do{movers}"
        return Rule("refused", "not-in-session", why)
    why = f"{name or 'nobody'} has no turn, as no session is open: begin one with `moot start`"
    return Rule("refused", "no-session", f"{why}, or write [{name or 'NAME'}] @NAME for a message")


def _no_agent(floor: Floor, word: str) -> Rule:
    known = sorted({*floor.names, *(name for session in floor.open for name in session.opening.names)})
    near = nearest(word, known)
    meant = f"did you mean {near}?" if near else f"known are {', '.join(known)}"
    return Rule("refused", "unknown-agent", f"no agent {quoted(word)}; {meant}")
