"""competition: agents answer one challenge in isolation, judges score the entries blind and name the winner.

The rules
---------
At least two competitors and one judge; nobody is both. A prompt that holds criteria is the challenge itself.
One without makes the session wait for a `[CHALLENGE]` from a judge or the human; after the turn time-out it
goes on with one criterion, Overall. Competitors acknowledge with `[ACK]`, or not.

Entries are sealed: the ledger holds a salted hash. When all competitors have entered, or the deadline (counted
in turns after the challenge, acknowledgements aside) has passed, the judges read them as Entry-1, Entry-2, in
an order of its own for each judge. Who has not entered by then, or is silent through three time-outs, forfeits.
Scores are sealed too, until the last judge is in; then the seed of the orders, the entries and the scores open.

Each criterion gets 0 to 10 points, each entry notes. The sums are the referee's: SCORES is the plain sum,
averaged over the judges, the ranking uses the weights. `[WINNER]` has to agree with it; a judge who thinks
otherwise changes scores first, with a reason. A majority of the judges names the winner. A tie is deliberated
for one round; still tied, the seed draws, or a synthesis is asked for, as the session chose (`tie_break`); where
the judges then name different ones, so that there is no majority, the seed draws as well.
Where no entry reaches `min_score` there is another round, three at the most. `[DONE]` by a judge closes.

    phase         takes                    by             goes on to
    challenge     [CHALLENGE]              a judge, human entering
    entering      [ACK] [ENTRY]            a competitor   judging, when all are in or the deadline has passed
    judging       [SCORE]                  a judge        opening, when all judges are in
    opening       nothing: the seals open                 deciding, deliberating, entering (another round)
    deliberating  [SCORE]                  a judge        deciding, when each judge has scored again
    deciding      [SCORE] [WINNER]         a judge        closing, when a majority has named the winner
    closing       [DONE]                   a judge        done

Entries and scores written openly by hand count; a ruling says that they were not sealed. A sealed text that
was lost is asked for again. At `max_turns` (40) the session ends INCOMPLETE.

Source of the rules: seed `competition`, Protocol, the four Formats, Safety, Final Status Format.
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from ...parsers.criteria import read_criteria, write_criteria
from ...parsers.entry import entry_of
from ...parsers.frames import digest
from ...parsers.names import nearest
from ...parsers.score import OUT_OF, Score, plain, points_of, total_of
from ...parsers.seats import Criterion, Prompt, Seat
from ...parsers.winner import winner_of
from .events import (
    Close,
    Copy,
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

NAME = "competition"
SHORT = "comp"
RULES = 1
ROLES = ("COMPETITOR", "JUDGE")
TAGS = ("CHALLENGE", "ACK", "ENTRY", "SCORE", "WINNER", "DONE", "INCOMPLETE", *ROLES)
MAX_TURNS = 40
MAX_ROUNDS = 3
DEFAULT_COMPETITORS = ("CC", "CX")
TIE_BREAKS = ("draw", "synthesis")

CHALLENGE, ENTERING, JUDGING, OPENING = "challenge", "entering", "judging", "opening"
DELIBERATING, DECIDING, CLOSING = "deliberating", "deciding", "closing"
EXHAUSTED, DONE, INCOMPLETE = "exhausted", "done", "incomplete"

# (phase, tag) -> who may write it there
TAKES = {
    (CHALLENGE, "CHALLENGE"): "JUDGE",
    (ENTERING, "ACK"): "COMPETITOR",
    (ENTERING, "ENTRY"): "COMPETITOR",
    (ENTERING, "INCOMPLETE"): "COMPETITOR",
    (JUDGING, "SCORE"): "JUDGE",
    (DELIBERATING, "SCORE"): "JUDGE",
    (DECIDING, "SCORE"): "JUDGE",
    (DECIDING, "WINNER"): "JUDGE",
    (CLOSING, "DONE"): "JUDGE",
}
# phase -> the tag that it waits for
DUE = {
    CHALLENGE: "CHALLENGE",
    ENTERING: "ENTRY",
    JUDGING: "SCORE",
    DELIBERATING: "SCORE",
    DECIDING: "WINNER",
    CLOSING: "DONE",
}
HUMAN = "HUMAN"
_YEAR_MS = 365 * 86_400_000


class Entered(NamedTuple):
    """One competitor's entry; `text_block` is where its text stands openly, `named` whether it names its author."""

    name: str
    block: str
    sealed: str
    text_block: str
    named: bool = False


class Scored(NamedTuple):
    """What a judge gave one entry, in hundredths of a point a criterion; none while it is sealed.

    `entry` is a name, or a label while the seed is secret.
    """

    judge: str
    entry: str
    block: str
    sealed: str
    points: tuple[int, ...] = ()


class State(NamedTuple):
    """Where a session stands: the phase, who moves, and all that was entered, scored and named in this round."""

    phase: str = CHALLENGE
    turns: int = 0
    movers: tuple[str, ...] = ()
    since_ms: int = 0
    reminders: int = 0
    round: int = 1
    criteria: tuple[Criterion, ...] = ()
    deadline: int = 0
    turns_since_challenge: int = 0
    acknowledged: tuple[str, ...] = ()
    forfeited: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    entries: tuple[Entered, ...] = ()
    scores: tuple[Scored, ...] = ()
    seed: str = ""
    seed_lost: bool = False
    deliberated: tuple[str, ...] = ()
    votes: tuple[tuple[str, str, str], ...] = ()
    leaders: tuple[str, ...] = ()
    drawn: bool = False
    winner: str = ""
    winner_block: str = ""


def state_of(values: Sequence[Any]) -> State:
    """Give a state back from its values, whose tuples are plain."""
    state = State._make(values)
    return state._replace(
        criteria=tuple(Criterion(*one) for one in state.criteria),
        entries=tuple(Entered(*one) for one in state.entries),
        scores=tuple(Scored(*one) for one in state.scores),
    )


Answer = tuple[State, tuple[Effect, ...]]

# -- the opening --------------------------------------------------------------------------------------


def seats(prompt: Prompt) -> tuple[Seat, ...]:
    """Give competitors, then judges. Agents without a role compete; where nobody does, CC and CX do.

    Raises IllFormed for fewer than two competitors, no judge, or an agent that is both.
    """
    odd = next((seat for seat in prompt.seats if seat.role not in ("", *ROLES)), None)
    if odd is not None:
        raise IllFormed(f"{odd.name} is {odd.role}, and this is a competition", "write `Judge: NAME.`")
    judges = [seat for seat in prompt.seats if seat.role == "JUDGE"]
    judging = {seat.name for seat in judges}
    named = dict.fromkeys(seat.name for seat in prompt.seats if seat.role == "COMPETITOR")
    named |= dict.fromkeys(seat.name for seat in prompt.seats if not seat.role and seat.name not in judging)
    competitors = tuple(named) or DEFAULT_COMPETITORS
    if not judges:
        raise IllFormed("a competition needs at least one judge", "add `Judge: NAME.`")
    both = next((name for name in competitors if name in judging), None)
    if both is not None:
        raise IllFormed(
            f"{both} cannot be both competitor and judge", "name others: `Competitors: A, B. Judge: C.`"
        )
    if len(competitors) < 2:
        raise IllFormed(
            f"a competition needs two competitors, the prompt names {competitors[0]}",
            "add `Competitors: A, B.`",
        )
    return (*(Seat(name, "COMPETITOR") for name in competitors), *judges)


def options(prompt: Prompt) -> tuple[tuple[str, str], ...]:
    """Give criteria, deadline, least score and tie-break; IllFormed for a share or a tie-break that is none."""
    said = dict(prompt.options)
    pairs = [("CRITERIA", write_criteria(prompt.criteria)), ("DEADLINE", str(prompt.deadline_turns or ""))]
    if "min_score" in said:
        share = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,2})?)\s*%", said["min_score"])
        if not share or not 0 < Fraction(share[1]) <= 100:
            raise IllFormed(f"min_score is {quoted(said['min_score'])}", "give a share: `min_score: 60%`")
        pairs.append(("MIN_SCORE", f"{share[1]}%"))
    if "tie_break" in said:
        word = said["tie_break"].lower().removeprefix("a ").removesuffix(".")
        word = {"random": "draw", "synthesize": "synthesis"}.get(word, word)
        if word not in TIE_BREAKS:
            raise IllFormed(
                f"tie_break is {quoted(word)}", "write `tie_break: draw` or `tie_break: synthesis`"
            )
        pairs.append(("TIE_BREAK", word))
    return tuple((key, value) for key, value in pairs if value)


def seeds(prompt: Prompt) -> tuple[str, ...]:
    """Give the fields that each pin a seed, one a round: a second round needs a `min_score`."""
    rounds = MAX_ROUNDS if any(key == "min_score" for key, _ in prompt.options) else 1
    return tuple(_seed_field(number) for number in range(1, rounds + 1))


def _seed_field(number: int) -> str:
    return "SEED" if number == 1 else f"SEED_{number}"


def begin(opening: Opening, at_ms: int) -> State:
    """Give the state after the opening; IllFormed for a roster or seeds that `seats` and `seeds` do not give."""
    roles = [seat.role for seat in opening.roster]
    if roles.count("COMPETITOR") < 2 or "JUDGE" not in roles or set(roles) != set(ROLES):
        raise IllFormed("a competition has two competitors and a judge", "add `Judge: NAME.`")
    if not re.fullmatch(r"[0-9a-f]{64}", opening.option("SEED")):
        raise IllFormed("the opening pins no seed", "begin it with `moot start`")
    criteria = read_criteria(opening.option("CRITERIA"))
    digits = opening.option("DEADLINE")
    deadline = int(digits) if re.fullmatch(r"[0-9]{1,9}", digits) else 0
    state = State(since_ms=at_ms, deadline=deadline, movers=_all(opening, "JUDGE"))
    return _challenged(opening, state, criteria, deadline) if criteria else state


def _challenged(opening: Opening, state: State, criteria: tuple[Criterion, ...], deadline: int) -> State:
    """Give the state after a challenge: competitors enter."""
    return state._replace(
        phase=ENTERING,
        criteria=criteria,
        deadline=deadline,
        movers=_all(opening, "COMPETITOR"),
    )


# -- blocks -------------------------------------------------------------------------------------------


def step(opening: Opening, state: State, event: Event) -> Answer:
    """Answer one event. An illegal move is an effect (a Rule that refuses), never an exception."""
    if isinstance(event, Ticked):
        return _ticked(opening, state, event)
    if isinstance(event, Unsealed):
        return _unsealed(opening, state, event)
    if isinstance(event, Lost):
        return _lost(opening, state, event)
    event = _with_author(opening, state, event)
    code, why = _refusal(opening, state, event)
    if code:
        mark = " " if why.endswith("?") else "; "
        rule = Rule("refused", code, f"{why}{mark}{_next(state)}" if state.movers else why, state.movers)
        return state, (rule, Notify((event.author,) if event.author else state.movers))
    return _ANSWERS[_said(event)](opening, state, event)


def _said(event: Posted) -> str:
    """Give what a block is: its tag, or the token in a block under a role."""
    if event.tag in ROLES:
        return next((word for word in ("DONE", "INCOMPLETE") if word in event.tokens), event.tag)
    return event.tag


def _with_author(opening: Opening, state: State, event: Posted) -> Posted:
    """Name the author of a block that only one party could have written."""
    judges = _judges(opening, state)
    if event.author or not state.movers:
        return event
    if event.tag == "CHALLENGE" and state.phase == CHALLENGE:
        return event._replace(author=judges[0] if len(judges) == 1 else HUMAN)
    if (event.tag == "WINNER" and len(judges) == 1) or (event.tag == "DONE" and state.phase == CLOSING):
        return event._replace(author=judges[0])
    return event


def _refusal(opening: Opening, state: State, event: Posted) -> tuple[str, str]:
    """Give code and sentence of the first rule that a block breaks; empty where it breaks none."""
    said, seat = _said(event), opening.seat(event.author)
    if not state.movers and state.phase != OPENING:
        return "ended", f"{opening.session} is {state.phase.upper()}: begin another with `moot start`"
    if not event.author:
        return "no-author", f"who speaks? write [{event.tag or 'ENTRY'} - NAME]"
    by_human = event.author == HUMAN and (state.phase, said) == (CHALLENGE, "CHALLENGE")
    if seat is None and not by_human:
        near = nearest(event.author, opening.names)
        meant = f"did you mean {near}? " if near else ""
        return "not-in-session", f"{quoted(event.author)} takes no part; {meant}{_and(opening.names)} do"
    role = seat.role if seat is not None else "JUDGE"
    claimed = event.tag if event.tag in ROLES else event.role
    if claimed and claimed != role:
        return "wrong-role", f"{event.author} is {role}, not {quoted(claimed)}"
    due = DUE.get(state.phase, "")
    if said not in TAGS or said in ROLES:
        meant = "" if said in ("", *ROLES) else nearest(said, TAGS[:-2]) or ""
        if not meant and TAKES.get((state.phase, due)) == role:
            meant = due
        what = f"[{quoted(said)}]" if said and said not in ROLES else "a block without a tag"
        mend = (
            f": write [{meant} - {event.author}]"
            if meant
            else f", and waits for nothing from {event.author} now"
        )
        return "unknown-tag", f"competition takes no {what}{mend}"
    if (state.phase, said) not in TAKES:
        late = {
            "ENTRY": "the entries are in",
            "CHALLENGE": "the challenge stands",
            "ACK": "nothing waits for it",
        }
        why = (
            late.get(said, "its time has not come")
            if state.phase != CHALLENGE
            else "there is no challenge yet"
        )
        return "late" if said == "ENTRY" and state.phase != CHALLENGE else "not-now", f"[{said}]: {why}"
    if TAKES[state.phase, said] != role:
        others = _and(_all(opening, TAKES[state.phase, said]))
        return "wrong-role", f"{event.author} is {role}: [{said}] is for {others}"
    if event.author in (*state.forfeited, *state.left_out):
        return "forfeited", f"{event.author} is out of this round"
    if event.sealed and event.sealed in _known_seals(opening, state):
        return "copied-seal", f"the ledger holds that seal already: {event.author} seals a text of its own"
    check = _CHECKS.get(said)
    return check(opening, state, event) if check else ("", "")


def _known_seals(opening: Opening, state: State) -> set[str]:
    """Give the hashes that stand for texts of this session: nobody else's block may carry one of them."""
    pinned = {opening.option(_seed_field(number)) for number in range(1, MAX_ROUNDS + 1)}
    return pinned | {one.sealed for one in state.entries} | {one.sealed for one in state.scores}


def _check_challenge(opening: Opening, state: State, event: Posted) -> tuple[str, str]:  # noqa: ARG001
    if event.says.fault:
        return "bad-challenge", event.says.fault
    return (
        ("", "") if event.says.task else ("empty", "the challenge names no TASK: write `TASK: what to make`")
    )


def _check_ack(opening: Opening, state: State, event: Posted) -> tuple[str, str]:  # noqa: ARG001
    again = event.author in state.acknowledged
    return ("again", f"{event.author} has acknowledged the challenge") if again else ("", "")


def _check_entry(opening: Opening, state: State, event: Posted) -> tuple[str, str]:  # noqa: ARG001
    if event.sealed or event.says.submission:
        return "", ""
    return "empty", f"an empty entry: {event.author} writes `SUBMISSION:` and the work below it"


def _check_scores(opening: Opening, state: State, event: Posted) -> tuple[str, str]:  # noqa: ARG001
    if not event.says:
        return (
            "no-entry",
            "the score names no entry: write `ENTRY: Entry-1`, then a line a criterion and NOTES",
        )
    if event.sealed:
        for score in event.says:
            if not _entry(state, event.author, score.entry):
                return _no_entry(state, score)
        return "", ""
    faults = (_score_fault(state, event.author, score) for score in event.says)
    return next((fault for fault in faults if fault[0]), ("", ""))


def _score_fault(state: State, judge: str, score: Score) -> tuple[str, str]:
    """Give what is wrong with one part of a score, and the mend."""
    entry = _entry(state, judge, score.entry)
    if not entry:
        return _no_entry(state, score)
    fault = _marks_fault(state, entry, score)
    if fault[0]:
        return fault
    given = _points(state, score)
    if score.total and total_of(score.total) != sum(given):
        right = f"{plain(sum(given))}/{OUT_OF * len(given)}"
        said = quoted(score.total.split("\n")[0])
        return "wrong-total", f"TOTAL of {entry} is {right}, not {said}: correct it, or the scores"
    if not score.notes:
        return "no-notes", f"{entry} has no feedback: add `NOTES: what is good and what is missing`"
    before = next((one.points for one in state.scores if (one.judge, one.entry) == (judge, entry)), given)
    if state.phase in (DECIDING, DELIBERATING) and before != given and not score.reason:
        return "no-reason", f"the score of {entry} changes: add `REASON: why`"
    return "", ""


def _marks_fault(state: State, entry: str, score: Score) -> tuple[str, str]:
    """Give what is wrong with the points: one for each criterion, from 0 to 10, once."""
    names = [one.name for one in state.criteria]
    marked = [mark.name.casefold() for mark in score.marks if _is_criterion(mark.name, names)]
    twice = next((name for name in marked if marked.count(name) > 1), "")
    if twice:
        return "twice", f"{entry} has two scores for {_said_as(twice)}: keep one"
    for mark in score.marks:
        if points_of(mark.value) is not None and not _is_criterion(mark.name, names):
            meant = nearest(mark.name, names)
            known = (
                f"did you mean {_said_as(meant)}?"
                if meant
                else f"there are {', '.join(map(_said_as, names))}"
            )
            return "unknown-criterion", f"no criterion {quoted(mark.name)}: {known}"
    for number, criterion in enumerate(state.criteria):
        value = _mark(score, number, criterion.name)
        name = _said_as(criterion.name)
        if value is None:
            return "missing-criterion", f"{entry} has no score for {name}: write `{name}: N/10`"
        points = points_of(value)
        if points is None:
            return "no-number", f"{name} of {entry} is {quoted(value)}: give a number out of 10"
        if not 0 <= points <= OUT_OF * 100:
            return "out-of-range", f"{name} of {entry} is {plain(points)}: scores go from 0 to 10"
    return "", ""


def _mark(score: Score, number: int, name: str) -> str | None:
    """Find the line of a criterion, by its name or as `Criterion 1`."""
    wanted = (name.casefold(), f"criterion {number + 1}")
    return next((mark.value for mark in score.marks if mark.name.casefold() in wanted), None)


def _said_as(name: str) -> str:
    """Give a criterion's name as a sentence can hold it."""
    return name if name.isprintable() and len(name) <= 64 else quoted(name)


def _is_criterion(name: str, names: list[str]) -> bool:
    numbered = [f"criterion {number + 1}" for number in range(len(names))]
    return name.casefold() in (*(one.casefold() for one in names), *numbered)


def _points(state: State, score: Score) -> tuple[int, ...]:
    values = (_mark(score, number, one.name) for number, one in enumerate(state.criteria))
    return tuple(points_of(value or "") or 0 for value in values)


def _no_entry(state: State, score: Score) -> tuple[str, str]:
    names = [one.name for one in state.entries]
    labels = [f"Entry-{number}" for number in range(1, len(names) + 1)]
    known = names if state.seed or not any(one.sealed for one in state.entries) else labels
    meant = nearest(score.entry, known)
    hint = f"did you mean {meant}?" if meant else f"there are {', '.join(known)}"
    return "no-such-entry", f"no entry {quoted(score.entry)}: {hint}"


def _entry(state: State, judge: str, word: str) -> str:
    """Give the entry that a judge means: a name; a label while the seed is secret; nothing for none."""
    names = [one.name for one in state.entries]
    if word in names:
        entered = next(one for one in state.entries if one.name == word)
        return (
            word if state.seed or state.seed_lost or not entered.sealed else ""
        )  # no name before the reveal
    label = re.fullmatch(r"(?i)entry[- ]?0*([1-9][0-9]{0,3})", word)
    if not label or int(label[1]) > len(names):
        return ""
    number = int(label[1])
    known = state.seed or state.seed_lost
    return _order(state, judge)[number - 1] if known else f"Entry-{number}"


def _check_winner(opening: Opening, state: State, event: Posted) -> tuple[str, str]:
    chosen = _entry(state, event.author, event.says.selected)
    weighted = _weighted(opening, state)
    if not event.says.selected:
        return "no-entry", "the decision names nobody: write `SELECTED: NAME` and `REASON: why`"
    if not chosen:
        return _no_entry(state, Score(event.says.selected))
    if chosen not in state.leaders:
        sums = ", ".join(f"{name}={plain(float(points))}" for name, points in weighted.items())
        decided = "the seed drew" if state.drawn else "the sums say"
        mend = "select that, or change your scores with a REASON first"
        return "not-the-ranking", f"{decided} {_and(state.leaders)} ({sums}): {mend}"
    if not event.says.reason:
        return "no-reason", "say why this entry won: add `REASON: why`"
    if len(state.leaders) > 1 and not event.says.synthesis:
        return "no-synthesis", f"{_and(state.leaders)} are tied: add `SYNTHESIS:` with the best of them"
    return "", ""


_CHECKS = {
    "CHALLENGE": _check_challenge,
    "ACK": _check_ack,
    "ENTRY": _check_entry,
    "SCORE": _check_scores,
    "WINNER": _check_winner,
}

# -- what follows -------------------------------------------------------------------------------------


def _counted(
    opening: Opening, before: State, after: State, at_ms: int, code: str, what: str, *effects: Effect
) -> Answer:
    """Count one turn: say what it was and who moves next, and tell those whose move it is only now."""
    after = after._replace(turns=before.turns + 1, since_ms=at_ms, reminders=0)
    if after.turns >= opening.max_turns and after.phase != DONE:
        after = after._replace(phase=INCOMPLETE, movers=())
        end = f"the last of max_turns {opening.max_turns}: {opening.session} is INCOMPLETE"
        why = f"turn {after.turns}: {what}, {end}"
        return after, (
            Rule("accepted", code, why),
            *effects,
            Notify(opening.names),
            Close(INCOMPLETE, f"max_turns {opening.max_turns}"),
        )
    rule = Rule("accepted", code, f"turn {after.turns}: {what}; {_next(after)}", after.movers)
    called = tuple(name for name in after.movers if after.phase != before.phase or name not in before.movers)
    return after, (rule, *effects, *((Notify(called),) if called else ()))


def _challenge(opening: Opening, state: State, event: Posted) -> Answer:
    criteria = event.says.criteria or (Criterion("Overall", None),)
    after = _challenged(opening, state, criteria, event.says.deadline_turns or state.deadline)
    names = ", ".join(_said_as(one.name) for one in criteria)
    told = Notify(_all(opening, "COMPETITOR"), block=True)
    return _counted(opening, state, after, event.at_ms, "challenge", f"the challenge stands ({names})", told)


def _ack(opening: Opening, state: State, event: Posted) -> Answer:
    after = state._replace(acknowledged=(*state.acknowledged, event.author))
    return _counted(opening, state, after, event.at_ms, "acknowledged", f"{event.author} acknowledges")


def _withdraw(opening: Opening, state: State, event: Posted) -> Answer:
    after = _forfeit(opening, state, (event.author,))
    return _counted(opening, state, after, event.at_ms, "forfeit", f"{event.author} forfeits")


def _enter(opening: Opening, state: State, event: Posted) -> Answer:
    text_block = "" if event.sealed else event.block
    mine = Entered(event.author, event.block, event.sealed, text_block, event.names_author)
    again = any(one.name == event.author for one in state.entries)
    kept = {one.name: one for one in state.entries} | {mine.name: mine}
    after = state._replace(
        entries=tuple(kept[name] for name in opening.names if name in kept),
        movers=tuple(name for name in state.movers if name != event.author),
        turns_since_challenge=state.turns_since_challenge + (not again),  # nobody uses up another's time
    )
    missing = after.movers
    if state.deadline and after.turns_since_challenge >= state.deadline:
        after = _forfeit(opening, after, missing)
    elif not missing:
        after = _judged(opening, after)
    what = f"{event.author} enters" if event.sealed else f"{event.author} enters openly, so it was not sealed"
    what += ", in place of its first entry" if again else ""
    if after.phase == JUDGING and missing:
        what += f"; the deadline has passed, {_and(missing)} forfeit{'s' * (len(missing) == 1)}"
    code = "entry" if event.sealed else "entry-open"
    return _counted(opening, state, after, event.at_ms, code, what)


def _forfeit(opening: Opening, state: State, names: tuple[str, ...]) -> State:
    """Take competitors out of the round, and with them what they entered; judging begins where nobody is left."""
    after = state._replace(
        forfeited=(*state.forfeited, *names),
        entries=tuple(one for one in state.entries if one.name not in names),
        movers=tuple(name for name in state.movers if name not in names),
    )
    if after.movers:
        return after
    return _judged(opening, after) if after.entries else after._replace(phase=EXHAUSTED)


def _judged(opening: Opening, state: State) -> State:
    return state._replace(phase=JUDGING, movers=_judges(opening, state))


def _score(opening: Opening, state: State, event: Posted) -> Answer:
    given = []
    for score in event.says:
        entry = _entry(state, event.author, score.entry)
        given.append(
            Scored(
                event.author, entry, event.block, event.sealed, () if event.sealed else _points(state, score)
            )
        )
    replaced = {(one.judge, one.entry) for one in given}
    kept = [one for one in state.scores if (one.judge, one.entry) not in replaced]
    after = state._replace(scores=(*kept, *given))
    what = f"{event.author} scores {_and(tuple(one.entry for one in given))}"
    code = "score"
    if state.phase == JUDGING:
        if not event.sealed:
            code, what = "score-open", f"{what} openly, so it was not sealed"
        after = _in_or_not(opening, after, event.author)
    elif state.phase == DELIBERATING:
        code, after = (
            "score-again",
            after._replace(deliberated=tuple({**dict.fromkeys(state.deliberated), event.author: None})),
        )
        after = after._replace(movers=tuple(name for name in state.movers if name != event.author))
        after = after if after.movers else _ranked(opening, after)
    else:
        code, after = "score-changed", _ranked(opening, after)
    told = () if event.sealed else (Notify(_all(opening, "COMPETITOR"), block=True),)
    sums = f"; {_sums(opening, after)}" if after.phase == DECIDING else ""
    return _counted(opening, state, after, event.at_ms, code, what + sums, *told)


def _in_or_not(opening: Opening, state: State, judge: str) -> State:
    """Take a judge that has scored every entry off those who move; when it was the last, the seals open."""
    scored = {one.entry for one in state.scores if one.judge == judge}
    if len(scored) < len(state.entries):
        return state
    after = state._replace(movers=tuple(name for name in state.movers if name != judge))
    return after if after.movers else _open(opening, after)


def _judging_goes_on(opening: Opening, state: State) -> State:
    """Wait for the judges that have not scored every entry; the seals open where there is none."""
    given = {(one.judge, one.entry) for one in state.scores}
    names = _entered(state)
    lacking = (
        judge for judge in _judges(opening, state) if any((judge, name) not in given for name in names)
    )
    after = state._replace(phase=JUDGING, movers=tuple(lacking))
    return after if after.movers else _open(opening, after)


def _open(opening: Opening, state: State) -> State:
    """Begin to open the seals, or rank where none is left."""
    after = state._replace(phase=OPENING, movers=())
    return after if seals(opening, after) else _ranked(opening, after)


def _name_winner(opening: Opening, state: State, event: Posted) -> Answer:
    chosen = _entry(state, event.author, event.says.selected)
    votes = {judge: (judge, name, block) for judge, name, block in state.votes}
    votes[event.author] = (event.author, chosen, event.block if event.says.synthesis else "")
    after = state._replace(
        votes=tuple(votes.values()), movers=tuple(name for name in state.movers if name != event.author)
    )
    what = f"{event.author} names {chosen}"
    decided = _voted(opening, after)
    if decided is None:
        if not after.movers:  # of those who are tied they name different ones
            after = _drawn(opening, after)
            what = f"{what}; no majority, so the seed draws {after.leaders[0]}"
        return _counted(opening, state, after, event.at_ms, "winner-named", what)
    after = decided
    told = Notify(tuple(name for name in opening.names if name != event.author), block=True)
    if "DONE" not in event.tokens:
        return _counted(opening, state, after, event.at_ms, "winner", f"the winner is {chosen}", told)
    return _close(opening, after, event, "winner-done", f"the winner is {chosen}", told, turns=2)


def _voted(opening: Opening, state: State) -> State | None:
    """Give the state in which the winner stands, where a majority of the judges names the same one."""
    for chosen in dict.fromkeys(name for _, name, _ in state.votes):
        blocks = [
            block for judge, name, block in state.votes if name == chosen and judge not in state.left_out
        ]
        if 2 * len(blocks) > len(_judges(opening, state)):
            synthesis = "".join([block for block in blocks if block][-1:])
            return state._replace(
                phase=CLOSING, winner=chosen, winner_block=synthesis, movers=_judges(opening, state)
            )
    return None


def _done(opening: Opening, state: State, event: Posted) -> Answer:
    return _close(opening, state, event, "done", f"{event.author} closes", turns=1)


def _close(
    opening: Opening, state: State, event: Posted, code: str, what: str, *effects: Effect, turns: int
) -> Answer:
    """End the session; a [DONE] within the [WINNER] counts one turn more."""
    after = state._replace(phase=DONE, movers=(), turns=state.turns + turns, since_ms=event.at_ms)
    why = f"turn {after.turns}: {what}; {opening.session} is DONE"
    return after, (Rule("accepted", code, why), *effects, Notify(opening.names), Close(DONE))


_ANSWERS = {
    "CHALLENGE": _challenge,
    "ACK": _ack,
    "ENTRY": _enter,
    "INCOMPLETE": _withdraw,
    "SCORE": _score,
    "WINNER": _name_winner,
    "DONE": _done,
}

# -- seals --------------------------------------------------------------------------------------------


def seals(opening: Opening, state: State) -> tuple[Seal, ...]:
    """Give what is sealed still: the seed of this round, the entries, the scores, in the order of opening."""
    if state.phase in (DONE, INCOMPLETE, EXHAUSTED):
        return ()
    pinned = opening.option(_seed_field(state.round))
    seed = () if state.seed or state.seed_lost or not pinned else (Seal(pinned, "", "", "SEED"),)
    entries = [Seal(one.sealed, one.block, one.name, "ENTRY") for one in state.entries if one.sealed]
    entries = [one for one in entries if not _text_block(state, one.author)]
    scores = [Seal(one.sealed, one.block, one.judge, "SCORE") for one in state.scores if not one.points]
    return tuple(dict.fromkeys((*seed, *entries, *scores)))


def _text_block(state: State, name: str) -> str:
    return next((one.text_block for one in state.entries if one.name == name), "")


def opens(state: State) -> bool:
    """Tell whether the seals open now: all judges are in."""
    return state.phase == OPENING


def open_part(state: State, event: Posted) -> str | None:
    """Give the lines that stay open in a block that is sealed: of a score, which entries it is for."""
    if (state.phase, event.tag) == (ENTERING, "ENTRY"):
        return ""
    if (state.phase, event.tag) == (JUDGING, "SCORE") and not state.seed:
        return "\n".join(f"ENTRY: {score.entry}" for score in event.says)
    return None


def copies(opening: Opening, state: State, name: str, seed: str) -> tuple[Copy, ...]:  # noqa: ARG001
    """Give a judge that has to score the entries under their labels, in its own order."""
    if state.phase != JUDGING or name not in state.movers:
        return ()
    held = {one.name: one for one in state.entries}
    order = _order(state._replace(seed=state.seed or seed), name)
    return tuple(
        Copy(f"Entry-{number}", held[one].text_block or held[one].block, held[one].sealed)
        for number, one in enumerate(order, 1)
    )


def keeps_apart(opening: Opening, one: str, other: str) -> bool:
    """Tell whether these two may not write to each other in private: competitors work alone."""
    competitors = _all(opening, "COMPETITOR")
    return one in competitors and other in competitors


def _order(state: State, judge: str) -> list[str]:
    """Give the names of those who entered in the order in which a judge reads them."""
    names = [one.name for one in state.entries]
    return sorted(names, key=lambda name: digest(f"{state.seed}\n{state.round}\n{judge}\n{name}".encode()))


def _unsealed(opening: Opening, state: State, event: Unsealed) -> Answer:
    """Take what a seal held; after the last one the sums are made."""
    seal = next((one for one in seals(opening, state) if one.sealed == event.sealed), None)
    if seal is None or not opens(state):
        return state, ()
    posted = event.posted
    told: tuple[Effect, ...] = ()
    if seal.tag == "SEED":
        after = state._replace(seed=posted.says)
        after = after._replace(scores=tuple(_resolved(after)))
        orders = (f"{judge} read {', '.join(_order(after, judge))}" for judge in _judges(opening, state))
        what = f"the seed opens: {'; '.join(orders)}"
    elif seal.tag == "ENTRY":
        opened = [
            one._replace(text_block=posted.block, named=posted.names_author)
            if one.sealed == seal.sealed
            else one
            for one in state.entries
        ]
        after = state._replace(entries=tuple(opened))
        what = f"the entry of {seal.author} opens, its hash fits"
        what += f"; its text names {seal.author}" if posted.names_author else ""
    else:
        after, what = _unsealed_scores(state, seal, posted)
        told = (Notify(tuple(name for name in opening.names if name != seal.author)),)
    after = after._replace(since_ms=posted.at_ms, reminders=0)
    if not seals(opening, after):
        after = _ranked(opening, after)
        what += f"; {_sums(opening, after)}" if after.phase in (DECIDING, DELIBERATING) else ""
        what += f"; no entry reaches {opening.option('MIN_SCORE')}" if after.round > state.round else ""
        what += f"; {_next(after)}" if after.movers else ""
    rule = Rule("revealed", seal.tag.lower(), what, after.movers)
    return after, (rule, *told, *((Notify(after.movers),) if after.movers else ()))


def _unsealed_scores(state: State, seal: Seal, posted: Posted) -> tuple[State, str]:
    """Put the points of a score that opened in their place; one that says nothing valid counts for nothing."""
    sound = [one for one in posted.says if not _score_fault(state, seal.author, one)[0]]
    given = [
        Scored(seal.author, _entry(state, seal.author, one.entry), posted.block, "", _points(state, one))
        for one in sound
    ]
    kept = [one for one in state.scores if one.sealed != seal.sealed]
    what = f"the score of {seal.author} for {_and(tuple(one.entry for one in given))} opens, its hash fits"
    if not given:
        what = f"the score of {seal.author} opens, and holds no score that counts"
    return state._replace(scores=(*kept, *given)), what


def _resolved(state: State) -> list[Scored]:
    """Give the scores with names for labels, the later one where a judge scored an entry under both."""
    found = {}
    for one in state.scores:
        entry = _entry(state, one.judge, one.entry)
        found[one.judge, entry] = one._replace(entry=entry)
    return list(found.values())


def _lost(opening: Opening, state: State, event: Lost) -> Answer:
    """Ask again for a sealed text that is gone."""
    seal = next((one for one in seals(opening, state) if one.sealed == event.sealed), None)
    if seal is None:
        return state, ()
    after = state._replace(since_ms=event.at_ms, reminders=0)
    if seal.tag == "ENTRY":
        entries = tuple(one for one in state.entries if one.sealed != seal.sealed)
        movers = state.movers if state.phase == ENTERING else ()
        after = after._replace(
            phase=ENTERING,
            entries=entries,
            scores=(),
            movers=_in_order(opening, (*movers, seal.author)),
        )
        after = after._replace(
            deadline=state.deadline and max(state.deadline, state.turns_since_challenge + 1)
        )
        why = f"the sealed entry of {seal.author} is lost: enter it again"
    elif seal.tag == "SCORE":
        scores = tuple(one for one in state.scores if one.sealed != seal.sealed)
        movers = state.movers if state.phase == JUDGING else ()
        after = after._replace(
            phase=JUDGING, scores=scores, movers=_in_order(opening, (*movers, seal.author))
        )
        of = _and(tuple(one.entry for one in state.scores if one.sealed == seal.sealed))
        why = f"the sealed score of {seal.author} for {of} is lost: score again"
    else:
        names = _entered(state)
        after = after._replace(
            seed_lost=True, scores=tuple(one for one in state.scores if one.entry in names)
        )
        if state.phase in (JUDGING, OPENING):
            after = _judging_goes_on(opening, after)
        why = "the seed of the orders is lost: labels begin anew, in an order that anybody can compute"
    called = tuple(name for name in after.movers if name not in state.movers)
    return after, (
        Rule("lost", seal.tag.lower(), f"{why}; {_next(after)}", after.movers),
        Notify(called or after.movers),
    )


# -- sums ---------------------------------------------------------------------------------------------


def _ranked(opening: Opening, state: State) -> State:
    """Make the sums and say what follows: a winner to be named, a tie, another round, or a score to ask for."""
    given = {(one.judge, one.entry) for one in state.scores if one.points}
    judges, names = _judges(opening, state), [one.name for one in state.entries]
    lacking = tuple(judge for judge in judges if any((judge, name) not in given for name in names))
    if lacking:
        return state._replace(phase=JUDGING, movers=lacking)
    weighted = _weighted(opening, state)
    best = max(weighted.values())
    least = Fraction(opening.option("MIN_SCORE").removesuffix("%") or 0)
    if best < least * OUT_OF:  # hundredths of a point out of 10 are tenths of a per cent
        return _another_round(opening, state)
    leaders = tuple(name for name in names if weighted[name] == best)
    votes = tuple(vote for vote in state.votes if vote[1] in leaders)
    voted = {judge for judge, _, _ in votes}
    after = state._replace(
        phase=DECIDING,
        leaders=leaders,
        votes=votes,
        drawn=False,
        movers=tuple(name for name in judges if name not in voted),
    )
    if len(leaders) == 1:
        return after
    if not set(judges) <= {*state.deliberated}:
        left = tuple(name for name in judges if name not in state.deliberated)
        return after._replace(phase=DELIBERATING, movers=left, votes=())
    if opening.option("TIE_BREAK") == "synthesis":
        return after
    return _drawn(opening, after)


def _drawn(opening: Opening, state: State) -> State:
    """Let the seed draw among those who lead; judges that have not named that one do so now."""
    drawn = min(state.leaders, key=lambda name: digest(f"{state.seed}\n{state.round}\ndraw\n{name}".encode()))
    votes = tuple(vote for vote in state.votes if vote[1] == drawn)
    voted = {judge for judge, _, _ in votes}
    movers = tuple(name for name in _judges(opening, state) if name not in voted)
    return state._replace(leaders=(drawn,), votes=votes, movers=movers, drawn=True)


def _another_round(opening: Opening, state: State) -> State:
    """Begin the next round, with everybody in it; after the last one the session ends."""
    if state.round >= MAX_ROUNDS or not opening.option(_seed_field(state.round + 1)):
        return state._replace(phase=EXHAUSTED, movers=())
    return State(
        phase=ENTERING,
        turns=state.turns,
        movers=_all(opening, "COMPETITOR"),
        since_ms=state.since_ms,
        round=state.round + 1,
        criteria=state.criteria,
        deadline=state.deadline,
        left_out=state.left_out,
    )


def _plain_sums(opening: Opening, state: State) -> dict[str, Fraction]:
    """Give each entry's sum in hundredths of a point, averaged over the judges."""
    return {
        name: _average(opening, state, name, [Fraction(1)] * len(state.criteria)) for name in _entered(state)
    }


def _weighted(opening: Opening, state: State) -> dict[str, Fraction]:
    """Give each entry's weighted mean in hundredths of a point out of 10, averaged over the judges."""
    weights = [Fraction(str(one.weight if one.weight is not None else 1)) for one in state.criteria]
    total = sum(weights) or Fraction(1)
    return {
        name: _average(opening, state, name, [one / total for one in weights]) for name in _entered(state)
    }


def _entered(state: State) -> list[str]:
    return [one.name for one in state.entries]


def _average(opening: Opening, state: State, name: str, weights: list[Fraction]) -> Fraction:
    judges = _judges(opening, state)
    given = [one.points for one in state.scores if one.entry == name and one.judge in judges and one.points]
    sums = [sum((w * p for w, p in zip(weights, points, strict=False)), Fraction(0)) for points in given]
    return sum(sums, Fraction(0)) / len(sums) if sums else Fraction(0)


def _sums(opening: Opening, state: State) -> str:
    said = f"weighted {_listed(_weighted(opening, state))}"
    if state.phase == DELIBERATING:
        return f"{said}: a tie, so the judges deliberate one round"
    if state.drawn:
        return f"{said}: still a tie, so the seed draws {state.leaders[0]}"
    return f"{said}: {_and(state.leaders)} lead{'s' * (len(state.leaders) == 1)}"


def _listed(sums: dict[str, Fraction]) -> str:
    return ", ".join(f"{name}={plain(float(points))}" for name, points in sums.items())


# -- time ---------------------------------------------------------------------------------------------


def _ticked(opening: Opening, state: State, event: Ticked) -> Answer:
    """Remind those who are silent, tell the human, then go on without them; each after one more time-out."""
    if event.at_ms < due_ms(opening, state) or state.phase in (DONE, INCOMPLETE):
        return state, ()
    after = state._replace(since_ms=event.at_ms, reminders=state.reminders + 1)
    if state.phase == EXHAUSTED:
        least = opening.option("MIN_SCORE")
        why = f"no entry reached {least} in {state.round} rounds" if state.entries else "nobody entered"
        return _ended(opening, after, "no-winner", why)
    if state.phase == OPENING:
        return _ended(opening, after, "sealed", "the seals were never opened")
    silent = f"{_and(state.movers)} silent for {opening.turn_timeout_s * (state.reminders + 1)} s"
    if state.phase == CHALLENGE:
        after = _challenged(opening, after, (Criterion("Overall", None),), state.deadline)
        after = after._replace(reminders=0)
        rule = Rule(
            "challenged", "overall", f"{silent}: one criterion, Overall; {_next(after)}", after.movers
        )
        return after, (rule, Notify(after.movers))
    if state.reminders == 0:
        return after, (
            Rule("reminded", "silent", f"{silent}; {_next(state)}", state.movers),
            Notify(state.movers),
        )
    if state.reminders == 1:
        rule = Rule("reminded", "human", f"{silent}: wake them, or it goes on without", state.movers)
        return after, (rule, Notify((*state.movers, HUMAN)))
    return _without(opening, after._replace(reminders=0), silent)


def _without(opening: Opening, state: State, silent: str) -> Answer:
    """Go on without those who were silent through three time-outs, or end."""
    names = state.movers
    if state.phase == ENTERING:
        after = _forfeit(opening, state, names)
        code, what = "forfeit", f"{_and(names)} forfeit{'s' * (len(names) == 1)}"
    elif state.phase in (JUDGING, DELIBERATING) and set(_judges(opening, state)) > set(names):
        after = state._replace(left_out=(*state.left_out, *names), movers=())
        after = _open(opening, after) if state.phase == JUDGING else _ranked(opening, after)
        code, what = "left-out", f"{_and(names)} judge{'s' * (len(names) == 1)} no more"
    elif state.phase == DECIDING and set(_judges(opening, state)) > set(names):
        after = state._replace(left_out=(*state.left_out, *names), movers=())
        after = _voted(opening, after) or _drawn(opening, after)
        code, what = "left-out", f"{_and(names)} judge{'s' * (len(names) == 1)} no more"
    elif state.phase == CLOSING:
        after = state._replace(phase=DONE, movers=())
        rule = Rule("closed", "winner-stands", f"{silent}: the winner stands, so {opening.session} is DONE")
        return after, (rule, Notify((*opening.names, HUMAN)), Close(DONE, "nobody said [DONE]"))
    elif state.phase == DELIBERATING:
        after = _ranked(opening, state._replace(deliberated=_judges(opening, state), movers=()))
        code, what = "scores-stand", "the scores stand"
    else:
        return _ended(opening, state, "silent", silent)
    rule = Rule("passed-over", code, f"{silent}: {what}; {_next(after)}".removesuffix("; "), after.movers)
    return after, (rule, Notify((*after.movers, HUMAN)))


def _ended(opening: Opening, state: State, code: str, why: str) -> Answer:
    after = state._replace(phase=INCOMPLETE, movers=())
    rule = Rule("closed", code, f"{why}: {opening.session} is INCOMPLETE")
    return after, (rule, Notify((*opening.names, HUMAN)), Close(INCOMPLETE, why))


def due_ms(opening: Opening, state: State) -> int:
    """Give the time, in milliseconds since 1970, at which a tick would be ruled on."""
    if state.phase == EXHAUSTED:
        return 0
    return state.since_ms + (opening.turn_timeout_s * 1000 if state.movers else _YEAR_MS)


# -- what others are told -----------------------------------------------------------------------------


def _all(opening: Opening, role: str) -> tuple[str, ...]:
    return tuple(seat.name for seat in opening.roster if seat.role == role)


def _judges(opening: Opening, state: State) -> tuple[str, ...]:
    """Give the judges that still judge."""
    return tuple(name for name in _all(opening, "JUDGE") if name not in state.left_out)


def _in_order(opening: Opening, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in opening.names if name in names)


def _and(names: tuple[str, ...]) -> str:
    return " and ".join(names)


def _next(state: State) -> str:
    if not state.movers:
        return "the seals open" if state.phase == OPENING else ""
    return f"{_and(state.movers)} move{'s' * (len(state.movers) == 1)} next with [{DUE[state.phase]}]"


def waiting_for(state: State) -> tuple[str, ...]:
    """Give the names of those whose move it is."""
    return tuple(state.movers)


def tag_for(opening: Opening, state: State, name: str) -> str:
    """Give the tag under which an agent's answer counts now."""
    seat = opening.seat(name)
    due = DUE.get(state.phase, "")
    if seat is None or TAKES.get((state.phase, due)) != seat.role:
        return seat.role if seat is not None else ""
    return due


def moves(opening: Opening, state: State, name: str) -> tuple[Move, ...]:
    """Give what the rules let an agent do now; nothing where it has to wait."""
    if name not in state.movers:
        return ()
    at = f"--as {name} --in {opening.session}"
    marks = " ".join(f"--set {_word(one.name)}=N" for one in state.criteria)
    entries = [one.name for one in state.entries]
    if state.phase in (JUDGING, DELIBERATING) and not state.seed:
        entries = [f"Entry-{number}" for number in range(1, len(entries) + 1)]
    scored = {one.entry for one in state.scores if one.judge == name} if state.phase == JUDGING else set()
    score = [
        Move(f"moot score {at} --entry {one} {marks} --notes -", "0 to 10 each; the notes on standard input")
        for one in entries
        if _entry(state, name, one) not in scored
    ]
    if state.phase == CHALLENGE:
        return (Move(f"moot send {at} --tag CHALLENGE -", "`TASK:`, `CRITERIA:` one a line, `DEADLINE:`"),)
    if state.phase == ENTERING:
        return (Move(f"moot entry {at} -", "your work, sealed until all judges are in"),)
    if state.phase == JUDGING:
        return tuple(score)
    if state.phase == DELIBERATING:
        reason = [move._replace(command=f"{move.command} --reason 'why'") for move in score]
        return tuple(move._replace(meaning="a tie: score again, the same or others") for move in reason)
    if state.phase == DECIDING:
        first = state.leaders[0] if state.leaders else "NAME"
        more = " --synthesis 'the best of both'" if len(state.leaders) > 1 else ""
        winner = f"moot winner {at} --selected {first} --reason 'why'{more} --done"
        change = (move.command + " --reason 'why'" for move in score[:1])
        return (
            Move(winner, "name the winner that the sums give, and close"),
            *(Move(command, "or change a score first") for command in change),
        )
    return (Move(f"moot done {at}", "every entry has its feedback: close the session"),)


def _word(name: str) -> str:
    """Give a criterion's name as a shell takes it."""
    return name if re.fullmatch(r"[\w.-]+", name, re.ASCII) else "'" + name.replace("'", "'\\''") + "'"


def how_to_answer(opening: Opening, state: State, name: str) -> str:
    """Say to an agent that runs headless what its answer has to be."""
    seat = opening.seat(name)
    lens = f" Judge as one who looks at this: {seat.lens}." if seat is not None and seat.lens else ""
    names = [one.name for one in state.criteria]
    marks = "\n".join(f"{one}: N/10" for one in names)
    criteria = f"Criteria: {write_criteria(state.criteria)}." if names else ""
    texts = {
        CHALLENGE: "Answer with the challenge: `TASK:`, then `CRITERIA:` with one a line, then `DEADLINE: N turns`.",
        ENTERING: f"{criteria} Answer with your entry and nothing else: a line `SUBMISSION:` and the work below it,"
        " then `APPROACH:` with a sentence on it. Do not write your name in it: the judges read it blind.",
        JUDGING: f"{criteria}{lens} Answer with a part like this for each entry below, and nothing else:\n\n"
        f"ENTRY: Entry-1\n{marks}\nNOTES: what is good and what is missing",
        DELIBERATING: f"{criteria}{lens} {_and(state.leaders)} are tied. Answer with a part like this for each of"
        f" them, with the same scores or others:\n\nENTRY: NAME\n{marks}\nNOTES: feedback\nREASON: why it changed",
        DECIDING: f"The sums name {_and(state.leaders)}. Answer with `SELECTED: {''.join(state.leaders[:1])}`,"
        " a line `REASON:`, if you like a line `SYNTHESIS:` with the best of all entries, and last, alone, `[DONE]`.",
        CLOSING: "Every entry has its feedback. Answer with `[DONE]`.",
    }
    return texts.get(state.phase, "").strip()


def artifacts(state: State) -> tuple[str, ...]:
    """Give the block of the winning entry, and that of the synthesis if there is one."""
    if not state.winner:
        return ()
    return tuple(filter(None, (_text_block(state, state.winner), state.winner_block)))


def artifact_in(body: str) -> str | None:
    """Give the work in an entry, or the synthesis in a decision."""
    decision = winner_of(body)
    if body.lstrip().startswith("SELECTED:") and decision.synthesis:
        return f"## Synthesis\n\n{decision.synthesis}\n"
    work = entry_of(body).submission
    return f"{work}\n" if work else None


def final_status(opening: Opening, state: State, output: str) -> tuple[tuple[str, str], ...]:
    """Give the lines of the final status, as the seed prints them; `output` is a path or `none`."""
    scored = {one.entry for one in state.scores if one.points}
    complete = bool(state.entries) and scored >= {one.name for one in state.entries}
    sums = _listed(_plain_sums(opening, state)) if complete else ""
    weighted = _listed(_weighted(opening, state)) if complete else ""
    more = (
        ("WEIGHTED", weighted),
        ("FORFEITED", ", ".join(state.forfeited)),
        ("NAMED", ", ".join(one.name for one in state.entries if one.named)),
        ("TIE", "drawn by the seed" if state.drawn else ""),
        ("ROUNDS", str(state.round) if state.round > 1 else ""),
    )
    return (
        ("SKILL", NAME),
        ("STATUS", state.phase.upper()),
        ("TURNS", str(state.turns)),
        ("OUTPUT", output),
        ("COMPETITORS", ", ".join(_all(opening, "COMPETITOR"))),
        ("JUDGES", ", ".join(_all(opening, "JUDGE"))),
        ("WINNER", state.winner or "none"),
        ("SCORES", sums or "none"),
        *((key, value) for key, value in more if value),
    )
