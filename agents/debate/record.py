"""What was said in a debate, read back from its session: the same for the recap, the prompts and the report.

Pure: the texts of blocks come from whoever has the ledger, so the record of a debate that is over is the same
whenever it is read.
"""

import json
import re
from collections.abc import Callable
from typing import NamedTuple

from ...parsers.frames import digest
from ...parsers.position import SHOWN, Position, position_of, rebuttal_of, words_of
from ..protocols import debate as rules
from ..protocols.opening import Opening


class Voice(NamedTuple):
    """One debater: its name in the session, what speaks (`preset/model`, or nothing), its number to the blind."""

    name: str
    title: str
    number: int


class Spoken(NamedTuple):
    """What one debater gave in one round; `held` is its position as it stands, kept where it gave none."""

    name: str
    held: str
    verdict: str
    said: Position
    moved: bool = True


class Change(NamedTuple):
    """Files of the repository that were changed in a round, and who was running then."""

    files: tuple[str, ...]
    running: tuple[str, ...]


class Round(NamedTuple):
    """One round: who spoke, who was absent and why, the synthesis if there is one, what was changed meanwhile."""

    number: int
    spoken: tuple[Spoken, ...]
    absent: tuple[tuple[str, str], ...]
    synthesis: str = ""
    changes: tuple[Change, ...] = ()

    def of(self, name: str) -> Spoken | None:
        """Give what somebody said in this round; None where it was absent."""
        return next((one for one in self.spoken if one.name == name), None)


class Debate(NamedTuple):
    """A debate as far as it has come; `ending` is consensus, rounds, still, or nothing yet."""

    session: str
    topic: str
    voices: tuple[Voice, ...]
    moderator: str
    max_rounds: int
    blind: bool
    rounds: tuple[Round, ...]
    ending: str
    state: str
    by_number: bool = False  # whether debaters are called by their numbers here

    def to_debaters(self) -> "Debate":
        """Give the debate as those see it who take part: where it is anonymous, by numbers."""
        return self._replace(by_number=self.blind)

    def voice(self, name: str) -> Voice:
        """Give a debater by its name."""
        return next((one for one in self.voices if one.name == name), Voice(name, "", 0))

    def shown(self, name: str) -> str:
        """Give what a debater is called: `preset/model (p0)`, or `Position 2` by its number."""
        voice = self.voice(name)
        if self.by_number and voice.number:
            return f"Position {voice.number}"
        return f"{voice.title} ({name})" if voice.title else name

    def named(self, words: str) -> str:
        """Give the debater that somebody means: by name, title, both, or number; nothing for none of them."""
        word = words.strip(" *_`\"'[]").casefold()
        for voice in self.voices:
            known = (voice.name, voice.title, f"{voice.title} ({voice.name})", f"Position {voice.number}")
            if word and word in {one.casefold() for one in known}:
                return voice.name
        return ""

    def held_before(self, name: str, number: int) -> str:
        """Give the position that somebody held when a round ended; nothing where it never gave one."""
        held = (one.held for past in self.rounds[:number] for one in past.spoken if one.name == name)
        return next(reversed([text for text in held if text]), "")


def record_of(opening: Opening, state: rules.State, text_of: Callable[[str], str]) -> Debate:
    """Read a debate; `text_of` gives the text of a block, opened where it was sealed."""
    names = rules.debaters(opening)
    order = sorted(names, key=lambda name: digest(f"{opening.session}\n{name}".encode()))
    voices = tuple(
        Voice(seat.name, seat.lens, order.index(seat.name) + 1)
        for seat in opening.roster
        if seat.name in names
    )
    syntheses, recaps = dict(state.syntheses), dict(state.recaps)
    held: dict[str, str] = {}
    rounds: list[Round] = []
    for number in range(1, state.round + 1):
        spoken = []
        for name in names:
            said = next((one for one in state.said if (one.round, one.name) == (number, name)), None)
            if said is None or not said.text_block:
                continue
            read = _read(said, text_of)
            held[name] = read.position or held.get(name, "")
            spoken.append(Spoken(name, held[name], said.verdict, read, said.moved))
        absent = tuple((name, why) for at, name, why in state.absent if at == number)
        synthesis, recap = (text_of(of[number]) if number in of else "" for of in (syntheses, recaps))
        changes = changes_in(recap)
        if number == state.round and state.report:  # those of the last synthesis stand in the report alone
            changes = tuple(dict.fromkeys((*changes, *changes_in(text_of(state.report)))))
            changes = tuple(one for one in changes if not any(one in past.changes for past in rounds))
        rounds.append(Round(number, tuple(spoken), absent, synthesis.strip(), changes))
    return Debate(
        opening.session, opening.task, voices, rules.moderator(opening), rules.rounds_of(opening),
        opening.option("ANONYMOUS") == "yes", tuple(rounds), state.ending, state.phase,
    )  # fmt: skip


def _read(said: rules.Said, text_of: Callable[[str], str]) -> Position:
    """Read an answer; where it was asked for again, what the second says counts and the first fills in."""
    first = (position_of if said.round == 1 else rebuttal_of)(text_of(said.text_block))
    if not said.again:
        return first
    second = rebuttal_of(text_of(said.again))
    return Position(
        second.position or first.position,
        second.arguments or first.arguments,
        second.bottom_line or first.bottom_line,
        (*first.critiques, *second.critiques),
        (*first.conceded, *second.conceded),
        second.verdict,
    )


def write_change(change: Change) -> str:
    """Write what was changed as the line of a recap that `changes_in` reads."""
    return f"**Changed while {', '.join(change.running)} ran:** {', '.join(map(json.dumps, change.files))}"


def changes_in(recap: str) -> tuple[Change, ...]:
    """Read the changes that a recap tells of."""
    found = re.finditer(r'(?m)^\*\*Changed while ([\w.,-][\w., -]*) ran:\*\* (".*")$', recap)
    return tuple(Change(tuple(_strings(one[2])), tuple(one[1].split(", "))) for one in found)


def _strings(text: str) -> list[str]:
    try:
        return [str(one) for one in json.loads(f"[{text}]")]
    except ValueError:  # somebody has edited the line
        return [text]


class Clash(NamedTuple):
    """One point of contention: who holds it and who is against it, and why.

    `of` is what the critics named: a debater, or nothing where the point is against the synthesis.
    """

    point: str
    agree: tuple[str, ...]
    disagree: tuple[str, ...]
    why: str = ""
    of: str = ""


def clashes(debate: Debate, number: int) -> tuple[Clash, ...]:
    """Give every point that is contested in a round: first what is said against the synthesis, then the critiques.

    Nothing is interpreted: a point is a debater's own words, and two are one where their words and whom they are
    against are the same. In round 1 nobody has been asked yet: every position is a point.
    """
    now = debate.rounds[number - 1]
    if number == 1:
        return _merged([Clash(one.held, (one.name,), ()) for one in now.spoken])
    agree = tuple(one.name for one in now.spoken if one.verdict == "AGREE")
    found = [
        Clash(one.said.verdict.reason or "(no reason is given)", agree, (one.name,))
        for one in now.spoken
        if one.verdict in ("DISAGREE", "PARTIAL")
    ]
    for one in now.spoken:
        for critique in one.said.critiques:
            holder = debate.named(critique.of)
            if holder != one.name:
                holders = (*((holder,) if holder else ()), *_holders(debate, number - 1, critique.claim))
                found.append(Clash(critique.claim, holders, (one.name,), critique.why, holder or critique.of))
    return _merged(found)


def _holders(debate: Debate, number: int, claim: str) -> tuple[str, ...]:
    """Give those whose position, when a round ended, was a claim word for word."""
    words = words_of(claim)
    return tuple(one.name for one in debate.voices if words_of(debate.held_before(one.name, number)) == words)


def _merged(found: list[Clash]) -> tuple[Clash, ...]:
    merged: dict[tuple[frozenset[str], frozenset[str]], Clash] = {}
    for one in found:
        key = (words_of(one.point), frozenset(one.agree) if one.of else frozenset())
        first = merged.get(key, one)
        merged[key] = first._replace(
            agree=tuple(dict.fromkeys((*first.agree, *one.agree))),
            disagree=tuple(dict.fromkeys((*first.disagree, *one.disagree))),
            why="; ".join(dict.fromkeys(why for why in (first.why, one.why) if why)),
        )
    return tuple(merged.values())


def agreements(debate: Debate, number: int) -> tuple[str, ...]:
    """Give what all who spoke in a round have said: that they accept the synthesis, or one and the same position."""
    now = debate.rounds[number - 1]
    if not now.spoken:
        return ()
    found = []
    if number > 1 and all(one.verdict == "AGREE" for one in now.spoken):
        found.append(f"the synthesis of round {number - 1}")
    if len(now.spoken) > 1 and len({words_of(one.held) for one in now.spoken}) == 1:
        found.append(now.spoken[0].held)
    accepted = [one.said.verdict.accepted for one in now.spoken]
    if len(accepted) > 1 and all(accepted) and len({words_of(text) for text in accepted}) == 1:
        found.append(accepted[0])
    return tuple(found)


class Settled(NamedTuple):
    """A disagreement that is over: the point, the round, who gave way, and to whom it says."""

    point: str
    round: int
    name: str
    to: tuple[str, ...]


def settled(debate: Debate) -> tuple[Settled, ...]:
    """Give what was conceded: in `CONCEDED` lines, and by those who came to AGREE after having contested a point.

    What somebody concedes again in a later round was settled in the first.
    """
    found: dict[tuple[str, frozenset[str]], Settled] = {}
    lasts: dict[
        str, tuple[int, Spoken]
    ] = {}  # what each said when it spoke last: it may have been absent since
    for now in debate.rounds:
        for one in now.spoken:
            given: list[tuple[str, tuple[str, ...]]] = [
                (point, (debate.named(to) or to,)) for to, point in one.said.conceded
            ]
            number, last = lasts.get(one.name, (0, one))
            lasts[one.name] = (now.number, one)
            if one.verdict == "AGREE" and last.verdict in ("DISAGREE", "PARTIAL"):
                to = tuple(dict.fromkeys(who for _, names in given for who in names))
                given.append((last.said.verdict.reason or f"the synthesis of round {number - 1}", to))
            for point, names in given:
                found.setdefault((one.name, words_of(point)), Settled(point, now.number, one.name, names))
    return tuple(found.values())


def distance(one: str, other: str) -> float:
    """Give how far two positions are apart, from 0 (the same words) to 1 (none in common): Jaccard's distance."""
    mine, yours = words_of(one), words_of(other)
    return 1 - len(mine & yours) / len(mine | yours) if mine | yours else 0.0


def most_divergent(debate: Debate, number: int, reader: str, most: int) -> tuple[str, ...]:
    """Give the names of the others whose positions a reader is shown, at most `most`.

    Those who did not AGREE come first, and among equals those whose words are farthest from the reader's own.
    """
    own = debate.held_before(reader, number)
    others = [
        one.name for one in debate.voices if one.name != reader and debate.held_before(one.name, number)
    ]
    if len(others) <= most:
        return tuple(others)
    now = debate.rounds[number - 1]

    def key(name: str) -> tuple[bool, float, int]:
        spoken = now.of(name)
        agrees = spoken is not None and spoken.verdict == "AGREE"
        return agrees, -distance(own, debate.held_before(name, number)), others.index(name)

    return tuple(sorted(others, key=key)[:most])


def cut(text: str, limit: int = SHOWN) -> str:
    """Give a position as others are shown it: at most `limit` characters, the cut marked."""
    text = text.strip()
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
