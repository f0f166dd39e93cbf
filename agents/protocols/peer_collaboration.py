"""peer-collaboration: two agents write one artifact, turn by turn, until both say DONE.

The rules
---------
PEER_A moves first, and turns alternate. Neither peer has authority over the other.

A turn with `[DONE]` proposes the end. If the other peer's next turn says `[DONE]` too, the session is
DONE; if it does not, the proposal lapses and work goes on. A `[DONE]` that comes with a changed
artifact is a new proposal, since nobody has agreed to the change yet.

At `max_turns` (20) the session ends INCOMPLETE; a confirmation that is the last allowed turn counts.
A peer may also give up with `[INCOMPLETE]` and a reason, in its turn. A peer that is silent past the
turn time-out is reminded, then the human is told, then the session ends INCOMPLETE.

    phase       a turn       with [DONE]   [DONE], artifact changed   with [INCOMPLETE]
    working     working      proposed      proposed                   ends INCOMPLETE
    proposed    working      ends DONE     proposed                   ends INCOMPLETE

A session that has ended takes nothing any more. A block that names no author is taken where its header
names a role, since only one peer can have written that.

Source of the rules: seed `peer-collaboration`, Protocol, Termination, Safety, Final Status Format.
"""

from typing import NamedTuple

from ...parsers.artifact import artifact_of
from ...parsers.names import nearest
from ...parsers.seats import Prompt, Seat
from . import unsealed
from .events import Close, Effect, Event, IllFormed, Move, Notify, Posted, Rule, Ticked, quoted
from .opening import Opening

NAME = "peer-collaboration"
SHORT = "peer"
RULES = 1
ROLES = ("PEER_A", "PEER_B")
TAGS = (*ROLES, "DONE", "INCOMPLETE")
MAX_TURNS = 20
artifact_in = artifact_of

# Nothing is sealed among peers, and an opening's own fields are enough.
options, seeds, seals, opens = unsealed.options, unsealed.seeds, unsealed.seals, unsealed.opens
open_part, copies, keeps_apart = unsealed.open_part, unsealed.copies, unsealed.keeps_apart

WORKING, PROPOSED, DONE, INCOMPLETE = "working", "proposed", "done", "incomplete"

# (phase, what a turn says) -> (code of the ruling, the phase that follows)
TABLE = {
    (WORKING, "turn"): ("turn", WORKING),
    (WORKING, "done"): ("proposed", PROPOSED),
    (WORKING, "done, changed"): ("proposed", PROPOSED),
    (WORKING, "incomplete"): ("gave-up", INCOMPLETE),
    (PROPOSED, "turn"): ("lapsed", WORKING),
    (PROPOSED, "done"): ("confirmed", DONE),
    (PROPOSED, "done, changed"): ("proposed", PROPOSED),
    (PROPOSED, "incomplete"): ("gave-up", INCOMPLETE),
}

SENTENCES = {
    "turn": "{mover} moves next",
    "proposed": "{author} proposes DONE; {mover} moves next: confirm with [DONE], or work on",
    "lapsed": "the proposed DONE lapses; {mover} moves next",
    "confirmed": "both peers say DONE: {session} is DONE",
    "gave-up": "{author} gives up: {session} is INCOMPLETE",
    "max-turns": "the last of max_turns {max_turns}: {session} is INCOMPLETE",
}


class State(NamedTuple):
    """Where a session stands: whose move it is, since when, and what the last artifact was."""

    phase: str = WORKING
    turns: int = 0
    mover: str = ""
    since_ms: int = 0
    reminders: int = 0
    artifact: str = ""
    artifact_block: str = ""


state_of = State._make


def seats(prompt: Prompt) -> tuple[Seat, ...]:
    """Give both peers their roles: those that the prompt names, else in the order of naming.

    Raises IllFormed where there are not exactly two.
    """
    if len(prompt.seats) != 2:
        named = ", ".join(seat.name for seat in prompt.seats) or "nobody"
        raise IllFormed(
            f"peer-collaboration needs two agents, the prompt names {named}", "name two, as in `CC + CX.`"
        )
    first, second = prompt.seats
    if first.name == second.name:
        raise IllFormed(f"{first.name} cannot be both peers", "name two agents, as in `CC + CX.`")
    for seat in prompt.seats:
        if seat.role not in ("", *ROLES):
            raise IllFormed(
                f"{seat.name} is a {seat.role}, and peers are PEER_A and PEER_B", "add `CC + CX.`"
            )
    if first.role == "PEER_B" or second.role == "PEER_A":
        first, second = second, first
    if first.role == "PEER_B" or second.role == "PEER_A":
        raise IllFormed("both agents have the same role", "write `CC is PEER_A, CX is PEER_B.`")
    return Seat(first.name, "PEER_A"), Seat(second.name, "PEER_B")


def begin(opening: Opening, at_ms: int) -> State:
    """Give the state after the opening: PEER_A moves. Raises IllFormed for a roster that is not two peers."""
    if sorted(seat.role for seat in opening.roster) != list(ROLES):
        raise IllFormed("a peer-collaboration has one PEER_A and one PEER_B", "add `CC + CX.`")
    return State(mover=_holder(opening, "PEER_A"), since_ms=at_ms)


def step(opening: Opening, state: State, event: Event) -> tuple[State, tuple[Effect, ...]]:
    """Answer one event. An illegal move is an effect (a Rule that refuses), never an exception."""
    if isinstance(event, Ticked):
        return _ticked(opening, state, event)
    if not isinstance(event, Posted):
        return state, ()  # nothing is sealed among peers
    if not event.author and event.tag in ROLES:
        event = event._replace(author=_holder(opening, event.tag))
    refusal = _refusal(opening, state, event)
    if refusal is not None:
        return state, (refusal, Notify((event.author or state.mover,)))
    return _turn(opening, state, event)


def _refusal(opening: Opening, state: State, event: Posted) -> Rule | None:
    """Give the first rule that a block breaks, or None."""
    peers, mover = " and ".join(opening.names), state.mover
    seat = opening.seat(event.author)
    why = code = ""
    if not mover:
        code, why = "ended", f"{opening.session} is {state.phase.upper()}: begin another with `moot start`"
    elif not event.author:
        code, why = "no-author", f"who speaks? write [{event.tag or 'ROLE'} - NAME]; {mover} moves next"
    elif seat is None:
        near = nearest(event.author, opening.names)
        meant = f"did you mean {near}? {peers}" if near else peers
        who = quoted(event.author)
        code, why = "not-in-session", f"{who} takes no part; {meant} do, and {mover} moves next"
    elif event.tag and event.tag not in TAGS:
        meant = nearest(event.tag, (seat.role, "DONE", "INCOMPLETE")) or seat.role
        known = f"peer-collaboration knows no [{quoted(event.tag)}]"
        code, why = "unknown-tag", f"{known}: write [{meant} - {seat.name}]; {mover} moves next"
    elif (role := event.tag if event.tag in ROLES else event.role) and role != seat.role:
        code, why = "wrong-role", f"{seat.name} is {seat.role}, not {quoted(role)}; {mover} moves next"
    elif seat.name != mover:
        code, why = "out-of-turn", f"{mover} moves next, not {seat.name}"
    elif {"DONE", "INCOMPLETE"} <= set(event.tokens):
        code, why = "contradiction", f"[DONE] and [INCOMPLETE] in one turn: {mover} writes one of them"
    elif event.empty:
        code, why = "empty", f"an empty turn says nothing: {mover} writes what it adds and why"
    return Rule("refused", code, why, waiting_for(state)) if code else None


def _turn(opening: Opening, state: State, event: Posted) -> tuple[State, tuple[Effect, ...]]:
    """Count a legal turn, by the table."""
    changed = bool(event.artifact) and event.artifact != state.artifact
    says = "turn"
    if "INCOMPLETE" in event.tokens:
        says = "incomplete"
    elif "DONE" in event.tokens:
        says = "done, changed" if changed else "done"
    code, phase = TABLE[state.phase, says]
    turns = state.turns + 1
    if turns >= opening.max_turns and phase in (WORKING, PROPOSED):
        code, phase = "max-turns", INCOMPLETE
    mover = next(name for name in opening.names if name != event.author)
    ended = phase in (DONE, INCOMPLETE)
    after = State(
        phase=phase,
        turns=turns,
        mover="" if ended else mover,
        since_ms=event.at_ms,
        artifact=event.artifact or state.artifact,
        artifact_block=event.block if event.artifact else state.artifact_block,
    )
    sentence = SENTENCES[code].format(
        mover=mover, author=event.author, session=opening.session, max_turns=opening.max_turns
    )
    rule = Rule("accepted", code, f"turn {turns} accepted, {sentence}", () if ended else (mover,))
    if not ended:
        return after, (rule, Notify((mover,), block=True))
    reason = {"gave-up": event.reason or "no reason given", "max-turns": f"max_turns {opening.max_turns}"}
    return after, (
        rule,
        Notify((mover,), block=True),
        Notify(opening.names),
        Close(phase, reason.get(code, "")),
    )


def _ticked(opening: Opening, state: State, event: Ticked) -> tuple[State, tuple[Effect, ...]]:
    """Remind a silent peer, then tell the human, then end the session; each after one more time-out."""
    if not state.mover or event.at_ms < due_ms(opening, state):
        return state, ()
    waited = f"{opening.turn_timeout_s * (state.reminders + 1)} s"
    after = state._replace(reminders=state.reminders + 1, since_ms=event.at_ms)
    silent = f"{state.mover} has been silent for {waited}"
    if state.reminders == 0:
        rule = Rule("reminded", "silent", f"{silent}: it is {state.mover}'s move", (state.mover,))
        return after, (rule, Notify((state.mover,)))
    if state.reminders == 1:
        rule = Rule("reminded", "human", f"{silent}: wake it, or the session ends", (state.mover,))
        return after, (rule, Notify((state.mover, "HUMAN")))
    rule = Rule("closed", "silent", f"{silent}: {opening.session} is INCOMPLETE")
    after = after._replace(phase=INCOMPLETE, mover="")
    return after, (rule, Notify((*opening.names, "HUMAN")), Close(INCOMPLETE, silent))


def due_ms(opening: Opening, state: State) -> int:
    """Give the time, in milliseconds since 1970, at which a tick would be ruled on."""
    return state.since_ms + opening.turn_timeout_s * 1000


def _holder(opening: Opening, role: str) -> str:
    """Give the name of the peer that has a role."""
    return next(seat.name for seat in opening.roster if seat.role == role)


def waiting_for(state: State) -> tuple[str, ...]:
    """Give the names of those whose move it is."""
    return (state.mover,) if state.mover else ()


def moves(opening: Opening, state: State, name: str) -> tuple[Move, ...]:
    """Give what the rules let an agent do now; nothing where it has to wait."""
    if name not in waiting_for(state):
        return ()
    at = f"--as {name} --in {opening.session}"
    turn = f"your turn, {state.turns + 1} of {opening.max_turns}; the body on standard input"
    if state.phase == PROPOSED:
        return (
            Move(f"moot done {at}", "confirm DONE: the session ends"),
            Move(f"moot send {at} -", f"{turn}: work on, and say why (the proposed DONE lapses)"),
        )
    return (
        Move(f"moot send {at} -", f"{turn}: what you change, why, then `Updated:` and the whole artifact"),
        Move(f"moot done {at} -", "the same, and propose DONE"),
    )


def tag_for(opening: Opening, state: State, name: str) -> str:  # noqa: ARG001 - the phase does not matter
    """Give the tag of an agent's turn: its role."""
    seat = opening.seat(name)
    return seat.role if seat is not None else ""


def how_to_answer(opening: Opening, state: State, name: str) -> str:  # noqa: ARG001 - the same for both
    """Say to an agent that runs headless what its answer has to be."""
    none_yet = "" if state.artifact_block else "\n\nThere is no artifact yet."
    return (
        "Answer with the text of your turn and nothing else: what you change and why, then a line that says"
        " only `Updated:` and below it the whole artifact. When you think that it is complete, add `[DONE]` as"
        " the last line, alone. If the other agent has proposed that (phase: proposed) and you agree, answer"
        f" `[DONE]`.{none_yet}"
    )


def artifacts(state: State) -> tuple[str, ...]:
    """Give the block that holds the last artifact."""
    return (state.artifact_block,) if state.artifact_block else ()


def final_status(opening: Opening, state: State, output: str) -> tuple[tuple[str, str], ...]:
    """Give the lines of the final status, as the seed prints them; `output` is a path or `none`."""
    return (
        ("SKILL", NAME),
        ("STATUS", state.phase.upper()),
        ("TURNS", str(state.turns)),
        ("OUTPUT", output),
        ("PARTICIPANTS", ", ".join(f"{seat.name} ({seat.role})" for seat in opening.roster)),
    )
