"""Who is chosen: evidence before votes, votes before the id; and which votes are void."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.agents.compete.policy import MODES, Wishes, plan_for
from moot.agents.compete.selection import Evidence, count_votes, select

THREE = ("run_a", "run_b", "run_c")


def evidence(**facts):
    return {name: Evidence(name, **facts.get(name, {})) for name in THREE}


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
    ballots = count_votes({"run_a": "run_a", "run_b": "run_c", "run_c": "run_a"}, known)
    assert [ballot.void for ballot in ballots] == ["a vote for oneself", "run_c failed", "run_c failed"]
    assert "names a candidate" in count_votes({"run_a": ""}, known)[0].void


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
        ("top_k", ("run_b", "run_c", "run_a")),
        ("repair_queue", ("run_b", "run_c")),
        ("coverage_union", ("run_b", "run_c")),
        ("risk_union", ("run_b", "run_c")),
    ],
)
def test_each_mode_does_what_its_name_says(mode, chosen):
    known = evidence(run_a={"verdict": "fail"}, run_b={"verdict": "pass"})
    assert select(plan(mode), known, {"run_a": "run_c"}).chosen == chosen


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
