"""The rules of a debate, cell by cell: who may say what when, what a round comes to, how it ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.agents.protocols import debate as rules
from moot.agents.protocols.debate import (
    DONE,
    FAILED,
    INCOMPLETE,
    OPENING,
    POSITIONS,
    REBUTTALS,
    RECAP,
    REPORT,
    SYNTHESIS,
    TAGS,
    Said,
)
from moot.agents.protocols.events import Close, IllFormed, Lost, Notify, Posted, Rule, Seal, Ticked, Unsealed
from moot.agents.protocols.opening import Opening
from moot.agents.session import _frozen
from moot.parsers.absent import write_absent
from moot.parsers.bodies import read_body
from moot.parsers.seats import Prompt, Seat

NAMES = ("ann", "bob", "cleo")
HUMAN = "HUMAN"


def opening(names=NAMES, **options):
    pairs = {"ROUNDS": "3", **{key.upper(): value for key, value in options.items()}}
    roster = tuple(Seat(name, "DEBATER") for name in names)
    return Opening("deb-7f3a", "debate", "One or many?", roster, 330, 60, options=tuple(pairs.items()))


def posted(tag, author, body, sealed=""):
    says = read_body(tag, body)
    return Posted(f"{tag}-{author}", author, tag, "", (), "", "", not body, 0, says, sealed)


def position(name, sealed="", text="Keep it."):
    return posted("POSITION", name, f"POSITION: {text}", sealed)


def rebuttal(name, verdict="AGREE", text=""):
    body = f"UPDATED POSITION: {text or 'unchanged'}\nVERDICT: {verdict}" if verdict else "I have thought."
    return posted("REBUTTAL", name, body)


def absent(*names):
    return posted("ABSENT", HUMAN, write_absent(tuple((name, "time-out after 2 s") for name in names)))


def told(tag, author=HUMAN):
    return posted(tag, author, "What was said.")


def over(synthesis_by=HUMAN):
    return told("RECAP"), told("SYNTHESIS", synthesis_by)


def play(of, *events):
    state, effects = rules.begin(of, 0), ()
    for event in events:
        state, effects = rules.step(of, state, event)
        assert effects, event
        assert effects[0].verdict != "refused", (event, effects[0].why)
    return state, effects


def round_(number, *verdicts, names=NAMES, text=""):
    if number == 1:
        return (*(position(name) for name in names), *over())
    return (
        *(
            rebuttal(name, verdict, f"{text} {name}" if text else "")
            for name, verdict in zip(names, verdicts, strict=True)
        ),
        *over(),
    )


# -- the way through ----------------------------------------------------------------------------------


def test_all_agree_in_round_two():
    of = opening()
    state, effects = play(of, *round_(1), *round_(2, "AGREE", "AGREE", "AGREE"), told("REPORT"))
    assert (state.phase, state.ending, state.round) == (DONE, "consensus", 2)
    assert effects[-1] == Close(DONE)
    said = dict(rules.final_status(of, state, "none"))
    assert (said["CONSENSUS"], said["ROUNDS"], said["VERDICTS"]) == (
        "yes",
        "2 of 3",
        "ann=AGREE, bob=AGREE, cleo=AGREE",
    )


def test_no_agreement_ends_after_the_last_round_and_is_done_all_the_same():
    of = opening()
    no = ("AGREE", "DISAGREE: no", "PARTIAL: a / b")
    state, _ = play(
        of, *round_(1), *round_(2, *no, text="two"), *round_(3, *no, text="three"), told("REPORT")
    )
    assert (state.phase, state.ending, state.round) == (DONE, "rounds", 3)
    assert dict(rules.final_status(of, state, "none"))["CONSENSUS"] == "no"


def test_one_round_is_a_debate_without_consensus():
    state, _ = play(opening(rounds="1"), *round_(1))
    assert (state.phase, state.ending) == (REPORT, "rounds")


def test_where_nothing_moved_for_two_rounds_it_ends():
    no = ("AGREE", "DISAGREE: no", "PARTIAL: a / b")
    of = opening(rounds="10")
    state, _ = play(of, *round_(1), *round_(2, *no, text="two"), *round_(3, *no), *round_(4, *no))
    assert (state.round, state.ending) == (4, "still")


@pytest.mark.parametrize("moving", [3, 4])
def test_a_position_that_moves_or_a_verdict_that_changes_keeps_it_going(moving):
    no, of = ("AGREE", "DISAGREE: no", "PARTIAL: a / b"), opening(rounds="10")
    for text, last in (("moved", no), ("", ("AGREE", "AGREE", "PARTIAL: a / b"))):
        rounds = [round_(2, *no, text="two"), round_(3, *no), round_(4, *no)]
        rounds[moving - 2] = round_(moving, *last, text=text)
        state, _ = play(of, *round_(1), *(event for one in rounds for event in one))
        assert (state.round, state.ending) == (5, "")


def test_a_position_in_other_markup_and_case_has_not_moved():
    of = opening(("ann", "bob"), rounds="10")
    state, _ = play(
        of, position("ann", text="Keep  *it*!"), position("bob"), *over(), rebuttal("ann", "AGREE", "keep it")
    )
    assert not state.said[-1].moved


# -- who is absent ------------------------------------------------------------------------------------


def test_consensus_counts_those_who_are_there():
    of = opening()
    state, _ = play(of, *round_(1), rebuttal("ann"), absent("cleo"), rebuttal("bob"), *over())
    assert (state.phase, state.ending) == (REPORT, "consensus")
    assert dict(rules.final_status(of, state, ""))["VERDICTS"] == "ann=AGREE, bob=AGREE, cleo=ABSENT"


def test_who_was_absent_is_asked_again_in_the_next_round():
    state, _ = play(opening(), *round_(1), rebuttal("ann", "DISAGREE: x"), absent("bob", "cleo"), *over())
    assert state.movers == NAMES


@pytest.mark.parametrize("external", [(), ("bob",)])
def test_a_round_needs_one_answer_that_is_not_the_moderators(external):
    of = opening(moderator="ann")
    missing = tuple(name for name in ("bob", "cleo") if name not in external)
    state, _ = play(of, position("ann"), *(position(name) for name in external), absent(*missing))
    assert state.phase == RECAP
    state, effects = rules.step(of, state, Ticked(1))
    if external:
        assert (state.phase, effects) == (RECAP, ())
    else:
        assert state.phase == FAILED
        assert effects[-1] == Close(
            FAILED,
            "no quorum in round 1: nobody but the moderator answered"
            " (bob: time-out after 2 s; cleo: time-out after 2 s)",
        )


def test_where_nobody_answers_it_has_failed():
    of = opening()
    state, _ = play(of, *round_(1), absent(*NAMES))
    assert rules.due_ms(of, state) == 0
    state, effects = rules.step(of, state, Ticked(0))
    assert effects[-1].state == FAILED
    assert effects[-1].reason.startswith("no quorum in round 2: nobody answered (ann: time-out after 2 s; ")


# -- verdicts -----------------------------------------------------------------------------------------


def test_one_without_a_verdict_is_asked_once_and_its_position_stands():
    of = opening(("ann",))
    state, effects = play(of, *round_(1, names=("ann",)), rebuttal("ann", ""))
    assert effects[0].code == "restate"
    assert state.movers == ("ann",)
    state, _ = rules.step(of, state, posted("REBUTTAL", "ann", "VERDICT: partial: this / that"))
    assert rules.verdicts(state, 2) == {"ann": "PARTIAL"}
    assert state.phase == RECAP


@pytest.mark.parametrize("second", ["a rebuttal without one", "silence"])
def test_a_second_time_without_a_verdict_is_unparsed_which_is_no_consent(second):
    of = opening(("ann",))
    last = rebuttal("ann", "") if second != "silence" else absent("ann")
    state, _ = play(of, *round_(1, names=("ann",)), rebuttal("ann", ""), last)
    assert rules.verdicts(state, 2) == {"ann": "UNPARSED"}
    assert state.absent == ()
    state, _ = rules.step(of, *(_recapped(of, state), told("SYNTHESIS")))
    assert state.ending == ""


def _recapped(of, state):
    return rules.step(of, state, told("RECAP"))[0]


# -- the moderator ------------------------------------------------------------------------------------


def test_a_moderator_that_debates_writes_the_synthesis():
    of = opening(moderator="bob")
    state, _ = play(of, *(position(name) for name in NAMES), told("RECAP"))
    assert state.movers == ("bob",)
    assert rules.step(of, state, told("SYNTHESIS", "ann"))[1][0].code == "wrong-role"
    state, _ = rules.step(of, state, told("SYNTHESIS", "bob"))
    assert (state.phase, state.syntheses) == (REBUTTALS, ((1, "SYNTHESIS-bob"),))


def test_a_moderator_that_was_absent_or_gives_nothing_is_stood_in_for():
    of = opening(moderator="bob")
    state, _ = play(of, position("ann"), position("cleo"), absent("bob"), told("RECAP"))
    assert state.movers == ()
    state, _ = play(of, *(position(name) for name in NAMES), told("RECAP"), absent("bob"))
    assert (state.phase, state.movers, state.absent) == (SYNTHESIS, (), ())
    assert rules.step(of, state, told("SYNTHESIS"))[0].phase == REBUTTALS


def test_a_human_moderator_has_no_vote():
    of = opening(moderator=HUMAN)
    state, _ = play(of, *(position(name) for name in NAMES), told("RECAP"))
    assert state.movers == (HUMAN,)


# -- seals --------------------------------------------------------------------------------------------


def test_positions_are_sealed_until_all_are_in():
    of = opening(("ann", "bob"))
    state, _ = play(of, position("ann", "a" * 64))
    assert rules.seals(of, state) == (Seal("a" * 64, "POSITION-ann", "ann", "POSITION"),)
    assert not rules.opens(state)
    state, _ = rules.step(of, state, position("bob", "b" * 64))
    assert state.phase == OPENING
    assert rules.opens(state)
    for name, seal in (("ann", "a" * 64), ("bob", "b" * 64)):
        state, effects = rules.step(of, state, Unsealed(seal, position(name)._replace(block=f"R-{name}")))
        assert effects[0].verdict == "revealed"
    assert (state.phase, rules.seals(of, state)) == (RECAP, ())
    assert [one.text_block for one in state.said] == ["R-ann", "R-bob"]


def test_a_seal_that_was_copied_is_refused_and_one_that_is_lost_is_asked_for_again():
    of = opening(("ann", "bob"))
    state, _ = play(of, position("ann", "a" * 64))
    assert rules.step(of, state, position("bob", "a" * 64))[1][0].code == "copied-seal"
    state, effects = rules.step(of, state, Lost("a" * 64, 5))
    assert (state.movers, state.said, effects[0].verdict) == (("bob", "ann"), (), "lost")


def test_only_positions_are_sealed():
    state = rules.begin(opening(), 0)
    assert rules.open_part(state, position("ann")) == ""
    assert rules.open_part(state._replace(phase=REBUTTALS), rebuttal("ann")) is None


# -- what is refused ----------------------------------------------------------------------------------

_AT = {
    POSITIONS: (),
    REBUTTALS: round_(1),
    RECAP: tuple(position(name) for name in NAMES),
    SYNTHESIS: (*(position(name) for name in NAMES), told("RECAP")),
    REPORT: (*round_(1), *round_(2, "AGREE", "AGREE", "AGREE")),
    DONE: (*round_(1), *round_(2, "AGREE", "AGREE", "AGREE"), told("REPORT")),
}
_TAKEN = {
    (POSITIONS, "POSITION"): "debater", (POSITIONS, "ABSENT"): "convener", (REBUTTALS, "REBUTTAL"): "debater",
    (REBUTTALS, "ABSENT"): "convener", (RECAP, "RECAP"): "convener", (SYNTHESIS, "SYNTHESIS"): "convener",
    (REPORT, "REPORT"): "convener",
}  # fmt: skip


@pytest.mark.parametrize("tag", [*TAGS, "", "SCORE"])
@pytest.mark.parametrize("author", ["ann", HUMAN, "dora", ""])
@pytest.mark.parametrize("phase", list(_AT))
def test_each_cell_of_the_table(phase, author, tag):
    of = opening()
    state, _ = play(of, *_AT[phase])
    body = write_absent((("ann", "late"),)) if tag == "ABSENT" else "POSITION: x\nVERDICT: AGREE"
    after, effects = rules.step(of, state, posted(tag, author, body))
    who = {"ann": "debater", HUMAN: "convener"}.get(author)
    if who and _TAKEN.get((phase, tag)) == who:
        assert effects[0].verdict == "accepted"
        assert after.turns == state.turns + 1
    else:
        assert effects[0].verdict == "refused"
        assert after == state


@pytest.mark.parametrize(
    ("event", "code", "says"),
    [
        (position("dora"), "not-in-session", "ann, bob and cleo do"),
        (position("annn"), "not-in-session", "did you mean ann?"),
        (posted("DEBATER", "ann", "x"), "unknown-tag", "write [POSITION - ann]"),
        (posted("POSITION", "ann", ""), "empty", "say something"),
        (rebuttal("ann"), "not-now", "round 1 is at positions"),
        (told("ABSENT"), "not-asked", "nobody is named"),
        (absent("dora"), "not-asked", "dora is named"),
        (posted("ABSENT", "ann", "- bob: late"), "wrong-role", "for whoever convened"),
        (position(""), "no-author", "who speaks?"),
    ],
)
def test_a_refusal_says_what_to_do(event, code, says):
    of = opening()
    effects = rules.step(of, rules.begin(of, 0), event)[1]
    assert (effects[0].verdict, effects[0].code) == ("refused", code)
    assert says in effects[0].why


def test_nobody_answers_twice_in_a_round():
    of = opening()
    state, _ = play(of, position("ann"))
    assert rules.step(of, state, position("ann"))[1][0].code == "answered"


@pytest.mark.parametrize(
    "of",
    [
        opening(()),
        opening(tuple(f"p{number}" for number in range(11))),
        opening(rounds="0"),
        opening(rounds="11"),
        opening(rounds="many"),
        opening(moderator="dora"),
    ],
)
def test_an_opening_that_cannot_be_is_none(of):
    with pytest.raises(IllFormed):
        rules.begin(of, 0)


def test_a_prompt_is_sent_to_the_command():
    with pytest.raises(IllFormed, match="asks its participants"):
        rules.seats(Prompt("debate", "One or many?", ()))


# -- time and mail ------------------------------------------------------------------------------------


def test_a_convener_that_is_silent_is_reminded_twice_and_then_it_is_incomplete():
    of = opening()
    state = rules.begin(of, 0)
    assert rules.step(of, state, Ticked(59_999)) == (state, ())
    for reminder in (1, 2):
        state, effects = rules.step(of, state, Ticked(60_000 * reminder))
        assert "moot debate --resume deb-7f3a" in effects[0].why
    state, effects = rules.step(of, state, Ticked(180_000))
    assert (state.phase, effects[-1].state) == (INCOMPLETE, INCOMPLETE)
    assert rules.step(of, state, Ticked(10**12)) == (state, ())


def test_only_those_who_read_mail_get_any():
    of = opening(readers="bob")
    _, effects = play(of, *round_(1))
    names = {name for effect in effects if isinstance(effect, Notify) for name in effect.names}
    assert names == {"bob"}


@pytest.mark.parametrize("phase", list(_AT))
def test_moves_tags_and_words_fit_the_phase(phase):
    of = opening(run="comms/runs/deb-7f3a")
    state, _ = play(of, *_AT[phase])
    for name in NAMES:
        moves = rules.moves(of, state, name)
        assert bool(moves) == (name in state.movers)
        if moves:
            assert f"prompts/{name}-{phase}-{state.round}.md" in moves[0].meaning
            assert rules.tag_for(of, state, name) in ("POSITION", "REBUTTAL")
            assert rules.how_to_answer(of, state, name)


# -- any sequence -------------------------------------------------------------------------------------

_EVENTS = st.one_of(
    st.builds(position, st.sampled_from([*NAMES, "dora", ""]), st.sampled_from(["", "a" * 64, "b" * 64])),
    st.builds(
        rebuttal, st.sampled_from(NAMES), st.sampled_from(["AGREE", "DISAGREE: no", "", "PARTIAL: a / b"])
    ),
    st.builds(lambda names: absent(*names), st.lists(st.sampled_from(NAMES), max_size=3, unique=True)),
    st.builds(told, st.sampled_from(TAGS), st.sampled_from([HUMAN, *NAMES])),
    st.builds(Ticked, st.integers(0, 10**9)),
    st.builds(Lost, st.sampled_from(["a" * 64, "c" * 64]), st.just(0)),
    st.builds(
        lambda seal, name: Unsealed(seal, position(name)),
        st.sampled_from(["a" * 64, "b" * 64]),
        st.sampled_from(NAMES),
    ),
)


@given(st.lists(_EVENTS, max_size=60), st.sampled_from(["", "ann", HUMAN]))
def test_any_events_end_or_wait_and_a_state_survives_its_values(events, moderator):
    of = opening(moderator=moderator)
    state = rules.begin(of, 0)
    for event in events:
        after, effects = rules.step(of, state, event)
        assert rules.state_of(_frozen(_jsoned(list(after)))) == after
        assert (rules.step(of, state, event)) == (after, effects)
        closes = [effect for effect in effects if isinstance(effect, Close)]
        assert len(closes) <= 1
        assert not effects or isinstance(effects[0], Rule)
        assert not closes or after.movers == ()
        assert set(after.movers) <= {*NAMES, HUMAN}
        state = after
        rules.final_status(of, state, "none")


def _jsoned(value):
    return [_jsoned(one) for one in value] if isinstance(value, list | tuple) else value


def test_what_was_said_is_kept_by_round_and_name():
    state, _ = play(
        opening(("ann", "bob")), *round_(1, names=("ann", "bob")), rebuttal("ann", "DISAGREE: no")
    )
    assert state.said[-1] == Said(2, "ann", "REBUTTAL-ann", "", "REBUTTAL-ann", "DISAGREE", moved=False)
