"""The book: what the ledger says, folded. Pure; the referee and every command read it.

Frames are taken in the order of the chain. A block that belongs to a session waits until a ruling answers
it; the ruling counts only if the rules, asked again, give the same verdict. So a text that only looks like
a ruling does nothing, and whoever folds the same ledger gets the same book.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..bus.chain import Linked, Tail
from ..bus.messages import EVERYBODY, HUMAN, REFEREE, Message, from_frame, from_hand
from ..parsers.artifact import artifact_of
from ..parsers.attachment import attachment_of
from ..parsers.frames import Frame, Loose, digest
from ..parsers.headers import LETTERS, Header, Vocabulary, read_header
from ..parsers.ids import RANDOM_BITS, to_number
from ..parsers.loose import HandBlock, Prose, find_pinned, pin, split_loose
from ..parsers.names import nearest
from ..parsers.tokens import tokens_of
from .protocols import Rules, rules_for
from .protocols.events import Close, Effect, Notify, Posted, Rule, Ticked
from .protocols.opening import Opening, read_opening


class Session(NamedTuple):
    """One run of one protocol; `last` is the id of the latest ruling in it."""

    n: int
    opening: Opening
    state: Any
    opened_at: str
    last: str
    closed: str = ""
    result: tuple[tuple[str, str], ...] = ()

    @property
    def rules(self) -> Rules:
        """The protocol's rules."""
        rules = rules_for(self.opening.protocol)
        assert rules is not None
        return rules

    @property
    def waiting_for(self) -> tuple[str, ...]:
        """The names of those whose move it is."""
        return () if self.closed else self.rules.waiting_for(self.state)


class Unruled(NamedTuple):
    """Something that waits for a ruling: a block, or prose; `pin` names the text of one by hand."""

    message: Message
    pin: str = ""
    prose: bool = False


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


class Notice(NamedTuple):
    """A message that has to reach these agents; `session` is where it was ruled on."""

    message: Message
    names: tuple[str, ...]
    session: str


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
    """The fold of a ledger. `names` are those of the workspace's roster."""

    def __init__(self, names: Sequence[str]) -> None:
        """Begin with an empty ledger."""
        self.names = tuple(names)
        self.sessions: dict[str, Session] = {}
        self.count = 0
        self.waiting: list[Unruled] = []
        self._loose: list[Loose] = []
        self._tail: tuple[Loose, ...] = ()
        # What was learned since the news were last collected:
        self.notices: list[Notice] = []
        self.touched: set[str] = set()
        self.messages: list[Message] = []
        self.rulings: list[Ruling] = []
        self.void: list[Message] = []

    # -- taking what stands in the ledger ---------------------------------------------------------

    def take(self, linked: Linked, *, decided: bool = False) -> None:
        """Take the next frame of the chain, and the loose text before it.

        `decided` frames were taken once before: their rulings only strike what they answered, and what
        was decided then stays, whatever was done to the text since.
        """
        self._loose.extend(piece for piece in linked.loose if piece.text.strip())
        message = from_frame(linked.frame)
        self.messages.append(message)
        if decided:
            self._strike(linked.frame, message)
        elif linked.frame.fact("ruling"):
            if message.sender != REFEREE or not self._ruled(linked.frame, message):
                self.void.append(message)
        elif message.session:
            self.waiting.append(Unruled(message))
        elif message.to and message.tag != "ACK":  # an acknowledgement is a receipt, and wakes nobody
            self._notify(message, self._recipients(message), "")

    def _strike(self, frame: Frame, message: Message) -> None:
        if frame.fact("ruling"):
            found = self._answered(frame, message)
            self._settle(found)
            if found is not None and found.pin:
                self.messages.insert(-1, found.message)
        elif message.session:
            self.waiting.append(Unruled(message))

    def take_tail(self, tail: Tail) -> None:
        """Look at the loose text behind the last frame; it stays there until a frame follows it."""
        self._tail = tuple(piece for piece in tail.loose if piece.text.strip())

    def _ruled(self, frame: Frame, message: Message) -> bool:
        """Apply a ruling; tell whether it counts."""
        verdict, _, code = frame.fact("ruling").partition("/")
        if verdict == "opened":
            return self._opened(message, code)
        at_ms = time_of(message.id)
        found = self._answered(frame, message)
        if found is not None:
            judgment = self.judge(found, at_ms)
        else:
            judgment = self.judge_tick(self.sessions.get(message.session), at_ms)
        if (judgment.rule.verdict, judgment.rule.code) != (verdict, code):
            return False
        self._settle(found)
        if found is not None and found.pin:
            self.messages.insert(-1, found.message)  # a block stands before the ruling that adopts it
        self._apply(judgment, message, found)
        return True

    def _opened(self, message: Message, code: str) -> bool:
        opening = read_opening(message.session, message.body)
        rules = rules_for(code)
        if opening is None or rules is None or opening.protocol != code or message.session in self.sessions:
            return False
        self.count += 1
        state = rules.begin(opening, time_of(message.id))
        session = Session(self.count, opening, state, message.at, message.id)
        self.sessions[message.session] = session
        self.touched.add(message.session)
        self._notify(message, opening.names, message.session)
        self._record(message, message.re, HUMAN, Rule("opened", code, ""))
        return True

    def _answered(self, frame: Frame, message: Message) -> Unruled | None:
        """Find what a ruling answers: a waiting block, or the loose text that it pins."""
        pinned = frame.fact("text")
        if not pinned:
            return next((item for item in self.waiting if item.message.id == message.re), None)
        for piece in self._loose:
            place = find_pinned(piece.text, pinned)
            if place is not None:
                start, end = place
                text = Loose(piece.start + start, piece.start + end, piece.text[start:end])
                by = frame.fact("by")
                return Unruled(adopted_message(text, message.re, by, message.at), pinned, prose=not by)
        return self._edited(message, pinned, frame.fact("by"))

    def _edited(self, message: Message, pinned: str, author: str) -> Unruled | None:
        """Find the block that stands where an adopted one stood, its text changed since."""
        for item in self._hands(self._loose):
            if not item.prose and item.message.sender == author:
                stamped = item.message._replace(id=message.re, at=message.at, edited=True)
                return Unruled(stamped, pinned)
        return None

    def _settle(self, item: Unruled | None) -> None:
        """Strike what was ruled on from what waits."""
        if item is None:
            return
        self.waiting = [other for other in self.waiting if other.message.id != item.message.id]
        if item.pin:
            self._loose = _cut(self._loose, item.message.start, item.message.end)

    def _apply(self, judgment: Judgment, ruling: Message, found: Unruled | None) -> None:
        """Make the judgment true: the session's new state, and who is told."""
        session = judgment.session
        block = found.message if found is not None else None
        name = session.opening.session if session is not None else ""
        label = "" if block is None else "prose" if found is not None and found.prose else label_of(block)
        self._record(ruling, ruling.re, label, judgment.rule)
        for effect in judgment.effects:
            if isinstance(effect, Notify):
                told = block if effect.block and block is not None else ruling
                self._notify(told, effect.names, name)
        if session is not None:
            close = judgment.close
            self.sessions[name] = session._replace(
                state=judgment.state,
                last=ruling.id,
                closed=close.state if close else "",
                result=_status_lines(ruling.body) if close else (),
            )
            self.touched.add(name)

    def _record(self, ruling: Message, block: str, label: str, rule: Rule) -> None:
        why = ruling.header.removeprefix(f"[{REFEREE}]").strip()
        self.rulings.append(Ruling(ruling.id, ruling.session, block, label, rule.verdict, rule.code, why))

    def _notify(self, message: Message, names: Iterable[str], session: str) -> None:
        seated = {name for s in self.sessions.values() for name in s.opening.names}
        known = {*self.names, *seated, HUMAN}  # no name out of a text becomes a file's name unchecked
        if told := tuple(dict.fromkeys(name for name in names if name in known)):
            self.notices.append(Notice(message, told, session))

    def _recipients(self, message: Message) -> tuple[str, ...]:
        if EVERYBODY in message.to:
            return tuple(name for name in self.names if name != message.sender)
        return message.to

    # -- asking the rules -------------------------------------------------------------------------

    def vocabulary(self) -> Vocabulary:
        """Give the tags and names that make a header now."""
        open_sessions = [session for session in self.sessions.values() if not session.closed]
        tags = {tag for session in open_sessions for tag in session.rules.TAGS}
        seated = {name for session in open_sessions for name in session.opening.names}
        return Vocabulary(tags, {*self.names, *seated, HUMAN})

    def pending(self, *, rested: bool) -> Unruled | None:
        """Give the first thing that a ruling is due for, in the order in which they stand.

        What stands behind the last frame counts only when it has `rested`: its writer may be half-way.
        """
        items = [*self.waiting, *self._hands(self._loose)]
        if rested:
            tail = self._hands(self._tail)
            if tail and not tail[-1].prose and not tail[-1].message.body.strip():
                tail.pop()  # a header alone: its text is still to come
            items += tail
        return min(items, key=lambda item: item.message.start, default=None)

    def has_loose_tail(self) -> bool:
        """Tell whether hands have written behind the last frame."""
        return bool(self._hands(self._tail))

    def unruled_hands(self) -> list[Unruled]:
        """Give what hands wrote and no ruling has answered."""
        return self._hands((*self._loose, *self._tail))

    def _hands(self, pieces: Iterable[Loose]) -> list[Unruled]:
        words = self.vocabulary()
        found = []
        for piece in pieces:
            for part in split_loose(piece.text, piece.start, words):
                if isinstance(part, HandBlock):
                    found.append(Unruled(from_hand(part), pin(part.text)))
                else:
                    found.append(Unruled(_prose(part), pin(part.text), prose=True))
        return found

    def judge(self, item: Unruled, at_ms: int) -> Judgment:
        """Say what the rules say to a block; changes nothing."""
        message = item.message
        if item.prose:
            lines = item.pin.partition("/")[2]
            return Judgment(Rule("noted", "prose", f"noted: {lines} lines under no header belong to nobody"))
        seat = self._session_of(message)
        if isinstance(seat, Rule):
            return _aside(seat, message, self._recipients(message))
        state, effects = seat.rules.step(seat.opening, seat.state, _posted(message, at_ms))
        rule = effects[0]
        assert isinstance(rule, Rule)
        return Judgment(rule, seat, state, effects)

    def judge_tick(self, session: Session | None, at_ms: int) -> Judgment:
        """Say what the rules say to time going by in a session; verdict and code are empty for nothing."""
        if session is None or session.closed:
            return Judgment(Rule("", "", ""))
        state, effects = session.rules.step(session.opening, session.state, Ticked(at_ms))
        if not effects:
            return Judgment(Rule("", "", ""))
        rule = effects[0]
        assert isinstance(rule, Rule)
        return Judgment(rule, session, state, effects)

    def due(self, at_ms: int) -> Session | None:
        """Give a session in which time has run out, or None."""
        for session in self.sessions.values():
            if not session.closed and session.rules.due_ms(session.opening, session.state) <= at_ms:
                return session
        return None

    def next_due_ms(self) -> int | None:
        """Give the time at which the first session will be due."""
        open_sessions = [session for session in self.sessions.values() if not session.closed]
        return min((s.rules.due_ms(s.opening, s.state) for s in open_sessions), default=None)

    def playing(self, name: str) -> list[Session]:
        """Give the open sessions in which an agent takes part, in the order of opening."""
        return [s for s in self.sessions.values() if not s.closed and s.opening.seat(name)]

    def _session_of(self, message: Message) -> Session | Rule:
        """Give the session that a block belongs to, or the ruling where it belongs to none."""
        if message.session:
            session = self.sessions.get(message.session)
            if session is not None and not session.closed:
                return session
            return self._no_such_session(message)
        if not message.sender:
            playing = [s for s in self.sessions.values() if not s.closed and message.tag in s.rules.TAGS]
        else:
            playing = self.playing(message.sender)
        if message.to and not message.tag:
            unknown = [name for name in message.to if name not in (*self.names, HUMAN, EVERYBODY)]
            if unknown:
                return Rule("refused", "unknown-agent", f"no agent {unknown[0]}; {self._meant(unknown[0])}")
            return Rule("adopted", "message", f"message from {message.sender}, by hand and so unproven")
        if len(playing) == 1:
            return playing[0]
        if not playing:
            return self._plays_nowhere(message)
        ids = ", ".join(session.opening.session for session in playing)
        return Rule(
            "refused",
            "which-session",
            f"which session? write [{label_of(message)}] in {ids.split(', ')[0]} (of {ids})",
        )

    def _no_such_session(self, message: Message) -> Rule:
        name, known = message.session, self.sessions.get(message.session)
        near = nearest(name, [s.opening.session for s in self.sessions.values() if not s.closed])
        why = f"{name} is closed" if known else f"no session {name} is open"
        return Rule("refused", "no-such-session", f"{why}; did you mean {near}?" if near else why)

    def _plays_nowhere(self, message: Message) -> Rule:
        """Answer a block whose author has no open session, or is nobody."""
        tagged = [s for s in self.sessions.values() if not s.closed and message.tag in s.rules.TAGS]
        if message.sender and message.sender not in (*self.names, HUMAN):
            meant = self._meant(message.sender)
            return Rule("refused", "unknown-agent", f"no agent {message.sender}; {meant}")
        if tagged:
            first = tagged[0]
            return Rule(
                "refused",
                "not-in-session",
                f"{message.sender} takes no part in {first.opening.session};"
                f" {' and '.join(first.opening.names)} do, and {' and '.join(first.waiting_for)} moves next",
            )
        return Rule(
            "refused", "no-session", f"no session is open for {message.sender}: begin one with `moot start`"
        )

    def _meant(self, word: str) -> str:
        known = sorted({*self.names, *(name for s in self.sessions.values() for name in s.opening.names)})
        near = nearest(word, known)
        return f"did you mean {near}?" if near else f"known are {', '.join(known)}"

    # -- keeping it -------------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """Give what waits, as JSON values; sessions are dumped one by one."""
        return {
            "count": self.count,
            "waiting": [list(item.message) for item in self.waiting],
            "loose": [[piece.start, piece.end, piece.text.decode("latin-1")] for piece in self._loose],
        }

    def forget_news(self) -> None:
        """Drop what was learned since the last time, and the sessions that are closed."""
        self.notices, self.messages, self.touched = [], [], set()
        self.sessions = {name: session for name, session in self.sessions.items() if not session.closed}

    def load(self, data: dict[str, Any], sessions: Iterable[Session]) -> None:
        """Take up what was dumped."""
        self.count = data["count"]
        self.waiting = [Unruled(_message(values)) for values in data["waiting"]]
        self._loose = [Loose(start, end, text.encode("latin-1")) for start, end, text in data["loose"]]
        self.sessions = {session.opening.session: session for session in sessions}


def dump_session(session: Session) -> dict[str, Any]:
    """Give a session as JSON values."""
    opening = session.opening._asdict()
    opening["roster"] = [list(seat) for seat in session.opening.roster]
    return {**session._asdict(), "opening": opening, "state": list(session.state)}


def load_session(data: Any) -> Session:
    """Take a session back from JSON values."""
    from ..parsers.seats import Seat

    values = dict(data["opening"])
    values["roster"] = tuple(Seat(*seat) for seat in values["roster"])
    values["options"] = tuple((key, value) for key, value in values["options"])
    opening = Opening(**values)
    rules = rules_for(opening.protocol)
    assert rules is not None
    result = tuple((key, value) for key, value in data["result"])
    return Session(**{**data, "opening": opening, "state": rules.State(*data["state"]), "result": result})


def time_of(block_id: str) -> int:
    """Give the time in an id, in milliseconds since 1970: it never goes back, as the order does not."""
    return to_number(block_id) >> RANDOM_BITS


def label_of(message: Message) -> str:
    """Give who speaks in one form, whatever the header looked like: `PEER_A - CC`."""
    return Header(message.tag, message.sender, message.role).label or "nobody"


def _posted(message: Message, at_ms: int) -> Posted:
    """Tell a protocol what a block says, without its text."""
    tokens = tokens_of(message.body, message.sender)
    names = {token.name for token in tokens} | ({message.tag} if message.tag in LETTERS else set())
    reason = message.body.split("\n", 1)[0] if message.tag == "INCOMPLETE" else ""
    reason = next((token.rest for token in tokens if token.name == "INCOMPLETE"), reason)
    attached = attachment_of(message.body)
    artifact = attached.sha256 if attached and attached.holds_artifact else artifact_of(message.body)
    return Posted(
        block=message.id,
        author=message.sender,
        tag=message.tag,
        role=message.role,
        tokens=tuple(sorted(names)),
        reason=reason.lstrip(" -:\u2013\u2014"),
        artifact=digest(artifact.encode()) if artifact else "",
        empty=not message.body.strip(),
        at_ms=at_ms,
    )


def _aside(rule: Rule, message: Message, recipients: tuple[str, ...]) -> Judgment:
    """Give the judgment on a block outside all sessions: a message is delivered, the rest is answered."""
    if rule.verdict == "adopted":
        return Judgment(rule, effects=(rule, Notify(recipients, block=True)))
    return Judgment(rule, effects=(rule, Notify((message.sender,))))


def adopted_message(piece: Loose, block_id: str, author: str, at: str = "") -> Message:
    """Read a block by hand that a ruling adopted, whatever tags and names are in play by now.

    `author` is the one that the ruling names, `?` where the block names none.
    """
    first = piece.text.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode("utf-8", "replace")
    header = _any_header(first, author)
    if header is None:
        return _prose(Prose(*piece))._replace(id=block_id, at=at)
    words = Vocabulary((header.tag,) if header.tag else (), (header.name,) if header.name else ())
    blocks = [part for part in split_loose(piece.text, piece.start, words) if isinstance(part, HandBlock)]
    body = "\n".join([blocks[0].body, *(part.text.decode("utf-8", "replace") for part in blocks[1:])])
    return from_hand(blocks[0]._replace(end=piece.end, body=body))._replace(id=block_id, at=at)


def _any_header(line: str, author: str) -> Header | None:
    """Read a header by the author that the ruling names, or one that names nobody."""
    if author and author != "?":
        return read_header(line, Vocabulary((), (author,)))
    if author == "?":
        word = line.strip(" #*_").removeprefix("[").partition("]")[0]
        return read_header(line, Vocabulary((word,), ()))
    return None


def _prose(part: Prose) -> Message:
    body = part.text.decode("utf-8", "replace")
    return Message("", "", "", (), "", "", "", "", "", body, "hand", part.start, part.end)


def _cut(pieces: list[Loose], start: int, end: int) -> list[Loose]:
    """Take the bytes from `start` to `end` out of loose pieces."""
    kept = []
    for piece in pieces:
        if piece.end <= start or piece.start >= end:
            kept.append(piece)
            continue
        kept.append(Loose(piece.start, start, piece.text[: max(0, start - piece.start)]))
        kept.append(Loose(end, piece.end, piece.text[end - piece.start :]))
    return [piece for piece in kept if piece.text.strip()]


def _status_lines(body: str) -> tuple[tuple[str, str], ...]:
    from ..parsers.fields import read_fields

    return tuple(read_fields(body).items())


def _message(values: Sequence[Any]) -> Message:
    message = Message(*values)
    return message._replace(to=tuple(message.to))
