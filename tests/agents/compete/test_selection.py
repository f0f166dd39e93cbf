"""Who is chosen: evidence before votes, votes before the id; and which votes are void."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.agents.compete.policy import MODES, Wishes, plan_for
from moot.agents.compete.selection import Ballot, Evidence, count_votes
from moot.agents.compete.selection import select as select_of
from moot.parsers.votes import Vote

THREE = ("run_a", "run_b", "run_c")


def evidence(**facts):
    return {name: Evidence(name, **facts.get(name, {})) for name in THREE}


def cast(votes):
    """Give votes as they are read: one line for each choice, several where a voter wrote several."""
    return {
        voter: tuple(Vote(one, f"selected_candidate_id: {one}") for one in said.split())
        for voter, said in votes.items()
    }


def select(plan, evidence, votes):
    return select_of(plan, evidence, cast(votes))


def plan(mode="vote_then_tiebreak", **more):
    return plan_for("x", Wishes(3, 3, competition_shape="three_way_challenge", selection_mode=mode, **more))


def test_most_votes_win_and_the_id_breaks_a_tie():
    assert select(plan(), evidence(), {"run_a": "run_c", "run_b": "run_c", "run_c": "run_a"}).chosen == (
        "run_c",
    )
    assert select(plan(), evidence(), {"run_a": "run_b", "run_b": "run_c", "run_c": "run_a"}).chosen == (
        "run_a",
    )
    assert select(plan(), evidence(), {}).chosen == ("run_a",)


@pytest.mark.parametrize(
    "facts",
    [
        {"run_a": {"verdict": "fail"}, "run_b": {"verdict": "pass"}},
        {"run_b": {"oracle": "pass", "score": 1.0}, "run_a": {"oracle": "fail"}},
        {"run_b": {"oracle": "pass", "score": 2.5}, "run_a": {"oracle": "pass", "score": 2.0}},
    ],
)
def test_evidence_comes_before_votes(facts):
    assert select(plan(), evidence(**facts), {"run_b": "run_a", "run_c": "run_a"}).chosen == ("run_b",)


def test_void_votes_are_named_with_the_reason():
    known = evidence(run_c={"failure": "proposal: exit code 1"})
    ballots = count_votes(cast({"run_a": "run_a", "run_b": "run_c", "run_c": "run_a"}), known)
    assert [ballot.void for ballot in ballots] == ["a vote for oneself", "run_c failed", "run_c failed"]
    assert ballots[0].line == "selected_candidate_id: run_a"
    assert "names a candidate" in count_votes({"run_a": ()}, known)[0].void


@pytest.mark.parametrize(
    ("votes", "choice"), [("run_b run_a", "run_b"), ("run_b nobody", "run_b"), ("run_c run_b", "run_b")]
)
def test_the_last_vote_that_is_not_void_counts(votes, choice):
    known = evidence()
    cast_votes = {"run_a": tuple(Vote(one if one in THREE else "", one) for one in votes.split())}
    assert count_votes(cast_votes, known) == (Ballot("run_a", choice, "", choice),)


def test_who_is_left_alone_casts_no_void_vote():
    failed = {"failure": "proposal: exit code 1"}
    known = evidence(run_b=failed, run_c=failed)
    assert count_votes(cast({"run_a": "run_a"}), known) == ()
    assert count_votes({"run_a": ()}, evidence(run_b=failed))[0].void


def test_a_failed_candidate_is_never_chosen_and_where_all_fail_nobody_is():
    failed = {name: {"failure": "proposal: exit code 1"} for name in THREE}
    assert select(plan(), evidence(run_a=failed["run_a"]), {}).chosen == ("run_b",)
    nobody = select(plan(), evidence(**failed), {})
    assert nobody.chosen == ()
    assert len(nobody.rejected) == 3


@pytest.mark.parametrize(
    ("mode", "chosen"),
    [
        ("best_one", ("run_b",)),
        ("top_k", ("run_b", "run_c")),
        ("repair_queue", ("run_b", "run_c")),
        ("coverage_union", ("run_b", "run_c")),
        ("risk_union", ("run_b", "run_c")),
    ],
)
def test_each_mode_does_what_its_name_says(mode, chosen):
    known = evidence(run_a={"verdict": "fail"}, run_b={"verdict": "pass"})
    assert select(plan(mode), known, {"run_a": "run_c"}).chosen == chosen


@pytest.mark.parametrize("mode", ["top_k", "coverage_union", "risk_union"])
def test_what_was_failed_fills_up_only_where_more_are_asked_for_than_passed(mode):
    known = evidence(
        run_a={"verdict": "fail"}, run_b={"oracle": "fail", "verdict": "pass"}, run_c={"score": 1.0}
    )
    assert select(plan(mode), known, {}).chosen == ("run_c",)
    assert select(plan(mode, choose_count=1), known, {}).chosen == ("run_c",)
    asked = select(plan(mode, choose_count=2), known, {})
    assert asked.chosen == ("run_c", "run_b")
    assert asked.doubt == "though the oracle failed run_b"


def test_a_union_takes_the_best_first_and_cuts_behind_them():
    known = evidence(
        run_a={"verdict": "pass", "oracle": "pass", "score": 1.0},
        run_b={"verdict": "pass", "oracle": "pass", "score": 3.0},
        run_c={"verdict": "pass", "oracle": "pass", "score": 2.0},
    )
    assert select(plan("coverage_union"), known, {}).chosen == ("run_b", "run_c", "run_a")
    assert select(plan("coverage_union", choose_count=2), known, {}).chosen == ("run_b", "run_c")
    votes = {"run_a": "run_c", "run_b": "run_c"}
    assert select(plan("risk_union", choose_count=1), evidence(), votes).chosen == ("run_c",)


@pytest.mark.parametrize(
    ("fact", "doubt"),
    [
        ({"oracle": "fail"}, "though the oracle passed none"),
        ({"verdict": "fail"}, "though the verifier passed none"),
        ({"verdict": "fail", "oracle": "fail"}, "though the verifier passed none and the oracle passed none"),
        ({"verdict": "pass", "oracle": "pass"}, ""),
        ({}, ""),
    ],
)
def test_who_is_chosen_though_nobody_passed_is_said(fact, doubt):
    selection = select(plan(), evidence(**dict.fromkeys(THREE, fact)), {})
    assert (selection.chosen, selection.doubt) == (("run_a",), doubt)


def test_the_reasons_tell_the_evidence_in_the_order_of_the_rank():
    known = evidence(
        run_a={"verdict": "pass", "oracle": "pass", "score": 4.0},
        run_b={"no_verdict": "no VERDICT line", "oracle": "fail", "oracle_failure": "exit code 1"},
        run_c={"verdict": "pass", "oracle": "pass", "score": 7.0},
    )
    selection = select(plan(), known, {"run_b": "run_a", "run_c": "run_a"})
    assert selection.facts == (
        ("run_c", "verifier pass, oracle 7, 0 votes"),
        ("run_a", "verifier pass, oracle 4, 2 votes"),
        ("run_b", "verifier none (no VERDICT line), oracle fail (exit code 1), 0 votes"),
    )
    assert dict(selection.rejected) == {
        "run_a": "others rank before it: verifier pass, oracle 4, 2 votes",
        "run_b": "the oracle says fail: verifier none (no VERDICT line), oracle fail (exit code 1), 0 votes",
    }


facts = st.fixed_dictionaries(
    {
        "failure": st.sampled_from(["", "proposal: exit code 1"]),
        "verdict": st.sampled_from(["", "pass", "fail"]),
        "oracle": st.sampled_from(["", "pass", "fail"]),
        "score": st.sampled_from([None, 0.0, 1.5]),
    }
)


choices_made = st.lists(st.sampled_from([*THREE, ""]), min_size=3, max_size=3)


@given(
    st.fixed_dictionaries(dict.fromkeys(THREE, facts)), choices_made, st.sampled_from(MODES),
    st.randoms(use_true_random=False),
)  # fmt: skip
def test_the_selection_never_depends_on_an_order(known, choices, mode, chance: random.Random):
    votes = dict(zip(THREE, choices, strict=True))
    first = select(plan(mode), evidence(**known), votes)
    names = list(THREE)
    chance.shuffle(names)
    shuffled = {name: Evidence(name, **known[name]) for name in names}
    again = select(plan(mode), shuffled, {name: votes[name] for name in names})
    assert (first.chosen, first.ballots, first.votes) == (again.chosen, again.ballots, again.votes)
    assert set(first.rejected) == set(again.rejected)
    assert {*first.chosen, *(name for name, _ in first.rejected)} == set(THREE)
    assert not any(known[name]["failure"] for name in first.chosen)
