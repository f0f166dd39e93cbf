"""compete: the record of one bounded proposal competition, from its opening to its selection.

The rules
---------
The work itself is done in a folder of its own (`moot compete`); the ledger holds what came of it, with hashes
and paths. Whoever runs it writes one `[STAGE]` block a stage, in their order, with a line for each candidate
that is still in: what it gave, or how it failed. Who failed takes no part in the stages that follow. At the end,
or as soon as nobody is left, `[SELECTION]` names those chosen, none of whom has failed.

    phase      takes         goes on to
    a stage    [STAGE]       the next stage; selection after the last, or where every candidate has failed
    selection  [SELECTION]   done, or failed where nobody was chosen

Candidates give evidence (`[_]`); nothing here accepts work. A run that is silent past three time-outs was
killed: it ends INCOMPLETE, and its folder can be gone on with all the same.

Source of the rules: seed `compete-cron-builder`, Three-Way Challenge and Runtime Rules.
"""

import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...parsers.seats import Prompt, Seat
from . import unsealed
from .events import Close, Effect, Event, IllFormed, Move, Notify, Posted, Rule, Ticked, quoted
from .opening import Opening

NAME = "compete"
SHORT = "run"
RULES = 1
ROLES = ("MASTER", "CANDIDATE")
TAGS = (*ROLES, "STAGE", "SELECTION")
STAGES = (
    "proposal",
    "initial_verification",
    "peer_review_round_1",
    "revision_round_1",
    "peer_review_round_2",
    "repair_synthesis",
)
MAX_TURNS = len(STAGES) + 1
SELECTION, DONE, FAILED, INCOMPLETE = "selection", "done", "failed", "incomplete"
HUMAN = "HUMAN"

# Nothing is sealed in a run, and an opening's own fields are enough.
options, seeds, seals, opens = unsealed.options, unsealed.seeds, unsealed.seals, unsealed.opens
open_part, copies, keeps_apart = unsealed.open_part, unsealed.copies, unsealed.keeps_apart


class State(NamedTuple):
    """Where a run stands: the stage that is due, and who has failed, each with the stage and the reason."""

    phase: str = STAGES[0]
    turns: int = 0
    since_ms: int = 0
    reminders: int = 0
    failed: tuple[tuple[str, str], ...] = ()
    selected: tuple[str, ...] = ()
    mode: str = ""


def state_of(values: Sequence[Any]) -> State:
    """Give a state back from its values, whose tuples are plain."""
    return State._make(values)


def seats(prompt: Prompt) -> tuple[Seat, ...]:
    """Raise IllFormed: a run is begun by its own command, which needs more than a prompt says."""
    raise IllFormed(
        "compete is no session of agents that wait", f"run `moot compete --task {quoted(prompt.task)}`"
    )


def begin(opening: Opening, at_ms: int) -> State:
    """Give the first state; IllFormed where there is no candidate."""
    if not _candidates(opening):
        raise IllFormed("a run has candidates", "begin it with `moot compete`")
    return State(since_ms=at_ms)


def step(opening: Opening, state: State, event: Event) -> tuple[State, tuple[Effect, ...]]:
    """Answer one event. An illegal move is an effect (a Rule that refuses), never an exception."""
    if isinstance(event, Ticked):
        return _ticked(opening, state, event)
    if not isinstance(event, Posted):
        return state, ()  # nothing is sealed in a run
    code, why = _refusal(opening, state, event)
    if code:
        return state, (Rule("refused", code, why), Notify((event.author or HUMAN,)))
    turns = state.turns + 1
    after = state._replace(turns=turns, since_ms=event.at_ms, reminders=0)
    if event.tag == "STAGE":
        failed = tuple(
            (line.candidate, f"{state.phase}: {line.failure}") for line in event.says.lines if line.failure
        )
        alive = len(event.says.lines) - len(failed)
        after = after._replace(
            failed=(*state.failed, *failed), phase=_following(state.phase) if alive else SELECTION
        )
        why = f"stage {turns}, {state.phase}: {alive} of {len(_candidates(opening))} candidates are in"
        return after, (Rule("accepted", "stage", f"{why}; {after.phase} is next"),)
    chosen = event.says.selected
    phase = DONE if chosen else FAILED
    after = after._replace(phase=phase, selected=chosen, mode=event.says.mode)
    what = f"{', '.join(chosen)} chosen by {quoted(event.says.mode)}" if chosen else "no valid candidate"
    rule = Rule("accepted", "selection", f"{what}; {opening.session} is {phase.upper()}")
    return after, (rule, Notify((HUMAN,)), Close(phase, "" if chosen else "no valid candidate"))


def _refusal(opening: Opening, state: State, event: Posted) -> tuple[str, str]:
    """Give code and sentence of the first rule that a block breaks; empty where it breaks none."""
    seat = opening.seat(event.author)
    due = "SELECTION" if state.phase == SELECTION else "STAGE"
    if state.phase in (DONE, FAILED, INCOMPLETE):
        return "ended", f"{opening.session} is {state.phase.upper()}: begin another with `moot compete`"
    if event.author != HUMAN and (seat is None or seat.role != "MASTER"):
        return "wrong-role", f"{quoted(event.author or 'nobody')} does not run {opening.session}"
    if event.tag != due:
        return "not-now", f"{state.phase} is due: write [{due}]"
    left = [name for name in _candidates(opening) if name not in dict(state.failed)]
    if event.tag == "STAGE":
        named = [line.candidate for line in event.says.lines]
        if event.says.name != state.phase:
            return "wrong-stage", f"{state.phase} is due, not {quoted(event.says.name)}"
        if sorted(named) != sorted(left):
            return "wrong-candidates", f"a line for each of {', '.join(left)}, and for nobody else"
        return "", ""
    chosen = event.says.selected
    stray = next((name for name in chosen if name not in left), "")
    if stray:
        return (
            "not-valid",
            f"{quoted(stray)} cannot be chosen: {dict(state.failed).get(stray, 'it is no candidate')}",
        )
    if left and not chosen:
        return "nobody", f"{', '.join(left)} are valid: choose one of them"
    return "", ""


def _following(stage: str) -> str:
    return (*STAGES, SELECTION)[STAGES.index(stage) + 1]


def _ticked(opening: Opening, state: State, event: Ticked) -> tuple[State, tuple[Effect, ...]]:
    """Tell the human of a run that is silent, and end it after the third time-out."""
    if state.phase in (DONE, FAILED, INCOMPLETE) or event.at_ms < due_ms(opening, state):
        return state, ()
    after = state._replace(reminders=state.reminders + 1, since_ms=event.at_ms)
    silent = f"nothing was heard of {state.phase} for {opening.turn_timeout_s * (state.reminders + 1)} s"
    if state.reminders < 2:
        return after, (Rule("reminded", "silent", silent), Notify((HUMAN,)))
    rule = Rule("closed", "silent", f"{silent}: {opening.session} is INCOMPLETE")
    return after._replace(phase=INCOMPLETE), (rule, Notify((HUMAN,)), Close(INCOMPLETE, silent))


def due_ms(opening: Opening, state: State) -> int:
    """Give the time, in milliseconds since 1970, at which a tick would be ruled on."""
    return state.since_ms + opening.turn_timeout_s * 1000


def _candidates(opening: Opening) -> tuple[str, ...]:
    return tuple(seat.name for seat in opening.roster if seat.role == "CANDIDATE")


def waiting_for(state: State) -> tuple[str, ...]:  # noqa: ARG001 - a run waits for its own process
    """Give nobody: the command goes on by itself."""
    return ()


def moves(opening: Opening, state: State, name: str) -> tuple[Move, ...]:  # noqa: ARG001
    """Give nothing: the command goes on by itself."""
    return ()


def tag_for(opening: Opening, state: State, name: str) -> str:  # noqa: ARG001
    """Give the tag of the block that is due."""
    return "SELECTION" if state.phase == SELECTION else "STAGE"


def how_to_answer(opening: Opening, state: State, name: str) -> str:  # noqa: ARG001
    """Give nothing: nobody is asked through the ledger."""
    return ""


def whose(opening: Opening) -> str:
    """Say whose run it is, and how one that was killed goes on."""
    runner = next((seat.name for seat in opening.roster if seat.role == "MASTER"), HUMAN)
    folder = shlex.quote(opening.option("RUN") or "FOLDER")
    return f"{runner} runs it; where it was killed: `moot compete --resume --output {folder}`"


def artifacts(state: State) -> tuple[str, ...]:  # noqa: ARG001 - the goods lie in the run's folder
    """Give nothing: what a run makes lies in its folder."""
    return ()


def artifact_in(body: str) -> str | None:  # noqa: ARG001
    """Give nothing."""
    return None


def final_status(opening: Opening, state: State, output: str) -> tuple[tuple[str, str], ...]:  # noqa: ARG001
    """Give the lines of the final status."""
    return (
        ("SKILL", NAME),
        ("STATUS", state.phase.upper()),
        ("TURNS", str(state.turns)),
        ("OUTPUT", opening.option("RUN") or "none"),
        ("CANDIDATES", ", ".join(_candidates(opening))),
        ("SELECTED", ", ".join(state.selected) or "none"),
        ("SELECTION_MODE", state.mode or "none"),
        *((("FAILED", "; ".join(f"{name} at {why}" for name, why in state.failed)),) if state.failed else ()),
    )
