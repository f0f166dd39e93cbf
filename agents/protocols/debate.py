"""debate: all answer one question at once, then each other, round by round, until they agree or say what is left.

The rules
---------
One to ten debaters; the session is convened by a human or an agent, who asks, times and records, and has no vote
(`moot debate`). In round 1 everybody writes a `[POSITION]` that nobody else sees: the ledger holds its hash until
all are in. Then all open. In later rounds everybody writes a `[REBUTTAL]`: critiques, defense, updated position,
and a verdict on the synthesis of the round before: AGREE, DISAGREE or PARTIAL. One without a verdict is asked for
it once; then it is UNPARSED, which is no consent. The convener names in `[ABSENT]` who gave nothing, and why; an
absent debater keeps its last position and has no verdict in that round.

When a round is over the convener writes the `[RECAP]`, and the moderator the `[SYNTHESIS]`. The moderator is one of
the debaters, with a position of its own, or the human; where there is none, or it gave nothing, the convener
lists what was said. A round needs one answer that is not the moderator's, or the debate has FAILED.

    phase      takes                    by                   goes on to
    positions  [POSITION]               a debater            opening, when all are in or absent
    opening    nothing: the seals open                       recap
    rebuttals  [REBUTTAL]               a debater            recap, when all are in or absent
    recap      [RECAP]                  the convener         synthesis
    synthesis  [SYNTHESIS]              moderator, convener  rebuttals (the next round), report
    report     [REPORT]                 the convener         done
    (any)      [ABSENT]                 the convener         what follows when those named are out

The last round is the one in which every active debater agrees; or the one of `ROUNDS`; or the second in a row in
which no verdict and no position moved. A convener that is silent past three time-outs leaves the session INCOMPLETE.

Source of the rules: seed `PK stage`, Steps 2 to 6, Error Handling.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...parsers.frames import digest
from ...parsers.names import nearest
from ...parsers.position import OPENING_FORM, REBUTTAL_FORM
from ...parsers.seats import Prompt, Seat
from ...parsers.verdict import ASKED, UNPARSED
from . import unsealed
from .events import (
    Close,
    Effect,
    Event,
    IllFormed,
    Lost,
    Move,
    Notify,
    Posted,
    Rule,
    Seal,
    Ticked,
    Unsealed,
    quoted,
)
from .opening import Opening

NAME = "debate"
SHORT = "deb"
RULES = 1
ROLES = ("DEBATER", "CONVENER")
TAGS = ("POSITION", "REBUTTAL", "ABSENT", "RECAP", "SYNTHESIS", "REPORT", *ROLES)
MAX_DEBATERS = 10
MAX_ROUNDS = 10
DEFAULT_ROUNDS = 3
MAX_TURNS = MAX_ROUNDS * (3 * MAX_DEBATERS + 3)  # each asked twice and then absent; nothing else repeats
STILL_ROUNDS = 2

POSITIONS, OPENING, REBUTTALS, RECAP = "positions", "opening", "rebuttals", "recap"
SYNTHESIS, REPORT = "synthesis", "report"
NO_QUORUM, DONE, FAILED, INCOMPLETE = "no-quorum", "done", "failed", "incomplete"
HUMAN = "HUMAN"
_DUE = {
    POSITIONS: "POSITION", REBUTTALS: "REBUTTAL", RECAP: "RECAP", SYNTHESIS: "SYNTHESIS", REPORT: "REPORT",
}  # fmt: skip
_CONVENERS = ("ABSENT", "RECAP", "REPORT")
_YEAR_MS = 365 * 86_400_000

seeds, copies, keeps_apart = unsealed.seeds, unsealed.copies, unsealed.keeps_apart


class Said(NamedTuple):
    """One debater's answer of one round: where it stands, its verdict, whether its position moved."""

    round: int
    name: str
    block: str
    sealed: str = ""
    text_block: str = ""  # where the text stands openly: nowhere while it is sealed
    verdict: str = ""
    moved: bool = True
    again: str = ""  # the block that was asked for because the first one had no verdict


class State(NamedTuple):
    """Where a debate stands: the round, who is still to answer, and all that was said so far."""

    phase: str = POSITIONS
    turns: int = 0
    round: int = 1
    movers: tuple[str, ...] = ()
    since_ms: int = 0
    reminders: int = 0
    said: tuple[Said, ...] = ()
    absent: tuple[tuple[int, str, str], ...] = ()  # (round, name, why)
    asked_again: tuple[str, ...] = ()
    positions: tuple[tuple[str, str], ...] = ()  # a hash of each debater's latest: whether it moved
    recaps: tuple[tuple[int, str], ...] = ()  # (round, block)
    syntheses: tuple[tuple[int, str], ...] = ()  # (round, block)
    report: str = ""  # its block
    ending: str = ""  # consensus, rounds, still


def state_of(values: Sequence[Any]) -> State:
    """Give a state back from its values, whose tuples are plain."""
    state = State._make(values)
    return state._replace(said=tuple(Said(*one) for one in state.said))


Answer = tuple[State, tuple[Effect, ...]]

# -- the opening --------------------------------------------------------------------------------------


def seats(prompt: Prompt) -> tuple[Seat, ...]:
    """Raise IllFormed: a debate is begun by its own command, which knows how to ask each participant."""
    raise IllFormed(
        "a debate asks its participants itself", f"run `moot debate {quoted(prompt.task or 'TOPIC')}`"
    )


def options(prompt: Prompt) -> tuple[tuple[str, str], ...]:  # noqa: ARG001
    """Give nothing: `moot debate` writes the opening."""
    return ()


def begin(opening: Opening, at_ms: int) -> State:
    """Give the first state; IllFormed for a number of debaters or rounds, or a moderator, that cannot be."""
    names = debaters(opening)
    if not 1 <= len(names) <= MAX_DEBATERS:
        raise IllFormed(f"a debate has 1 to {MAX_DEBATERS} debaters, not {len(names)}", "change the roster")
    if not 1 <= rounds_of(opening) <= MAX_ROUNDS:
        raise IllFormed(f"a debate has 1 to {MAX_ROUNDS} rounds", "give `--rounds`")
    if moderator(opening) not in ("", HUMAN, *names):
        raise IllFormed(
            f"{quoted(moderator(opening))} moderates and takes no part", "name a debater or HUMAN"
        )
    return State(since_ms=at_ms, movers=names)


def debaters(opening: Opening) -> tuple[str, ...]:
    """Give the names of all who debate, in the order of the roster."""
    return tuple(seat.name for seat in opening.roster if seat.role == "DEBATER")


def moderator(opening: Opening) -> str:
    """Give who writes the syntheses; nothing where the convener lists what was said."""
    return opening.option("MODERATOR")


def _readers(opening: Opening, names: Sequence[str]) -> tuple[str, ...]:
    """Give those of the names that read mail: the convener asks the others itself."""
    known = (HUMAN, *(word.strip() for word in opening.option("READERS").split(",")))
    return tuple(name for name in names if name in known)


def rounds_of(opening: Opening) -> int:
    """Give the number of rounds at most; 0 where the opening gives no number."""
    digits = opening.option("ROUNDS")
    return int(digits) if re.fullmatch(r"[0-9]{1,3}", digits) else 0


# -- blocks -------------------------------------------------------------------------------------------


def step(opening: Opening, state: State, event: Event) -> Answer:
    """Answer one event. An illegal move is an effect (a Rule that refuses), never an exception."""
    if isinstance(event, Ticked):
        return _ticked(opening, state, event)
    if isinstance(event, Unsealed):
        return _unsealed(opening, state, event)
    if isinstance(event, Lost):
        return _lost(opening, state, event)
    code, why = _refusal(opening, state, event)
    if code:
        return state, (
            Rule("refused", code, why, state.movers),
            Notify(_readers(opening, (event.author or HUMAN,))),
        )
    return _ANSWERS[event.tag](opening, state, event)


def _refusal(opening: Opening, state: State, event: Posted) -> tuple[str, str]:
    """Give code and sentence of the first rule that a block breaks; empty where it breaks none."""
    seat, due = opening.seat(event.author), _DUE.get(state.phase, "")
    if state.phase in (DONE, FAILED, INCOMPLETE, NO_QUORUM):
        return "ended", f"{opening.session} is {state.phase.upper()}: begin another with `moot debate`"
    if not event.author:
        return "no-author", f"who speaks? write [{event.tag or due} - NAME]"
    convenes = event.author == HUMAN or (seat is not None and seat.role == "CONVENER")
    if seat is None and not convenes:
        near = nearest(event.author, opening.names)
        meant = f"did you mean {near}? " if near else ""
        return "not-in-session", f"{quoted(event.author)} takes no part; {meant}{_and(opening.names)} do"
    if event.tag in ROLES or event.tag not in TAGS:
        said = f"[{quoted(event.tag)}]" if event.tag else "a block without a tag"
        return "unknown-tag", f"debate takes no {said}" + (f": write [{due} - {event.author}]" if due else "")
    if event.tag != due and not (event.tag == "ABSENT" and state.movers):
        return "not-now", f"[{event.tag}]: round {state.round} is at {state.phase}"
    if event.tag in _CONVENERS and not convenes:
        return (
            "wrong-role",
            f"{event.author} debates: [{event.tag}] is for whoever convened {opening.session}",
        )
    if event.tag == "SYNTHESIS" and not convenes and event.author != moderator(opening):
        return "wrong-role", f"{event.author} does not moderate {opening.session}"
    if event.tag in ("POSITION", "REBUTTAL"):
        return _check_answer(opening, state, event)
    strangers = [name for name, _ in event.says if name not in state.movers] if event.tag == "ABSENT" else []
    if event.tag == "ABSENT" and (strangers or not event.says):
        who = quoted(strangers[0]) if strangers else "nobody"
        return "not-asked", f"{who} is named; {_and(state.movers)} are waited for: write `- NAME: why`"
    return ("empty", "say something") if event.empty else ("", "")


def _check_answer(opening: Opening, state: State, event: Posted) -> tuple[str, str]:
    if event.author not in debaters(opening):
        return "wrong-role", f"{event.author} takes no side in {opening.session}"
    if event.author not in state.movers:
        return "answered", f"{event.author} has answered in round {state.round}"
    if event.sealed and event.sealed in {one.sealed for one in state.said}:
        return "copied-seal", f"the ledger holds that seal already: {event.author} seals a text of its own"
    return ("empty", "say something") if event.empty else ("", "")


def _counted(
    opening: Opening, state: State, after: State, at_ms: int, code: str, what: str, *effects: Effect
) -> Answer:
    """Count one block, and say who moves next where that changed."""
    after = after._replace(turns=state.turns + 1, since_ms=at_ms, reminders=0)
    called = after.movers if (after.phase, after.round) != (state.phase, state.round) else ()
    called = _readers(opening, called)
    rule = Rule("accepted", code, f"{what}; {_next(after)}", after.movers)
    return after, (rule, *effects, *((Notify(called),) if called else ()))


def _position(opening: Opening, state: State, event: Posted) -> Answer:
    said = Said(1, event.author, event.block, event.sealed, "" if event.sealed else event.block)
    after = state._replace(said=(*state.said, said), movers=_without(state.movers, event.author))
    after = after if event.sealed else _held(after, event.author, event.says.position)
    what = f"{event.author} takes a position" + ("" if event.sealed else " openly, so it was not sealed")
    return _counted(
        opening, state, _over(after), event.at_ms, "position" if event.sealed else "position-open", what
    )


def _rebuttal(opening: Opening, state: State, event: Posted) -> Answer:
    name, word = event.author, event.says.verdict.word
    first = next((one for one in state.said if (one.round, one.name) == (state.round, name)), None)
    position = event.says.position
    moved = bool(position) and dict(state.positions).get(name) != _hash(position)
    if first is None and not word:
        said = Said(state.round, name, event.block, "", event.block, "", moved)
        after = state._replace(said=(*state.said, said), asked_again=(*state.asked_again, name))
        after = _held(after, name, position)
        why = f"{name}'s rebuttal gives no verdict; write [REBUTTAL - {name}] with one line `VERDICT: AGREE`"
        answer = _counted(
            opening, state, after, event.at_ms, "restate", f"{why}, DISAGREE: why, or PARTIAL: this / that"
        )
        return answer[0], (*answer[1], Notify(_readers(opening, (name,))))
    if first is None:
        said = Said(state.round, name, event.block, "", event.block, word, moved)
    else:
        said = first._replace(verdict=word or UNPARSED, again=event.block, moved=first.moved or moved)
    after = _held(_recorded(state, said), name, position)
    after = _over(after._replace(movers=_without(state.movers, name)))
    what = f"{name} says {said.verdict}" if said.verdict != UNPARSED else f"{name}'s verdict is UNPARSED"
    return _counted(opening, state, after, event.at_ms, "rebuttal", what)


def _recorded(state: State, said: Said) -> State:
    kept = {(one.round, one.name): one for one in state.said} | {(said.round, said.name): said}
    return state._replace(said=tuple(kept.values()))


def _held(state: State, name: str, position: str) -> State:
    """Note a debater's position, if it gave one, so that the next can be compared with it."""
    if not position:
        return state
    return state._replace(positions=tuple({**dict(state.positions), name: _hash(position)}.items()))


def _hash(position: str) -> str:
    """Give a hash of a position's words: case, markup and blanks are no movement."""
    return digest(" ".join(re.findall(r"\w+", position.casefold())).encode("utf-8", "replace"))


def _absent(opening: Opening, state: State, event: Posted) -> Answer:
    after, names = state, tuple(name for name, _ in event.says)
    for name, why in event.says:
        first = next((one for one in state.said if (one.round, one.name) == (state.round, name)), None)
        if state.phase == SYNTHESIS:
            pass  # the moderator's silence costs it neither its answer nor its verdict
        elif first is not None:  # it answered, and was asked again for a verdict
            after = _recorded(after, first._replace(verdict=UNPARSED))
        else:
            after = after._replace(absent=(*after.absent, (state.round, name, why)))
    after = after._replace(movers=tuple(name for name in state.movers if name not in names))
    if state.phase != SYNTHESIS:
        after = _over(after)
    what = f"{_and(names)} gave nothing: {event.says[0][1] if len(names) == 1 else 'each says why'}"
    return _counted(opening, state, after, event.at_ms, "absent", what)


def _over(state: State) -> State:
    """Go on where nobody is waited for any more: the seals open, or the round is counted."""
    if state.movers:
        return state
    sealed = [one for one in state.said if one.sealed and not one.text_block]
    return state._replace(phase=OPENING) if sealed else state._replace(phase=RECAP)


def _recap(opening: Opening, state: State, event: Posted) -> Answer:
    active = {one.name for one in state.said if one.round == state.round}
    mover = moderator(opening)
    movers = (mover,) if mover == HUMAN or mover in active else ()
    after = state._replace(phase=SYNTHESIS, movers=movers, recaps=(*state.recaps, (state.round, event.block)))
    told = Notify(_readers(opening, movers), block=True)  # the others get the synthesis: a recap has names
    return _counted(opening, state, after, event.at_ms, "recap", f"round {state.round} is told", told)


def _synthesis(opening: Opening, state: State, event: Posted) -> Answer:
    ending = ending_of(opening, state)
    names = debaters(opening)
    after = state._replace(syntheses=(*state.syntheses, (state.round, event.block)), movers=(), ending=ending)
    if ending:
        after = after._replace(phase=REPORT)
    else:
        after = after._replace(phase=REBUTTALS, round=state.round + 1, movers=names, asked_again=())
    what = f"round {state.round} of {rounds_of(opening)} has its synthesis"
    what += {"consensus": ": all agree", "still": ": nothing moved any more"}.get(ending, "")
    return _counted(
        opening, state, after, event.at_ms, "synthesis", what, Notify(_readers(opening, names), block=True)
    )


def _report(opening: Opening, state: State, event: Posted) -> Answer:
    after = state._replace(phase=DONE, turns=state.turns + 1, since_ms=event.at_ms, report=event.block)
    what = f"{_outcome(opening, after)}; {opening.session} is DONE"
    return after, (
        Rule("accepted", "report", what),
        Notify(_readers(opening, (*opening.names, HUMAN))),
        Close(DONE),
    )


_ANSWERS = {
    "POSITION": _position,
    "REBUTTAL": _rebuttal,
    "ABSENT": _absent,
    "RECAP": _recap,
    "SYNTHESIS": _synthesis,
    "REPORT": _report,
}

# -- what a round comes to ----------------------------------------------------------------------------


def verdicts(state: State, number: int) -> dict[str, str]:
    """Give the verdict of each debater that answered in a round."""
    return {one.name: one.verdict for one in state.said if one.round == number}


def ending_of(opening: Opening, state: State) -> str:
    """Say why the round that is over is the last one: consensus, rounds or still; nothing where it is not."""
    given = verdicts(state, state.round)
    if state.round > 1 and given and set(given.values()) == {"AGREE"}:
        return "consensus"
    if state.round >= rounds_of(opening):
        return "rounds"
    last = range(state.round - STILL_ROUNDS + 1, state.round + 1)
    return "still" if all(_is_still(state, number) for number in last) else ""


def _is_still(state: State, number: int) -> bool:
    """Tell whether everybody said in a round what it said in the one before: same verdict, same position."""
    if number < 3:  # verdicts begin with round 2, so the third is the first that can repeat one
        return False
    said = [one for one in state.said if one.round == number]
    return verdicts(state, number) == verdicts(state, number - 1) and not any(one.moved for one in said)


def _has_quorum(opening: Opening, state: State) -> bool:
    return any(name != moderator(opening) for name in verdicts(state, state.round))


# -- seals --------------------------------------------------------------------------------------------


def seals(opening: Opening, state: State) -> tuple[Seal, ...]:  # noqa: ARG001
    """Give the positions that are sealed still."""
    if state.phase not in (POSITIONS, OPENING):
        return ()
    closed = (one for one in state.said if one.sealed and not one.text_block)
    return tuple(Seal(one.sealed, one.block, one.name, "POSITION") for one in closed)


def opens(state: State) -> bool:
    """Tell whether the seals open now: everybody is in, or absent."""
    return state.phase == OPENING


def open_part(state: State, event: Posted) -> str | None:
    """Give the lines that stay open in a position: none; a rebuttal is not sealed."""
    return "" if (state.phase, event.tag) == (POSITIONS, "POSITION") else None


def _unsealed(opening: Opening, state: State, event: Unsealed) -> Answer:  # noqa: ARG001
    """Note where a position stands openly now; when it was the last, the round is over."""
    said = next((one for one in state.said if one.sealed == event.sealed), None)
    if said is None:
        return state, ()
    after = _recorded(state, said._replace(text_block=event.posted.block))
    says = event.posted.says
    after = _over(_held(after, said.name, says.position if hasattr(says, "position") else ""))
    after = after._replace(since_ms=event.posted.at_ms)
    more = f"; {_next(after)}" if after.phase != OPENING else ""
    return after, (Rule("revealed", "position", f"{said.name}'s position is open{more}", after.movers),)


def _lost(opening: Opening, state: State, event: Lost) -> Answer:
    """Ask again for a position whose text is gone."""
    said = next((one for one in state.said if one.sealed == event.sealed), None)
    if said is None:
        return state, ()
    after = state._replace(
        phase=POSITIONS,
        said=tuple(one for one in state.said if one.sealed != event.sealed),
        movers=(*state.movers, said.name),
        since_ms=event.at_ms,
    )
    why = f"the sealed position of {said.name} is lost; {_next(after)}"
    return after, (Rule("lost", "position", why, after.movers), Notify(_readers(opening, (said.name,))))


# -- time ---------------------------------------------------------------------------------------------


def _ticked(opening: Opening, state: State, event: Ticked) -> Answer:
    """End a debate without quorum; tell the human of one that is silent, and end it after the third time-out."""
    if state.phase in (DONE, FAILED, INCOMPLETE) or event.at_ms < due_ms(opening, state):
        return state, ()
    if lacks_quorum(opening, state):
        external = (
            "nobody answered" if not verdicts(state, state.round) else "nobody but the moderator answered"
        )
        reasons = "; ".join(f"{name}: {why}" for number, name, why in state.absent if number == state.round)
        why = f"no quorum in round {state.round}: {external} ({reasons[:300]})"
        after = state._replace(phase=FAILED, movers=(), since_ms=event.at_ms)
        rule = Rule("closed", "no-quorum", f"{why}; {opening.session} has FAILED")
        return after, (rule, Notify(_readers(opening, (*opening.names, HUMAN))), Close(FAILED, why))
    after = state._replace(reminders=state.reminders + 1, since_ms=event.at_ms)
    silent = f"nothing was heard of {state.phase} for {opening.turn_timeout_s * (state.reminders + 1)} s"
    if state.reminders < 2:
        rule = Rule(
            "reminded", "silent", f"{silent}: `moot debate --resume {opening.session}` goes on", state.movers
        )
        return after, (rule, Notify(_readers(opening, (*state.movers, HUMAN))))
    rule = Rule("closed", "silent", f"{silent}: {opening.session} is INCOMPLETE")
    after = after._replace(phase=INCOMPLETE, movers=())
    return after, (rule, Notify(_readers(opening, (*opening.names, HUMAN))), Close(INCOMPLETE, silent))


def lacks_quorum(opening: Opening, state: State) -> bool:
    """Tell whether a round is over to which nobody but the moderator gave anything."""
    return state.phase == RECAP and not _has_quorum(opening, state)


def due_ms(opening: Opening, state: State) -> int:
    """Give the time, in milliseconds since 1970, at which a tick would be ruled on."""
    if lacks_quorum(opening, state):
        return 0
    return state.since_ms + (_YEAR_MS if state.phase == OPENING else opening.turn_timeout_s * 1000)


# -- what others are told -----------------------------------------------------------------------------


def _without(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return tuple(one for one in names if one != name)


def _and(names: Sequence[str]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"


def _next(state: State) -> str:
    if state.phase == OPENING:
        return "the positions open"
    due = f"[{_DUE.get(state.phase, '')}]"
    if not state.movers:
        return f"{due} is next"
    return f"round {state.round}: {_and(state.movers)} move{'s' * (len(state.movers) == 1)} next with {due}"


def _outcome(opening: Opening, state: State) -> str:
    where = f"round {state.round} of {rounds_of(opening)}"
    still = ": nothing moved any more" if state.ending == "still" else ""
    return f"consensus in {where}" if state.ending == "consensus" else f"no full consensus in {where}{still}"


def waiting_for(state: State) -> tuple[str, ...]:
    """Give the names of those whose move it is."""
    return tuple(state.movers)


def tag_for(opening: Opening, state: State, name: str) -> str:  # noqa: ARG001
    """Give the tag under which an answer counts now."""
    return _DUE.get(state.phase, "DEBATER")


def moves(opening: Opening, state: State, name: str) -> tuple[Move, ...]:
    """Give what the rules let a debater do now; nothing where it has to wait."""
    if name not in state.movers:
        return ()
    what = {
        POSITIONS: "your position, sealed until all are in",
        REBUTTALS: "your critiques, defense, updated position and verdict",
        SYNTHESIS: "your synthesis of this round",
    }
    at = f"--as {name} --in {opening.session}"
    return (
        Move(f"moot send {at} -", f"{what[state.phase]}; the prompt is in {_prompt(opening, state, name)}"),
    )


def _prompt(opening: Opening, state: State, name: str) -> str:
    return f"{opening.option('RUN')}/prompts/{name}-{state.phase}-{state.round}.md"


def how_to_answer(opening: Opening, state: State, name: str) -> str:  # noqa: ARG001
    """Say to a debater what its answer has to be."""
    form = {POSITIONS: OPENING_FORM, REBUTTALS: REBUTTAL_FORM}.get(state.phase)
    if form is not None:
        listed = "\n".join(f"{key}: {what}" for key, what in form)
        last = f"\n{ASKED}" if state.phase == REBUTTALS else ""
        return f"Answer with these four parts{', the verdict last' * bool(last)}:\n\n{listed}{last}"
    return "Answer with your synthesis: the strongest argument on each side, what could join them, what stays open."


def artifacts(state: State) -> tuple[str, ...]:  # noqa: ARG001 - the report lies in the debate's folder
    """Give nothing: the convener writes the report."""
    return ()


def artifact_in(body: str) -> str | None:  # noqa: ARG001
    """Give nothing."""
    return None


def final_status(opening: Opening, state: State, output: str) -> tuple[tuple[str, str], ...]:  # noqa: ARG001
    """Give the lines of the final status."""
    given = verdicts(state, state.round)
    votes = ", ".join(f"{name}={given.get(name) or 'ABSENT'}" for name in debaters(opening))
    report = f"{opening.option('RUN')}/report.md" if state.phase == DONE else "none"
    return (
        ("SKILL", NAME),
        ("STATUS", state.phase.upper()),
        ("TURNS", str(state.turns)),
        ("OUTPUT", report),
        ("DEBATERS", ", ".join(debaters(opening))),
        ("MODERATOR", moderator(opening) or "none"),
        ("ROUNDS", f"{state.round} of {rounds_of(opening)}"),
        ("ENDING", state.ending or "none"),
        ("CONSENSUS", "yes" if state.ending == "consensus" else "no"),
        ("VERDICTS", votes if state.round > 1 else "none"),
    )
