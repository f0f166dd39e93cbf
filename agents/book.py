"""The book: what the ledger says, folded. Pure; the referee and every command read it.

Frames are taken in the order of the chain. A block that belongs to a session waits until a ruling answers
it; the ruling counts only if the rules, asked again, give the same verdict. So a text that only looks like
a ruling does nothing, and whoever folds the same ledger gets the same book.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..bus.chain import Linked, Tail
from ..bus.messages import HUMAN, REFEREE, Message, from_frame
from ..parsers.frames import Frame
from ..parsers.ids import is_id, stamped_ms, time_ms
from ..parsers.names import TAGS
from ..parsers.seal import read_opened
from .asking import (
    NOTHING,
    Floor,
    Judgment,
    judge_block,
    judge_prose,
    judge_seal,
    judge_time,
    label_of,
    recipients,
    recollections,
)
from .chains import Chain, eased, extended, load_chain, sentence
from .hands import (
    NAMELESS,
    Gap,
    Parts,
    Unruled,
    find_block,
    find_prose,
    gaps_of,
    is_begun,
    parts_of,
)
from .protocols.events import Notify, Rule, Seal
from .session import Session, begin_session

PATIENCE = 4  # a turn of one who is seen at work may take that many time-outs before it is ruled on
_NOBODY: Mapping[str, int] = {}


class Notice(NamedTuple):
    """A message that has to reach these agents; `session` is where it was ruled on, `held` why it must wait."""

    message: Message
    names: tuple[str, ...]
    session: str
    held: str = ""


class Ruling(NamedTuple):
    """One ruling that counts: the block that it answers (an id, a label), verdict and code."""

    id: str
    session: str
    block: str
    label: str
    verdict: str
    code: str
    why: str


class Book:
    """The fold of a ledger. `names` are those of the workspace's roster, `max_chain` the loop budget."""

    def __init__(self, names: Sequence[str], max_chain: int = 20) -> None:
        """Begin with an empty ledger."""
        self.names = tuple(names)
        self._max_chain = max_chain
        self.chain = Chain()
        self.sessions: dict[str, Session] = {}
        self.count = 0
        self.waiting: list[Unruled] = []
        self._opened_names: set[str] = set()
        self._gaps: list[Gap] = []
        self._tail: list[Gap] = []
        self._parts = Parts()
        # What was learned since the news were last collected:
        self.notices: list[Notice] = []
        self.touched: set[str] = set()
        self.messages: list[Message] = []
        self.rulings: list[Ruling] = []
        self.void: list[Message] = []
        self.released = False  # whether what was kept back before goes on its way

    # -- taking what stands in the ledger ---------------------------------------------------------

    def take(self, linked: Linked, *, decided: bool = False) -> None:
        """Take the next frame of the chain, and the loose text before it.

        `decided` frames were taken once before: their rulings only strike what they answered, and what
        was decided then stays, whatever was done to the text since.
        """
        frame = linked.frame
        self._gaps += gaps_of(linked.loose, changed=frame.fact("gap") != linked.gap)
        message = from_frame(frame)
        self.messages.append(message)
        if not decided:
            self._heard(frame, message)
        if frame.fact("ruling"):
            if decided:
                self._strike(frame, message)
            elif message.sender != REFEREE or not self._ruled(frame, message):
                self.void.append(message)
        elif message.session:
            self.waiting.append(Unruled(message))
        elif message.to and message.tag != "ACK" and not decided:  # an acknowledgement wakes nobody
            self._notify(message, recipients(self._floor, message), "")

    def take_tail(self, tail: Tail) -> None:
        """Look at the loose text behind the last frame; it stays there until a frame follows it."""
        self._tail = gaps_of(tail.loose)
        self._parts.keep((*self._gaps, *self._tail))

    def _strike(self, frame: Frame, message: Message) -> None:
        """Take a ruling that was decided once before."""
        verdict, _, code = frame.fact("ruling").partition("/")
        if message.sender != REFEREE:
            return
        if verdict != "opened":
            self._settle(self._answered(frame, message))
        elif self._begun(message, code) is not None:
            self._opened_names.add(message.session)

    def _ruled(self, frame: Frame, message: Message) -> bool:
        """Apply a ruling; tell whether it counts."""
        verdict, _, code = frame.fact("ruling").partition("/")
        if verdict == "opened":
            return self._opened(message, code)
        found = self._answered(frame, message)
        said = Rule(verdict, code, "")
        for judgment in self._possible(found, message, said):
            session = judgment.session.name if judgment.session is not None else ""
            if (*judgment.rule[:2], session) == (verdict, code, message.session):
                self._settle(found)
                self._apply(judgment, message, found)
                return True
        return False

    def _possible(self, found: Unruled | None, ruling: Message, said: Rule) -> Iterator[Judgment]:
        """Give what the rules can have said at the time of a ruling, likeliest first."""
        at_ms = time_of(ruling)
        session = self.sessions.get(ruling.session)
        session = None if session is None or session.closed else session
        if found is None:
            if session is not None and ruling.re == session.last:
                yield self.judge_tick(session, at_ms)
            if session is not None and (seal := _seal_of(session, ruling.seal)) is not None:
                yield self.judge_seal(session, seal, ruling.body, ruling.id, at_ms)
            return
        yield self.judge(found, at_ms)
        block = found.message
        if block.edited:
            yield from recollections(session, block, said, at_ms)
        elif not found.prose:  # the workspace's roster may have been another one then
            named = {block.sender, *block.to} - {""}
            for names in ((*self.names, *named), {*self.names} - named):
                yield judge_block(self._floor._replace(names=names), block, at_ms)

    def _opened(self, message: Message, code: str) -> bool:
        session = self._begun(message, code)
        if session is None or message.session in self._opened_names:
            return False
        self.count += 1
        self._opened_names.add(session.name)
        self.sessions[session.name] = session
        self.touched.add(session.name)
        self._notify(message, session.opening.names, session.name)
        self._record(message, HUMAN, Rule("opened", code, ""))
        return True

    def _begun(self, message: Message, code: str) -> Session | None:
        """Give the session that an opening ruling begins, or None where the rules know no such."""
        return begin_session(message, code, self.count + 1, time_of(message))

    def _answered(self, frame: Frame, ruling: Message) -> Unruled | None:
        """Find what a ruling answers: a waiting block, or the loose text that it pins."""
        pinned, author = frame.fact("text"), frame.fact("by")
        if not pinned:
            return next((item for item in self.waiting if item.message.id == ruling.re), None)
        if not is_id(ruling.re) or ruling.re >= ruling.id:
            return None
        words = self._floor._replace(names=()).vocabulary  # prose once is prose, whoever joined since
        for gap in self._gaps:
            found = find_block(gap, pinned, author) if author else find_prose(gap, pinned, words)
            if found is not None:
                return Unruled(found._replace(id=ruling.re, at=ruling.at), pinned, prose=not author)
        return self._edited(ruling, pinned, author)

    def _edited(self, ruling: Message, pinned: str, author: str) -> Unruled | None:
        """Find what stands where something adopted stood, by the same author, its text changed since."""
        words = self._floor._replace(names=(*self.names, author)).vocabulary
        words = words._replace(tags={*words.tags, *TAGS})  # the session may be closed by now
        changed = [gap for gap in self._gaps if gap.changed]
        for item in (item for gap in changed for item in parts_of(gap, words)):
            if item.prose == (not author) and item.message.sender == author.removeprefix(NAMELESS):
                stamped = item.message._replace(id=ruling.re, at=ruling.at, edited=True)
                return item._replace(message=stamped, pin=pinned)
        return None

    def _settle(self, item: Unruled | None) -> None:
        """Strike what was ruled on from what waits; a block by hand stands before the ruling that adopts it."""
        if item is None:
            return
        self.waiting = [other for other in self.waiting if other.message.id != item.message.id]
        if item.pin:
            self._gaps = self._parts.without(self._gaps, item.message.start, item.message.end)
            self.messages.insert(-1, item.message)

    def _apply(self, judgment: Judgment, ruling: Message, found: Unruled | None) -> None:
        """Make the judgment true: the session's new state, and who is told."""
        session = judgment.session
        block = found.message if found is not None else None
        name = session.name if session is not None else ""
        label = "" if block is None else "prose" if found is not None and found.prose else label_of(block)
        self._record(ruling, label, judgment.rule)
        for effect in judgment.effects:
            if isinstance(effect, Notify):
                told = block if effect.block and block is not None else ruling
                self._notify(told, effect.names, name)
        if session is None:
            return
        close = judgment.close
        self.sessions[name] = session._replace(
            state=judgment.state,
            last=ruling.id,
            closed=close.state if close else "",
            result=session.status(judgment.state, ruling.body) if close else (),
        )
        self.touched.add(name)

    def _record(self, ruling: Message, label: str, rule: Rule) -> None:
        why = ruling.header.removeprefix(f"[{REFEREE}]").strip()
        self.rulings.append(Ruling(ruling.id, ruling.session, ruling.re, label, rule.verdict, rule.code, why))

    def _heard(self, frame: Frame, message: Message) -> None:
        """Take a word of a human, after which what was kept back goes on its way; or the line that told of it."""
        if message.sender == HUMAN:
            self.notices = [notice._replace(held="") for notice in self.notices]
            self.released = self.released or self.chain.kept > 0
            self.chain = Chain()
        elif message.sender == REFEREE and frame.fact("about") == "chain":
            self.chain = self.chain._replace(told=True)

    def _notify(self, message: Message, names: Iterable[str], session: str) -> None:
        known = self._floor.vocabulary.names  # no name out of a text becomes a file's name unchecked
        told = tuple(dict.fromkeys(name for name in names if name in known))
        if not told:
            return
        held = ""
        if message.sender == REFEREE:
            self.chain = eased(self.chain, told)
        elif not session and message.sender != HUMAN:
            kept = self.chain.kept
            self.chain, depth = extended(self.chain, message, told, self._max_chain)
            if self.chain.kept > kept:
                held = f"chain: {depth} deep, over the limit of {self._max_chain}"
        if held and HUMAN in told:  # who always gets through
            self.notices.append(Notice(message, (HUMAN,), session))
            told = tuple(name for name in told if name != HUMAN)
        if told:
            self.notices.append(Notice(message, told, session, held))

    def chain_to_tell(self) -> str:
        """Give the line that the human is due about a chain that was stopped, "" where none is."""
        return sentence(self.chain, self._max_chain) if self.chain.kept and not self.chain.told else ""

    # -- asking the rules -------------------------------------------------------------------------

    @property
    def _floor(self) -> Floor:
        return Floor(self.sessions, self.names)

    def pending(self, *, rested: bool) -> Unruled | None:
        """Give the first thing that a ruling is due for, in the order in which they stand.

        What stands behind the last frame counts only when it has `rested`: its writer may be half-way.
        """
        items = [*self.waiting, *self._hands(self._gaps)]
        if rested:
            tail = self._hands(self._tail)
            if tail and is_begun(tail[-1]):
                tail.pop()
            items += tail
        return min(items, key=lambda item: item.message.start, default=None)

    def has_loose_tail(self) -> bool:
        """Tell whether hands have written behind the last frame."""
        return bool(self._hands(self._tail))

    def unruled_hands(self) -> list[Unruled]:
        """Give what hands wrote and no ruling has answered."""
        return self._hands((*self._gaps, *self._tail))

    def _hands(self, gaps: Iterable[Gap]) -> list[Unruled]:
        words = self._floor.vocabulary
        return [item for gap in gaps for item in self._parts.of(gap, words)]

    def judge(self, item: Unruled, at_ms: int) -> Judgment:
        """Say what the rules say to a block; changes nothing."""
        if item.prose:
            return judge_prose(item.pin.partition("/")[2])
        return judge_block(self._floor, item.message, at_ms)

    def judge_tick(self, session: Session | None, at_ms: int) -> Judgment:
        """Say what the rules say to time going by in a session; verdict and code are empty for nothing."""
        return Judgment(NOTHING) if session is None or session.closed else judge_time(session, at_ms)

    def judge_seal(self, session: Session, seal: Seal, body: str, ruling_id: str, at_ms: int) -> Judgment:
        """Say what the rules say to a seal that `body` opens; or, where it opens nothing, that is lost."""
        return judge_seal(session, seal, read_opened(body, seal.sealed), ruling_id, at_ms)

    def seal_due(self) -> tuple[Session, Seal] | None:
        """Give the seal that has to be opened next, or None."""
        for session in self._floor.open:
            if session.rules.opens(session.state):
                return session, session.rules.seals(session.opening, session.state)[0]
        return None

    def seals(self) -> list[tuple[Session, Seal]]:
        """Give all seals that open sessions need."""
        return [(s, seal) for s in self._floor.open for seal in s.rules.seals(s.opening, s.state)]

    def due(self, at_ms: int, seen_ms: Mapping[str, int] = _NOBODY) -> Session | None:
        """Give a session in which time has run out, or None; `seen_ms` is when agents were last seen at work."""
        for session in self._floor.open:
            if _due_ms(session, seen_ms) <= at_ms:
                return session
        return None

    def next_due_ms(self, seen_ms: Mapping[str, int] = _NOBODY) -> int | None:
        """Give the time at which the first session will be due."""
        return min((_due_ms(session, seen_ms) for session in self._floor.open), default=None)

    def playing(self, name: str) -> list[Session]:
        """Give the open sessions in which an agent takes part, in the order of opening."""
        return [session for session in self._floor.open if session.opening.seat(name)]

    # -- keeping it -------------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """Give what waits, as JSON values; sessions are dumped one by one."""
        return {
            "count": self.count,
            "opened": sorted(self._opened_names),
            "chain": list(self.chain),
            "waiting": [list(item.message) for item in self.waiting],
            "loose": [[gap.start, gap.end, gap.text.decode("latin-1"), gap.changed] for gap in self._gaps],
        }

    def forget_news(self) -> None:
        """Drop what was learned since the last time, and the sessions that are closed."""
        self.notices, self.messages, self.touched, self.void = [], [], set(), []
        self.released = False
        self.sessions = {name: session for name, session in self.sessions.items() if not session.closed}

    def load(self, data: dict[str, Any], sessions: Iterable[Session]) -> None:
        """Take up what was dumped, in an empty book."""
        self.count = data["count"]
        self._opened_names = set(data["opened"])
        self.chain = load_chain(data["chain"])
        self.waiting = [Unruled(_message(values)) for values in data["waiting"]]
        self._gaps = [
            Gap(start, end, text.encode("latin-1"), changed) for start, end, text, changed in data["loose"]
        ]
        self.sessions = {session.name: session for session in sessions}


def _due_ms(session: Session, seen_ms: Mapping[str, int]) -> int:
    """Give when a session's turn is due: later, while all whose move it is are seen at work, but not for ever."""
    due_ms = session.rules.due_ms(session.opening, session.state)
    timeout_ms = session.opening.turn_timeout_s * 1000
    last_ms = min((seen_ms.get(name, 0) for name in session.waiting_for), default=0)
    return min(max(due_ms, last_ms + timeout_ms), due_ms + (PATIENCE - 1) * timeout_ms)


def _seal_of(session: Session, sealed: str) -> Seal | None:
    """Find the seal that a ruling names among those that the session needs."""
    seals = session.rules.seals(session.opening, session.state) if sealed else ()
    return next((seal for seal in seals if seal.sealed == sealed), None)


def time_of(message: Message) -> int:
    """Give the time at which a ruling was written, in milliseconds since 1970.

    Its stamp says so. The time in an id never goes back, so that after a clock that was ahead it would stand still.
    """
    at_ms = stamped_ms(message.at)
    return time_ms(message.id) if at_ms is None else at_ms


def _message(values: Sequence[Any]) -> Message:
    message = Message(*values)
    return message._replace(to=tuple(message.to))
