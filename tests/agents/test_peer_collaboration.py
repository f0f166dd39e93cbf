"""The rules of peer-collaboration, asked directly: every cell of the table, every refusal, every ending."""

import json
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.agents.protocols import Rules, rules_for
from moot.agents.protocols import peer_collaboration as rules
from moot.agents.protocols.events import Close, IllFormed, Notify, Posted, Rule, Ticked
from moot.agents.protocols.opening import Opening
from moot.agents.protocols.peer_collaboration import (
    DONE,
    INCOMPLETE,
    PROPOSED,
    SENTENCES,
    TABLE,
    WORKING,
    State,
    begin,
    due_ms,
    final_status,
    moves,
    seats,
    step,
    waiting_for,
)
from moot.parsers.names import TAGS
from moot.parsers.seats import Prompt, Seat

PEERS = (Seat("CC", "PEER_A"), Seat("CX", "PEER_B"))
OPENING = Opening("peer-7f3a", "peer-collaboration", "Name the boat", PEERS, max_turns=20, turn_timeout_s=60)
NOON = 1_000_000
SAYS = {
    "turn": {},
    "done": {"tokens": ("DONE",)},
    "done, changed": {"tokens": ("DONE",), "artifact": "new"},
    "incomplete": {"tokens": ("INCOMPLETE",), "reason": "no paper left"},
}
ENDED = (DONE, INCOMPLETE)


def said(author, *, at_ms=NOON, **facts):
    plain = {"tag": "", "role": "", "tokens": (), "reason": "", "artifact": "", "empty": False}
    return Posted(block="01B", author=author, at_ms=at_ms, **{**plain, **facts})


def standing(phase, mover="CC", **more):
    return State(
        phase=phase, turns=4, mover=mover, since_ms=NOON, artifact="old", artifact_block="01A", **more
    )


def play(*events, opening=OPENING):
    """Play events from the opening on; give the last state and all rulings."""
    state, rulings = begin(opening, NOON), []
    for event in events:
        state, effects = step(opening, state, event)
        rulings += [effect for effect in effects if isinstance(effect, Rule)]
    return state, rulings


def refused(event, state=None):
    """Ask the rules about an event that they must refuse; give the ruling."""
    state = state or begin(OPENING, NOON)
    after, effects = step(OPENING, state, event)
    assert after == state
    rule, notify = effects
    assert rule.verdict == "refused"
    assert isinstance(notify, Notify)
    assert "\n" not in rule.why
    return rule


# -- the table ------------------------------------------------------------------------------------


def test_the_table_has_a_cell_for_all_that_can_be_said_in_every_open_phase():
    assert set(TABLE) == set(product((WORKING, PROPOSED), SAYS))
    assert {code for code, _ in TABLE.values()} | {"max-turns"} == set(SENTENCES)


@pytest.mark.parametrize(("phase", "says"), TABLE)
@pytest.mark.parametrize(("author", "other"), [("CC", "CX"), ("CX", "CC")])
def test_each_cell_leads_where_the_table_says_and_hands_over_the_move(phase, says, author, other):
    code, follows = TABLE[phase, says]
    state, effects = step(OPENING, standing(phase, author), said(author, **SAYS[says]))
    rule, *rest = effects
    assert (rule.verdict, rule.code) == ("accepted", code)
    assert rule.why.startswith("turn 5 accepted, ")
    assert (state.phase, state.turns, state.reminders) == (follows, 5, 0)
    if follows in ENDED:
        assert state.mover == ""
        assert rule.next == ()
        assert "peer-7f3a is" in rule.why
        reason = "no paper left" if says == "incomplete" else ""
        assert rest == [Notify((other,), block=True), Notify(("CC", "CX")), Close(follows, reason)]
    else:
        assert state.mover == other
        assert rule.next == (other,)
        assert f"{other} moves next" in rule.why
        assert rest == [Notify((other,), block=True)]


@pytest.mark.parametrize(("phase", "says"), list(product(ENDED, SAYS)))
@pytest.mark.parametrize("author", ["CC", "CX", "GM", ""])
def test_an_ended_session_takes_nothing_and_says_that_it_has_ended(phase, says, author):
    ended = standing(phase, mover="")
    rule = refused(said(author, **SAYS[says]), ended)
    assert rule == Rule("refused", "ended", f"peer-7f3a is {phase.upper()}: begin another with `moot start`")
    assert step(OPENING, ended, Ticked(NOON * 1000)) == (ended, ())
    assert waiting_for(ended) == ()
    assert not any(moves(OPENING, ended, name) for name in ("CC", "CX", ""))


def test_the_sentence_on_a_proposal_tells_the_other_peer_how_to_end_it():
    _, rulings = play(said("CC"), said("CX", tokens=("DONE",)))
    assert rulings[-1].why == (
        "turn 2 accepted, CX proposes DONE; CC moves next: confirm with [DONE], or work on"
    )


def test_the_sentence_on_a_turn_names_who_moves_next():
    _, rulings = play(said("CC"))
    assert rulings == [Rule("accepted", "turn", "turn 1 accepted, CX moves next", ("CX",))]


# -- DONE -----------------------------------------------------------------------------------------


def test_the_example_of_the_seed_takes_four_turns_to_done():
    state, rulings = play(
        said("CC"),
        said("CX", artifact="the list"),
        said("CC", tokens=("DONE",)),
        said("CX", tokens=("DONE",)),
    )
    assert [rule.code for rule in rulings] == ["turn", "turn", "proposed", "confirmed"]
    assert (state.phase, state.turns, state.artifact, state.artifact_block) == (DONE, 4, "the list", "01B")


def test_a_proposal_that_is_not_confirmed_lapses_and_needs_both_peers_again():
    state, rulings = play(
        said("CC", tokens=("DONE",)),
        said("CX"),
        said("CC", tokens=("DONE",)),
        said("CX"),
        said("CC"),
        said("CX", tokens=("DONE",)),
        said("CC", tokens=("DONE",)),
    )
    codes = ["proposed", "lapsed", "proposed", "lapsed", "turn", "proposed", "confirmed"]
    assert [rule.code for rule in rulings] == codes
    assert state.phase == DONE


def test_done_with_a_changed_artifact_is_a_new_proposal_until_a_done_without_change():
    state, rulings = play(
        said("CC", tokens=("DONE",), artifact="one"),
        said("CX", tokens=("DONE",), artifact="two"),
        said("CC", tokens=("DONE",), artifact="three"),
        said("CX", tokens=("DONE",), artifact="three"),
    )
    assert [rule.code for rule in rulings] == ["proposed", "proposed", "proposed", "confirmed"]
    assert state.artifact == "three"


def test_done_that_brings_the_first_artifact_confirms_nothing_yet():
    state, rulings = play(said("CC", tokens=("DONE",)), said("CX", tokens=("DONE",), artifact="first"))
    assert rulings[-1].code == "proposed"
    assert state.phase == PROPOSED


def test_acknowledgements_within_a_turn_are_no_move():
    _, rulings = play(said("CC", tokens=("ACK",)), said("CX", tokens=("ACK", "DONE")))
    assert [rule.code for rule in rulings] == ["turn", "proposed"]


# -- limits ---------------------------------------------------------------------------------------


def last_turn(phase):
    return standing(phase)._replace(turns=19)


def test_a_confirmation_that_is_the_last_allowed_turn_counts():
    state, (rule, *_) = step(OPENING, last_turn(PROPOSED), said("CC", tokens=("DONE",)))
    assert (state.phase, state.turns, rule.code) == (DONE, 20, "confirmed")


@pytest.mark.parametrize(("phase", "says"), [cell for cell in TABLE if TABLE[cell][1] not in ENDED])
def test_the_last_allowed_turn_ends_incomplete_whatever_it_proposes(phase, says):
    state, effects = step(OPENING, last_turn(phase), said("CC", **SAYS[says]))
    assert (state.phase, state.mover) == (INCOMPLETE, "")
    assert effects[0] == Rule(
        "accepted", "max-turns", "turn 20 accepted, the last of max_turns 20: peer-7f3a is INCOMPLETE"
    )
    assert effects[-1] == Close(INCOMPLETE, "max_turns 20")


def test_a_session_of_one_turn_ends_with_it():
    state, rulings = play(said("CC"), opening=OPENING._replace(max_turns=1))
    assert (state.phase, [rule.code for rule in rulings]) == (INCOMPLETE, ["max-turns"])


def test_a_peer_that_gives_up_on_the_last_turn_gave_up():
    _, effects = step(OPENING, last_turn(WORKING), said("CC", tokens=("INCOMPLETE",), reason="too hard"))
    assert effects[0].code == "gave-up"
    assert effects[-1] == Close(INCOMPLETE, "too hard")


def test_a_peer_that_gives_up_without_a_word_is_recorded_so():
    _, effects = step(OPENING, begin(OPENING, NOON), said("CC", tokens=("INCOMPLETE",)))
    assert effects[0].why == "turn 1 accepted, CC gives up: peer-7f3a is INCOMPLETE"
    assert effects[-1] == Close(INCOMPLETE, "no reason given")


# -- silence --------------------------------------------------------------------------------------


def test_silence_is_reminded_then_told_to_the_human_then_ends_each_after_one_more_time_out():
    state = begin(OPENING, NOON)
    for at_ms, code, told, says in (
        (NOON + 60_000, "silent", ("CC",), "CC has been silent for 60 s: it is CC's move"),
        (
            NOON + 120_000,
            "human",
            ("CC", "HUMAN"),
            "CC has been silent for 120 s: wake it, or the session ends",
        ),
    ):
        assert step(OPENING, state, Ticked(at_ms - 1)) == (state, ())
        state, effects = step(OPENING, state, Ticked(at_ms))
        assert effects == (Rule("reminded", code, says, ("CC",)), Notify(told))
        assert (state.phase, state.mover, state.turns) == (WORKING, "CC", 0)
    assert step(OPENING, state, Ticked(NOON + 179_999)) == (state, ())
    state, effects = step(OPENING, state, Ticked(NOON + 180_000))
    assert effects == (
        Rule("closed", "silent", "CC has been silent for 180 s: peer-7f3a is INCOMPLETE"),
        Notify(("CC", "CX", "HUMAN")),
        Close(INCOMPLETE, "CC has been silent for 180 s"),
    )
    assert (state.phase, state.mover) == (INCOMPLETE, "")


def test_a_turn_begins_the_count_of_silence_anew_and_a_refused_one_does_not():
    state, _ = play(Ticked(NOON + 60_000), said("CC", at_ms=NOON + 70_000))
    assert (state.reminders, due_ms(OPENING, state)) == (0, NOON + 130_000)
    state, _ = play(Ticked(NOON + 60_000), said("CX", at_ms=NOON + 70_000))
    assert (state.reminders, due_ms(OPENING, state)) == (1, NOON + 120_000)


# -- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "code", "why"),
    [
        (said("CX"), "out-of-turn", "CC moves next, not CX"),
        (said("CX", tag="PEER_A"), "wrong-role", "CX is PEER_B, not PEER_A; CC moves next"),
        (said("CX", tag="DONE", role="PEER_A"), "wrong-role", "CX is PEER_B, not PEER_A; CC moves next"),
        (said("CC", role="PEAR_A"), "wrong-role", "CC is PEER_A, not PEAR_A; CC moves next"),
        (said("CC", role="the boss"), "wrong-role", "CC is PEER_A, not 'the boss'; CC moves next"),
        (
            said("CXX"),
            "not-in-session",
            "CXX takes no part; did you mean CX? CC and CX do, and CC moves next",
        ),
        (said("GEMINI"), "not-in-session", "GEMINI takes no part; CC and CX do, and CC moves next"),
        (
            said("CX", tag="PEER_C"),
            "unknown-tag",
            "peer-collaboration knows no [PEER_C]: write [PEER_B - CX]; CC moves next",
        ),
        (
            said("CC", tag="DOEN", tokens=()),
            "unknown-tag",
            "peer-collaboration knows no [DOEN]: write [DONE - CC]; CC moves next",
        ),
        (
            said("CC", tag="WINNER"),
            "unknown-tag",
            "peer-collaboration knows no [WINNER]: write [PEER_A - CC]; CC moves next",
        ),
        (
            said("", tag="DONE", tokens=("DONE",)),
            "no-author",
            "who speaks? write [DONE - NAME]; CC moves next",
        ),
        (said(""), "no-author", "who speaks? write [ROLE - NAME]; CC moves next"),
        (
            said("CC", tokens=("DONE", "INCOMPLETE")),
            "contradiction",
            "[DONE] and [INCOMPLETE] in one turn: CC writes one of them",
        ),
        (said("CC", empty=True), "empty", "an empty turn says nothing: CC writes what it adds and why"),
    ],
)
def test_each_broken_rule_gets_one_sentence_that_says_what_to_do(event, code, why):
    assert refused(event) == Rule("refused", code, why, ("CC",))


@pytest.mark.parametrize("where", ["author", "tag", "role"])
@pytest.mark.parametrize("word", ["\x1b]0;title\x07", "X" * 100_000, "a\nb", "\u202egnp"])
def test_a_hostile_word_is_repeated_escaped_and_cut(where, word):
    rule = refused(said("CC")._replace(**{where: word}))
    assert rule.why.isprintable()
    assert len(rule.why) < 200


def test_who_wrote_a_refused_block_is_told_or_else_who_moves():
    for event, told in ((said("CX"), "CX"), (said("GM"), "GM"), (said("", tag="DONE"), "CC")):
        _, effects = step(OPENING, begin(OPENING, NOON), event)
        assert effects[1:] == (Notify((told,)),)


def test_a_header_with_a_role_and_no_name_is_the_turn_of_the_peer_that_has_the_role():
    state, rulings = play(said("", tag="PEER_A"), said("", tag="PEER_B"))
    assert [rule.code for rule in rulings] == ["turn", "turn"]
    assert state.mover == "CC"
    assert refused(said("", tag="PEER_B")).why == "CC moves next, not CX"


# -- beginning and end ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "peers"),
    [
        ([("CC", ""), ("CX", "")], ("CC", "CX")),
        ([("CC", "PEER_A"), ("CX", "PEER_B")], ("CC", "CX")),
        ([("CC", "PEER_B"), ("CX", "PEER_A")], ("CX", "CC")),
        ([("CC", "PEER_B"), ("CX", "")], ("CX", "CC")),
        ([("CC", ""), ("CX", "PEER_A")], ("CX", "CC")),
        ([("CC", ""), ("CX", "PEER_B")], ("CC", "CX")),
    ],
)
def test_the_prompt_says_who_is_which_peer_or_else_the_order_does(named, peers):
    prompt = Prompt("peer-collaboration", "Name the boat", tuple(Seat(*seat) for seat in named))
    assert seats(prompt) == (Seat(peers[0], "PEER_A"), Seat(peers[1], "PEER_B"))


@pytest.mark.parametrize(
    ("named", "what"),
    [
        ([], "needs two agents, the prompt names nobody"),
        ([("CC", "")], "names CC"),
        ([("CC", ""), ("CX", ""), ("GM", "")], "names CC, CX, GM"),
        ([("CC", ""), ("CC", "")], "CC cannot be both peers"),
        ([("CC", ""), ("CX", "JUDGE")], "CX is a JUDGE"),
        ([("CC", "PEER_A"), ("CX", "PEER_A")], "the same role"),
        ([("CC", "PEER_B"), ("CX", "PEER_B")], "the same role"),
    ],
)
def test_a_prompt_without_two_peers_is_refused_with_what_to_add(named, what):
    prompt = Prompt("peer-collaboration", "Name the boat", tuple(Seat(*seat) for seat in named))
    with pytest.raises(IllFormed, match=what) as refusal:
        seats(prompt)
    assert refusal.value.then.startswith(("add ", "name ", "write "))


def test_peer_a_moves_first_wherever_it_stands_in_the_roster():
    assert begin(OPENING._replace(roster=PEERS[::-1]), NOON) == State(mover="CC", since_ms=NOON)


@pytest.mark.parametrize(
    "roster", [PEERS[:1], (*PEERS, Seat("GM", "PEER_B")), (PEERS[0], Seat("CX", "JUDGE")), (PEERS[0],) * 2]
)
def test_no_session_begins_without_one_peer_of_each_role(roster):
    with pytest.raises(IllFormed, match="one PEER_A and one PEER_B"):
        begin(OPENING._replace(roster=roster), NOON)


@pytest.mark.parametrize(
    ("output", "status"),
    [("docs/boat.md", DONE), ("none", INCOMPLETE)],
)
def test_the_final_status_is_the_seeds_field_for_field(output, status):
    assert final_status(OPENING, standing(status, mover=""), output) == (
        ("SKILL", "peer-collaboration"),
        ("STATUS", status.upper()),
        ("TURNS", "4"),
        ("OUTPUT", output),
        ("PARTICIPANTS", "CC (PEER_A), CX (PEER_B)"),
    )


@pytest.mark.parametrize("phase", [WORKING, PROPOSED])
def test_only_the_mover_is_given_moves_and_each_is_a_command(phase):
    given_moves = moves(OPENING, standing(phase), "CC")
    assert {move.command.split(" ")[1] for move in given_moves} == {"send", "done"}
    for move in given_moves:
        assert "--as CC --in peer-7f3a" in move.command
    assert any("5 of 20" in move.meaning for move in given_moves)
    assert moves(OPENING, standing(phase), "CX") == ()


def test_who_is_about_to_confirm_is_told_that_this_ends_the_session():
    meanings = {move.command.split(" ")[1]: move.meaning for move in moves(OPENING, standing(PROPOSED), "CC")}
    assert meanings["done"] == "confirm DONE: the session ends"
    assert "lapses" in meanings["send"]


def test_the_rules_are_found_by_name_and_have_all_that_every_protocol_has():
    found = rules_for("peer-collaboration")
    assert found is rules
    wanted = [name for name in vars(Rules) if not name.startswith("_")] + list(Rules.__annotations__)
    assert [name for name in wanted if not hasattr(found, name)] == []
    assert set(found.TAGS) <= TAGS
    assert rules_for("peer-colaboration") is None


# -- any sequence ---------------------------------------------------------------------------------

WORDS = st.sampled_from(("", "CC", "CX", "GM", "PEER_A", "PEER_B", "DONE", "INCOMPLETE", "NOTE", "peer_a"))
FORWARD = st.integers(0, 200_000)
SPOKEN = st.builds(
    said,
    st.sampled_from(("CC", "CC", "CX", "CX", "GM", "")),
    tag=WORDS,
    role=WORDS,
    tokens=st.sets(st.sampled_from(("DONE", "INCOMPLETE", "ACK"))).map(sorted).map(tuple),
    reason=st.text(max_size=5),
    artifact=st.sampled_from(("", "one", "two")),
    empty=st.booleans(),
)
LEGAL = st.builds(said, st.sampled_from(("CC", "CX")), tokens=st.sampled_from(((), ("DONE",))))
EVENTS = st.lists(st.tuples(FORWARD, st.one_of(SPOKEN, LEGAL, st.just(Ticked(0)))), max_size=60)


def timed(events):
    at_ms = NOON
    for passed_ms, event in events:
        at_ms += passed_ms
        yield event._replace(at_ms=at_ms)


@settings(deadline=None)
@given(EVENTS, st.integers(1, 12))
def test_any_sequence_of_events_is_answered_counted_and_given_the_same_again(events, max_turns):
    opening = OPENING._replace(max_turns=max_turns)
    state = copy = begin(opening, NOON)
    accepted = reminded = 0
    for event in timed(events):
        before = state
        state, effects = step(opening, state, event)
        kept = State(*json.loads(json.dumps(list(copy))))
        assert kept == copy
        copy, again = step(opening, kept, event)
        assert (copy, again) == (state, effects)
        if not effects:
            assert isinstance(event, Ticked)
            assert state == before
            continue
        rule, *rest = effects
        assert isinstance(rule, Rule)
        assert not any(isinstance(effect, Rule) for effect in rest)
        accepted += rule.verdict == "accepted"
        reminded = 0 if rule.verdict == "accepted" else reminded + (rule.verdict == "reminded")
        assert state.turns == accepted <= max_turns
        assert reminded <= 2
        ended = state.phase in ENDED
        assert ended == (state.mover == "") == (waiting_for(state) == ())
        assert ended == any(isinstance(effect, Close) for effect in rest) or before.phase in ENDED
        if before.phase in ENDED:
            assert (state, rule.code) == (before, "ended")
        if not ended:
            assert rule.next == (state.mover,)
            assert state.mover in rule.why


@settings(deadline=None)
@given(EVENTS)
def test_every_session_ends_if_only_time_goes_on(events):
    state, _ = play(*timed(events))
    for _ in range(3):
        state, _ = step(OPENING, state, Ticked(due_ms(OPENING, state)))
    assert state.phase in ENDED
