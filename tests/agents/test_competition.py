"""The rules of a competition, asked directly: every cell of the table, sums, ties, rounds, losses, endings."""

import json
import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.agents.protocols import competition as rules
from moot.agents.protocols.competition import (
    CHALLENGE,
    CLOSING,
    DECIDING,
    DELIBERATING,
    DONE,
    ENTERING,
    EXHAUSTED,
    INCOMPLETE,
    JUDGING,
    OPENING,
    TAGS,
    TAKES,
)
from moot.agents.protocols.events import Close, IllFormed, Lost, Notify, Posted, Rule, Ticked, Unsealed
from moot.agents.protocols.opening import Opening
from moot.agents.session import Session, dump_session, load_session
from moot.parsers.bodies import read_body
from moot.parsers.seats import Criterion, Prompt, Seat

NOON = 1_000_000
SEEDS = [number * 64 for number in "abc"]
CRITERIA = ("Clear", "Short")


def opening_for(competitors=("CC", "CX"), judges=("GM",), **more):
    roster = tuple(Seat(name, "COMPETITOR") for name in competitors)
    roster += tuple(Seat(name, "JUDGE") for name in judges)
    said = {"CRITERIA": "Clear 60% | Short 40%", "SEED": SEEDS[0]}
    said |= {"SEED_2": SEEDS[1], "SEED_3": SEEDS[2]} if "min_score" in more else {}
    said |= {key.upper(): str(value) for key, value in more.items() if key != "max_turns"}
    options = tuple((key, value) for key, value in said.items() if value)
    return Opening(
        "comp-7f3a", "competition", "Name it", roster, more.get("max_turns", 40), 60, options=options
    )


class Table:
    """A session in the making: what is posted is ruled on, and seals are opened as the referee does."""

    def __init__(self, opening=None, seed="secret"):
        self.opening = opening or opening_for()
        self.state = rules.begin(self.opening, NOON)
        self.ms = NOON
        self.rulings = []
        self.effects = ()
        self.texts = {}
        self.seed = seed
        self.blocks = 0

    def step(self, event):
        before = self.state
        self.state, self.effects = rules.step(self.opening, self.state, event)
        if not self.effects:
            assert self.state == before
            return None
        rule = self.effects[0]
        assert isinstance(rule, Rule)
        assert "\n" not in rule.why
        assert rule.next == (self.state.movers if rule.verdict != "refused" else rule.next)
        self.rulings.append(rule)
        assert self.state == again(self.opening, self.state)
        return rule

    def post(self, author, tag, body="", *, role="", tokens=(), sealed=False):
        """Post a block; a sealed one keeps its text until the seals open. Gives the last ruling."""
        self.blocks += 1
        event = self.event(f"B{self.blocks}", author, tag, body, role=role, tokens=tokens)
        if sealed:
            shown = rules.open_part(self.state, event)
            assert shown is not None
            digest = f"{self.blocks:064x}"
            self.texts[digest] = (author, tag, body)
            event = event._replace(says=read_body(tag, shown), sealed=digest, names_author=False)
        rule = self.step(event)
        self.open_seals()
        return rule

    def event(self, block, author, tag, body, *, role="", tokens=()):
        named = author in body and tag in ("ENTRY", "SCORE")
        return Posted(
            block, author, tag, role, tokens, "", "", not body, self.ms, read_body(tag, body), "", named
        )

    def open_seals(self):
        while rules.opens(self.state):
            seal = rules.seals(self.opening, self.state)[0]
            author, tag, body = self.texts.get(seal.sealed, ("", "SEED", self.seed))
            self.blocks += 1
            posted = self.event(f"R{self.blocks}", author, tag, body)
            assert self.step(Unsealed(seal.sealed, posted)).verdict == "revealed"

    def enter(self, name, text="A line", **more):
        return self.post(name, "ENTRY", f"SUBMISSION: {text}", **more)

    def score(self, judge, entry, *points, notes="Fine.", reason="", **more):
        criteria = [one.name for one in self.state.criteria]
        marks = "\n".join(f"{name}: {value}" for name, value in zip(criteria, points, strict=True))
        body = f"ENTRY: {entry}\n{marks}\nNOTES: {notes}" + (f"\nREASON: {reason}" if reason else "")
        return self.post(judge, "SCORE", body, **more)

    def winner(self, judge, name, reason="It is the best.", synthesis="", **more):
        body = f"SELECTED: {name}\nREASON: {reason}" + (f"\nSYNTHESIS: {synthesis}" if synthesis else "")
        return self.post(judge, "WINNER", body, **more)

    def wait(self, time_outs=1):
        rule = None
        for _ in range(time_outs):
            self.ms = rules.due_ms(self.opening, self.state)
            rule = self.step(Ticked(self.ms))
            self.open_seals()
        return rule

    def lose(self, tag):
        seal = next(one for one in rules.seals(self.opening, self.state) if one.tag == tag)
        rule = self.step(Lost(seal.sealed, self.ms))
        self.open_seals()
        return rule

    def status(self):
        return dict(rules.final_status(self.opening, self.state, "none"))

    @property
    def close(self):
        return next((effect for effect in self.effects if isinstance(effect, Close)), None)


def again(opening, state):
    """Give a state as it comes back from JSON."""
    session = Session(1, opening, state, "", "")
    return load_session(json.loads(json.dumps(dump_session(session)))).state


def at(phase, **more):
    """Give a table at the beginning of a phase."""
    table = Table(opening_for(**({"criteria": ""} | more if phase == CHALLENGE else more)))
    if phase == CHALLENGE:
        return table
    if phase == ENTERING:
        return table
    for name in ("CC", "CX"):
        table.enter(name, f"{name.lower()} line")
    if phase == JUDGING:
        return table
    if phase == DELIBERATING:
        table.score("GM", "CC", 7, 7)
        table.score("GM", "CX", 7, 7)
        return table
    table.score("GM", "CC", 7, 8)
    table.score("GM", "CX", 9, 6)
    if phase == CLOSING:
        table.winner("GM", "CX")
    if phase == DONE:
        table.winner("GM", "CX", tokens=("DONE",))
    assert table.state.phase == phase
    return table


# -- the table ----------------------------------------------------------------------------------------

BODIES = {
    "CHALLENGE": "TASK: make it",
    "ENTRY": "SUBMISSION: a line",
    "SCORE": "ENTRY: CC\nClear: 7\nShort: 8\nNOTES: fine\nREASON: again",
    "WINNER": "SELECTED: CX\nREASON: the best",
}
PHASES = (CHALLENGE, ENTERING, JUDGING, DELIBERATING, DECIDING, CLOSING)


@pytest.mark.parametrize(("phase", "tag", "author"), list(product(PHASES, TAGS, ("CC", "GM"))))
def test_each_phase_takes_what_the_table_says_from_whom_it_says_and_nothing_else(phase, tag, author):
    table = at(phase)
    turns = table.state.turns
    rule = table.post(author, tag, BODIES.get(tag, "words"))
    role = {"CC": "COMPETITOR", "GM": "JUDGE"}[author]
    if TAKES.get((phase, tag)) == role:
        assert rule.verdict == "accepted"
        assert table.state.turns == turns + 1
    else:
        assert rule.verdict == "refused"
        assert table.state.turns == turns
        assert "next with [" in rule.why


@pytest.mark.parametrize("phase", [OPENING, EXHAUSTED, DONE, INCOMPLETE])
def test_a_session_that_waits_for_nobody_takes_nothing(phase):
    table = Table()
    table.state = table.state._replace(phase=phase, movers=())
    for tag in TAGS:
        event = table.event("B", "CC", tag, BODIES.get(tag, "words"))
        assert rules.step(table.opening, table.state, event)[1][0].verdict == "refused"


def test_the_example_run_ends_with_eight_turns_and_the_sums_of_the_seed():
    table = Table(opening_for(criteria="", output=""))
    body = "TASK: a line\nCRITERIA:\n1. A - plain? (30%)\n2. B - more? (40%)\n3. C - true? (30%)\nDEADLINE: 4 turns"
    table.post("", "CHALLENGE", body)
    assert table.state.deadline == 4
    for name in ("CC", "CX"):
        table.post(name, "ACK")
    for name in ("CC", "CX"):
        assert table.enter(name).code == "entry-open"
    marks = "ENTRY: CC\nA: 8/10\nB: 7/10\nC: 9/10\nTOTAL: 24/30\nNOTES: good\n\n"
    marks += "ENTRY: CX\nA: 9/10\nB: 9/10\nC: 8/10\nTOTAL: 26/30\nNOTES: better"
    table.post("GM", "SCORE", marks, role="JUDGE")
    table.post("", "WINNER", "SELECTED: CX\nREASON: better", tokens=("DONE",))
    assert table.close == Close("done")
    said = table.status()
    assert (said["TURNS"], said["WINNER"], said["SCORES"]) == ("8", "CX", "CC=24, CX=26")
    assert said["WEIGHTED"] == "CC=7.9, CX=8.7"


# -- the prompt ---------------------------------------------------------------------------------------


def prompt(*seats, **more):
    return Prompt("competition", "Name it", tuple(Seat(*seat) for seat in seats), **more)


def test_competitors_come_first_and_judges_keep_their_lens():
    given = rules.seats(prompt(("GM", "JUDGE", "law"), ("CX", "COMPETITOR"), ("CC", "")))
    assert given == (Seat("CX", "COMPETITOR"), Seat("CC", "COMPETITOR"), Seat("GM", "JUDGE", "law"))


def test_where_nobody_competes_cc_and_cx_do():
    assert [seat.name for seat in rules.seats(prompt(("GM", "JUDGE")))] == ["CC", "CX", "GM"]


@pytest.mark.parametrize(
    ("seats", "says"),
    [
        ([("CC", "COMPETITOR"), ("CX", "COMPETITOR")], "a competition needs at least one judge"),
        ([("CC", "COMPETITOR"), ("GM", "JUDGE")], "needs two competitors, the prompt names CC"),
        ([("CC", ""), ("CX", "COMPETITOR"), ("CX", "JUDGE")], "CX cannot be both"),
        ([("CC", "JUDGE")], "CC cannot be both"),
        ([("CC", "PEER_A"), ("CX", "JUDGE")], "CC is PEER_A"),
    ],
)
def test_a_prompt_without_enough_agents_is_told_what_to_add(seats, says):
    with pytest.raises(IllFormed, match=says):
        rules.seats(prompt(*seats))


def test_the_opening_pins_what_the_prompt_says():
    said = prompt(
        criteria=(Criterion("Clear", 60.0), Criterion("Short", 40.0)),
        deadline_turns=4,
        options=(("min_score", "60%"), ("tie_break", "Random")),
    )
    assert dict(rules.options(said)) == {
        "CRITERIA": "Clear 60% | Short 40%", "DEADLINE": "4", "MIN_SCORE": "60%", "TIE_BREAK": "draw",
    }  # fmt: skip
    assert rules.seeds(said) == ("SEED", "SEED_2", "SEED_3")
    assert rules.seeds(prompt()) == ("SEED",)


@pytest.mark.parametrize(
    "option", [("min_score", "six"), ("min_score", "0%"), ("min_score", "101%"), ("tie_break", "x")]
)
def test_an_option_that_makes_no_sense_is_refused(option):
    with pytest.raises(IllFormed, match=option[0]):
        rules.options(prompt(options=(option,)))


@pytest.mark.parametrize("change", [{"seed": ""}, {"seed": "abc"}, {"judges": ()}, {"competitors": ("CC",)}])
def test_an_opening_that_the_rules_would_not_write_begins_nothing(change):
    with pytest.raises(IllFormed):
        rules.begin(opening_for(**change), NOON)


# -- the challenge and the entries --------------------------------------------------------------------


def test_the_human_may_give_the_challenge_and_nothing_else():
    assert at(CHALLENGE).post("HUMAN", "CHALLENGE", "TASK: x").verdict == "accepted"
    assert at(ENTERING).post("HUMAN", "ENTRY", "SUBMISSION: x").code == "not-in-session"


def test_a_challenge_without_criteria_has_one():
    table = at(CHALLENGE)
    table.post("GM", "CHALLENGE", "make a line")
    assert table.state.criteria == (Criterion("Overall", None),)


@pytest.mark.parametrize(
    "body", ["", "TASK: x\nCRITERIA: A 60%, B 60%", "TASK: x\nDEADLINE: soon", "CRITERIA: A"]
)
def test_a_challenge_that_makes_no_sense_is_refused(body):
    assert at(CHALLENGE).post("GM", "CHALLENGE", body).verdict == "refused"


def test_after_a_time_out_without_a_challenge_there_is_one_criterion():
    table = at(CHALLENGE)
    assert table.wait().code == "overall"
    assert table.state.phase == ENTERING


def test_acknowledgements_do_not_count_towards_the_deadline():
    table = Table(opening_for(("CC", "CX", "AG"), deadline=2))
    for name in ("CC", "CX", "AG"):
        table.post(name, "ACK")
    assert table.post("CC", "ACK").code == "again"
    table.enter("CC")
    rule = table.enter("CX")
    assert "the deadline has passed, AG forfeits" in rule.why
    assert table.state.phase == JUDGING
    assert table.enter("AG").code == "late"
    assert table.status()["FORFEITED"] == "AG"


def test_a_second_entry_takes_the_place_of_the_first():
    table = Table()
    table.enter("CC", "one", sealed=True)
    first = table.state.entries[0].sealed
    table.enter("CC", "two", sealed=True)
    assert len(table.state.entries) == 1
    assert table.state.entries[0].sealed != first


def test_a_competitor_may_withdraw_and_the_other_goes_on_alone():
    table = Table()
    table.post("CC", "INCOMPLETE")
    table.enter("CX")
    assert [one.name for one in table.state.entries] == ["CX"]
    assert table.state.phase == JUDGING


def test_who_is_silent_through_three_time_outs_forfeits_and_the_session_goes_on():
    table = Table()
    table.enter("CX")
    assert [table.wait().code for _ in range(3)] == ["silent", "human", "forfeit"]
    assert table.state.phase == JUDGING
    assert table.status()["FORFEITED"] == "CC"


def test_where_nobody_enters_the_session_ends_incomplete():
    table = Table()
    table.wait(3)
    assert table.state.phase == EXHAUSTED
    assert table.wait().why.startswith("nobody entered")
    assert table.close.state == INCOMPLETE


# -- scores -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "code", "says"),
    [
        ("", "no-entry", "write `ENTRY: Entry-1`"),
        ("ENTRY: ZZ\nClear: 7\nShort: 8\nNOTES: x", "no-such-entry", "there are CC, CX"),
        ("ENTRY: Entry-3\nClear: 7\nShort: 8\nNOTES: x", "no-such-entry", "no entry Entry-3"),
        ("ENTRY: CC\nClear: 7\nNOTES: x", "missing-criterion", "write `Short: N/10`"),
        ("ENTRY: CC\nClear: 11\nShort: 8\nNOTES: x", "out-of-range", "scores go from 0 to 10"),
        ("ENTRY: CC\nClear: -1\nShort: 8\nNOTES: x", "out-of-range", "scores go from 0 to 10"),
        ("ENTRY: CC\nClear: good\nShort: 8\nNOTES: x", "no-number", "give a number out of 10"),
        ("ENTRY: CC\nClear: 7\nShort: 8\nBold: 9\nNOTES: x", "unknown-criterion", "there are Clear, Short"),
        ("ENTRY: CC\nClear: 7\nShort: 8\nShorts: 9\nNOTES: x", "unknown-criterion", "did you mean Short?"),
        (
            "ENTRY: CC\nClear: 8/10\nShort: 9/10\nTOTAL: 27/20\nNOTES: x",
            "wrong-total",
            "is 17/20, not '27/20'",
        ),
        ("ENTRY: CC\nClear: 8/10\nShort: 9/10\nTOTAL: 17/20", "no-notes", "add `NOTES:"),
    ],
)
def test_a_score_that_cannot_count_is_told_its_mend_and_can_be_mended(body, code, says):
    table = at(JUDGING)
    rule = table.post("GM", "SCORE", body)
    assert (rule.verdict, rule.code) == ("refused", code)
    assert says in rule.why
    assert table.score("GM", "CC", 7, 8).verdict == "accepted"


def test_criteria_may_be_numbered_and_points_may_have_decimals():
    table = at(JUDGING)
    table.post("GM", "SCORE", "ENTRY: CC\nCriterion 1: 7.5/10\n**clear**: 9\nCriterion 2: 8\nNOTES: x")
    assert table.state.scores[0].points == (750, 800)


def test_nobody_scores_its_own_entry():
    table = at(JUDGING)
    assert table.score("CC", "CC", 10, 10).code == "wrong-role"


def test_sealed_scores_open_when_the_last_judge_is_in_and_not_before():
    table = Table(opening_for(judges=("GM", "AG")))
    for name in ("CC", "CX"):
        table.enter(name, f"a line by {name}", sealed=True)
    for label in ("Entry-1", "Entry-2"):
        table.score("GM", label, 7, 7, sealed=True)
    assert not any(one.points for one in table.state.scores)
    assert not any(one.text_block for one in table.state.entries)
    table.score("AG", "Entry-1", 6, 6, sealed=True)
    table.score("AG", "Entry-2", 5, 5, sealed=True)
    codes = [rule.code for rule in table.rulings if rule.verdict == "revealed"]
    assert codes == ["seed", "entry", "entry", "score", "score", "score", "score"]
    order = {judge: rules._order(table.state, judge) for judge in ("GM", "AG")}
    given = {(one.judge, one.entry): one.points for one in table.state.scores}
    assert given["AG", order["AG"][0]] == (600, 600)
    assert given["AG", order["AG"][1]] == (500, 500)
    assert table.status()["NAMED"] == "CC, CX"


def test_a_sealed_score_that_holds_nothing_valid_is_asked_for_again():
    table = at(JUDGING)
    table.score("GM", "Entry-1", 7, 7, sealed=True)
    table.score("GM", "Entry-2", 17, 7, sealed=True)
    assert table.state.phase == JUDGING
    assert table.state.movers == ("GM",)
    missing = ({"CC", "CX"} - {one.entry for one in table.state.scores}).pop()
    table.score("GM", missing, 6, 6)
    assert table.state.phase == DECIDING


def test_a_judge_reads_the_entries_under_labels_in_an_order_of_its_own():
    opening = opening_for([f"A{n}" for n in range(6)], ("GM", "AG"))
    table = Table(opening)
    for name in opening.names[:6]:
        table.enter(name, sealed=True)
    orders = set()
    for seed, judge in product(("one", "two"), ("GM", "AG")):
        copies = rules.copies(opening, table.state, judge, seed)
        assert [copy.label for copy in copies] == [f"Entry-{n}" for n in range(1, 7)]
        assert {copy.block for copy in copies} == {one.block for one in table.state.entries}
        orders.add(tuple(copy.block for copy in copies))
    assert len(orders) == 4
    assert rules.copies(opening, table.state, "A1", "one") == ()


def test_a_judge_that_is_silent_through_three_time_outs_is_left_out():
    table = Table(opening_for(judges=("GM", "AG")))
    for name in ("CC", "CX"):
        table.enter(name)
    for entry in ("CC", "CX"):
        table.score("GM", entry, 7, len(entry) + len(entry) * (entry == "CC"))
    assert table.wait(3).code == "left-out"
    assert table.state.phase == DECIDING
    assert table.winner("AG", "CC").code == "forfeited"
    assert table.winner("GM", "CC", tokens=("DONE",)).code == "winner-done"


def test_where_no_judge_scores_the_session_ends_incomplete():
    table = at(JUDGING)
    table.wait(3)
    assert table.close.state == INCOMPLETE


# -- the decision -------------------------------------------------------------------------------------


def test_a_winner_that_the_sums_do_not_give_is_refused_until_the_scores_are_changed_with_a_reason():
    table = at(DECIDING)
    assert table.winner("GM", "CC").code == "not-the-ranking"
    assert table.score("GM", "CC", 10, 10).code == "no-reason"
    assert table.score("GM", "CC", 10, 10, reason="read again").code == "score-changed"
    assert table.winner("GM", "CC", reason="").code == "no-reason"
    assert table.winner("GM", "ZZ").code == "no-such-entry"
    assert table.winner("GM", "CC").code == "winner"
    assert table.post("CC", "DONE").code == "wrong-role"
    assert table.post("", "DONE").code == "done"
    assert table.close == Close("done")


def test_a_majority_of_the_judges_names_the_winner():
    table = Table(opening_for(judges=("GM", "AG", "ZZ")))
    for name in ("CC", "CX"):
        table.enter(name)
    for judge, entry in product(("GM", "AG", "ZZ"), ("CC", "CX")):
        table.score(judge, entry, 5 + (entry == "CX"), 5)
    assert table.post("", "WINNER", "SELECTED: CX\nREASON: x").code == "no-author"
    assert table.winner("GM", "CX", tokens=("DONE",)).code == "winner-named"
    assert table.state.phase == DECIDING
    assert table.winner("AG", "CX").code == "winner"
    assert table.state.winner == "CX"


def test_a_tie_is_deliberated_for_one_round_and_then_drawn_by_the_seed():
    drawn = set()
    for seed in map(str, range(12)):
        table = Table(seed=seed)
        for name in ("CC", "CX"):
            table.enter(name)
        for name in ("CC", "CX"):
            table.score("GM", name, 7, 7)
        assert table.state.phase == DELIBERATING
        assert table.winner("GM", "CC").code == "not-now"
        table.score("GM", "CC", 7, 7)
        assert table.state.phase == DECIDING
        drawn.add(table.state.leaders)
        table.winner("GM", table.state.leaders[0], tokens=("DONE",))
        assert table.state.phase == DONE
    assert drawn == {("CC",), ("CX",)}


def test_a_tie_may_end_in_a_synthesis():
    table = at(DELIBERATING, tie_break="synthesis")
    table.score("GM", "CX", 7, 7)
    assert table.winner("GM", "CX").code == "no-synthesis"
    table.winner("GM", "CX", synthesis="both", tokens=("DONE",))
    assert table.state.phase == DONE
    assert len(rules.artifacts(table.state)) == 2


def test_judges_that_name_different_ones_of_the_tied_let_the_seed_draw():
    table = Table(opening_for(judges=("GM", "AG"), tie_break="synthesis"))
    for name in ("CC", "CX"):
        table.enter(name)
    for _, judge, name in product((1, 2), ("GM", "AG"), ("CC", "CX")):
        if table.state.phase != DECIDING:
            table.score(judge, name, 7, 7)
    table.winner("GM", "CC", synthesis="both")
    assert "no majority, so the seed draws" in table.winner("AG", "CX", synthesis="both").why
    (drawn,) = table.state.leaders
    (left,) = table.state.movers
    table.winner(left, drawn, tokens=("DONE",))
    assert table.state.phase == DONE


def test_a_tie_that_deliberation_ends_has_a_winner():
    table = at(DELIBERATING)
    assert table.score("GM", "CX", 8, 7).code == "no-reason"
    table.score("GM", "CX", 8, 7, reason="shorter than I saw")
    assert table.state.leaders == ("CX",)


def test_silence_in_deliberation_lets_the_scores_stand():
    table = at(DELIBERATING)
    assert table.wait(3).code == "scores-stand"
    assert len(table.state.leaders) == 1


def test_below_the_least_score_there_is_another_round_and_at_last_an_end():
    table = Table(opening_for(min_score="80%"))
    for number in (1, 2, 3):
        assert table.state.round == number
        for name in ("CC", "CX"):
            table.enter(name, sealed=True)
        for label in ("Entry-1", "Entry-2"):
            table.score("GM", label, 7, 8, sealed=True)
    assert table.state.phase == EXHAUSTED
    assert "no entry reached 80% in 3 rounds" in table.wait().why
    assert table.close.state == INCOMPLETE


def test_a_score_that_just_reaches_the_least_is_enough():
    table = at(JUDGING, min_score="75%")
    table.score("GM", "CC", 7.5, 7.5)
    table.score("GM", "CX", 1, 1)
    assert table.state.phase == DECIDING


def test_the_last_allowed_turn_ends_the_session_unless_it_is_the_end():
    table = Table(opening_for(max_turns=3))
    for name in ("CC", "CX"):
        table.enter(name)
    table.score("GM", "CC", 7, 7)
    assert table.close == Close(INCOMPLETE, "max_turns 3")
    table = Table(opening_for(max_turns=6))
    for name in ("CC", "CX"):
        table.enter(name)
    for name in ("CC", "CX"):
        table.score("GM", name, 7, len(name) + (name == "CC"))
    table.winner("GM", "CC", tokens=("DONE",))
    assert table.close == Close(DONE)


# -- losses -------------------------------------------------------------------------------------------


def test_a_lost_entry_is_asked_for_again_and_the_scores_with_it():
    table = Table(opening_for(deadline=2))
    for name in ("CC", "CX"):
        table.enter(name, sealed=True)
    table.score("GM", "Entry-1", 7, 7, sealed=True)
    assert table.lose("ENTRY").code == "entry"
    assert (table.state.phase, table.state.movers, table.state.scores) == (ENTERING, ("CC",), ())
    table.enter("CC", "once more", sealed=True)
    assert table.state.phase == JUDGING
    assert {one.name for one in table.state.entries} == {"CC", "CX"}


def test_a_lost_score_is_asked_for_again():
    table = at(JUDGING)
    table.score("GM", "Entry-1", 7, 7, sealed=True)
    assert table.lose("SCORE").code == "score"
    assert table.state.movers == ("GM",)
    for label in ("Entry-1", "Entry-2"):
        table.score("GM", label, 7, len(label) - (label == "Entry-2"), sealed=True)
    assert table.state.phase == DECIDING


def test_a_lost_seed_costs_the_labels_and_not_the_session():
    table = at(JUDGING)
    table.score("GM", "Entry-1", 7, 7, sealed=True)
    assert table.lose("SEED").code == "seed"
    for number, label in enumerate(("Entry-1", "Entry-2")):
        table.score("GM", label, 7, 7 + number, sealed=True)
    assert table.state.phase == DECIDING
    assert len(table.state.scores) == 2


def test_scores_by_name_outlive_the_seed():
    table = Table(opening_for(judges=("GM", "AG")))
    for name in ("CC", "CX"):
        table.enter(name)
    for name in ("CC", "CX"):
        table.score("GM", name, 7, 6 + (name == "CX"))
    assert table.lose("SEED").next == ("AG",)
    for name in ("CC", "CX"):
        table.score("AG", name, 7, 6)
    assert table.state.leaders == ("CX",)


def test_a_seal_that_is_none_of_the_sessions_says_nothing():
    table = Table()
    assert table.step(Lost("f" * 64, NOON)) is None
    assert table.step(Unsealed("f" * 64, table.event("R", "CC", "ENTRY", "x"))) is None


# -- what a tester found ------------------------------------------------------------------------------


def test_nobody_enters_or_scores_with_a_seal_that_the_ledger_holds_already():
    table = Table()
    table.enter("CC", "mine", sealed=True)
    for digest in (table.state.entries[0].sealed, SEEDS[0]):
        event = table.event("B", "CX", "ENTRY", "x")._replace(sealed=digest)
        assert table.step(event).code == "copied-seal"


def test_no_sealed_entry_is_scored_by_name_before_the_reveal():
    table = Table()
    table.enter("CC", sealed=True)
    table.enter("CX")
    assert "no entry CC: there are Entry-1, Entry-2" in table.score("GM", "CC", 7, 7).why
    assert table.score("GM", "CX", 7, 7).verdict == "accepted"  # that one stands in the ledger


def test_a_criterion_scored_twice_is_named():
    rule = at(JUDGING).post("GM", "SCORE", "ENTRY: CC\nClear: 8\nClear: 2\nShort: 3\nNOTES: x")
    assert (rule.code, "two scores for clear" in rule.why) == ("twice", True)


def test_a_decision_that_names_nobody_is_told_what_to_add():
    assert "write `SELECTED: NAME`" in at(DECIDING).post("GM", "WINNER", "I like it").why


def test_a_draw_is_said():
    table = at(DELIBERATING)
    rule = table.score("GM", "CX", 7, 7)
    assert f"still a tie, so the seed draws {table.state.leaders[0]}" in rule.why
    assert table.status()["TIE"] == "drawn by the seed"


def test_silence_after_the_winner_stands_does_not_undo_the_competition():
    table = at(CLOSING)
    table.wait(3)
    assert table.close == Close(DONE, "nobody said [DONE]")


def test_a_silent_judge_does_not_keep_the_others_from_naming_the_winner():
    table = Table(opening_for(judges=("GM", "AG")))
    for name in ("CC", "CX"):
        table.enter(name)
    for judge, entry in product(("GM", "AG"), ("CC", "CX")):
        table.score(judge, entry, 5 + (entry == "CX"), 5)
    table.winner("GM", "CX")
    assert table.wait(3).code == "left-out"
    assert table.state.phase == CLOSING


def test_a_plain_block_is_told_the_tag_that_is_due_or_that_nothing_is():
    table = at(ENTERING)
    assert "write [ENTRY - CC]" in table.post("CC", "COMPETITOR", "words").why
    assert "waits for nothing from GM now" in table.post("GM", "JUDGE", "words").why


def test_scores_that_were_given_stand_in_the_status_though_nobody_won():
    table = Table(opening_for(min_score="90%"))
    for _ in (1, 2, 3):
        for name in ("CC", "CX"):
            table.enter(name)
        for name in ("CC", "CX"):
            table.score("GM", name, 5, 5)
    table.wait()
    assert (table.status()["WINNER"], table.status()["SCORES"]) == ("none", "CC=10, CX=10")


def test_a_score_that_ends_the_tie_ends_the_draw_as_well():
    table = at(DELIBERATING)
    table.score("GM", "CX", 7, 7)
    assert table.state.drawn
    rule = table.score("GM", "CX", 9, 9, reason="better")
    assert "CX leads" in rule.why
    assert "TIE" not in table.status()


def test_a_second_entry_does_not_use_up_the_others_deadline():
    table = Table(opening_for(deadline=2))
    table.enter("CC")
    assert "in place of its first entry" in table.enter("CC").why
    table.enter("CX")
    assert [one.name for one in table.state.entries] == ["CC", "CX"]


# -- in any order -------------------------------------------------------------------------------------

MARKS = {
    ("J1", "A"): (8, 7), ("J1", "B"): (6, 9), ("J1", "C"): (7, 7), ("J1", "D"): (5, 5),
    ("J2", "A"): (7, 8), ("J2", "B"): (9, 6), ("J2", "C"): (6, 6), ("J2", "D"): (4, 9),
    ("J3", "A"): (9, 5), ("J3", "B"): (5, 5), ("J3", "C"): (8, 9), ("J3", "D"): (7, 2),
}  # fmt: skip


@pytest.mark.timeout(600)
@settings(max_examples=10_000, deadline=None)
@given(st.integers(0, 1 << 32))
def test_the_winner_never_depends_on_the_order_of_entries_judges_or_blocks(number):
    chance = random.Random(number)
    names, judges = list("ABCD"), ["J1", "J2", "J3"]
    chance.shuffle(names)
    chance.shuffle(judges)
    table = Quick(opening_for(names, judges), str(number))
    entering = names[:]
    chance.shuffle(entering)
    for name in entering:
        table.enter(name)
        assert table.score(name, name, 10, 10).verdict == "refused"  # nobody scores itself, ever
    given = list(MARKS)
    chance.shuffle(given)
    for judge, entry in given:
        table.score(judge, entry, *MARKS[judge, entry])
    assert table.state.leaders == ("A",)
    chance.shuffle(judges)
    for judge in judges[:2]:
        table.winner(judge, "A")
    table.post(judges[2], "DONE")
    assert table.state.phase == DONE
    assert dict(table.status())["SCORES"] == ", ".join(
        f"{name}={ {'A': '14.67', 'B': '13.33', 'C': '14.33', 'D': '10.67'}[name] }" for name in names
    )


class Quick(Table):
    """A table that does not look at each state as JSON."""

    def step(self, event):
        self.state, self.effects = rules.step(self.opening, self.state, event)
        return self.effects[0] if self.effects else None


LABELLED = "ENTRY: Entry-1\nClear: 7\nShort: 7\nNOTES: n\nREASON: r"
EVENTS = st.tuples(
    st.sampled_from(["CC", "CX", "GM", "AG", "HUMAN", "", "ZZ"]),
    st.sampled_from([*TAGS, "", "NOTE", "tick", "lose"]),
    st.sampled_from(
        [
            *BODIES.values(),
            "",
            "ENTRY: Entry-1\nClear: 7\nShort: 7\nNOTES: n\nREASON: r",
            "SELECTED: CC\nREASON: r",
        ]
    ),
    st.sampled_from([(), ("DONE",), ("INCOMPLETE",)]),
    st.booleans(),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(EVENTS, max_size=40), st.sampled_from([{}, {"min_score": "70%"}, {"tie_break": "synthesis"}]))
def test_any_events_are_answered_and_every_session_ends(events, more):
    table = Table(opening_for(judges=("GM", "AG"), max_turns=30, **more))
    for author, tag, body, tokens, sealed in events:
        seals = rules.seals(table.opening, table.state)
        if tag == "tick":
            table.wait()
        elif tag == "lose":
            if seals:
                table.lose(seals[-1].tag)
        else:
            event = table.event("B", author, tag, body)
            may_seal = table.state.movers and rules.open_part(table.state, event) is not None and event.says
            table.post(author, tag, body, tokens=tokens, sealed=bool(sealed and may_seal))
    for _ in range(60):
        if table.state.phase in (DONE, INCOMPLETE):
            break
        assert table.wait() is not None
    assert table.state.phase in (DONE, INCOMPLETE)
    assert table.wait() is None


def test_whoever_moves_is_told_commands_and_others_are_not():
    for phase in PHASES:
        table = at(phase)
        for name in table.opening.names:
            offered = rules.moves(table.opening, table.state, name)
            assert bool(offered) == (name in rules.waiting_for(table.state))
            assert all(move.command.startswith("moot ") and "comp-7f3a" in move.command for move in offered)
            if offered:
                assert rules.how_to_answer(table.opening, table.state, name)
                assert rules.tag_for(table.opening, table.state, name) == rules.DUE[phase]


def test_those_whose_move_it_becomes_are_called_once():
    table = Table(opening_for(judges=("GM", "AG")))
    table.enter("CC")
    assert not any(isinstance(effect, Notify) for effect in table.effects)
    table.enter("CX")
    assert [effect.names for effect in table.effects if isinstance(effect, Notify)] == [("GM", "AG")]
