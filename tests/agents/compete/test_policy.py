"""How many propose, how many are chosen, and by which rule: the table, and what overrides it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.agents.compete.policy import (
    ALL_VALID,
    LAYOUTS,
    MODES,
    QUESTION_TYPES,
    SHAPES,
    Wishes,
    plan_for,
    question_type_of,
)
from moot.parsers.errors import UsageError

# question type -> for n from 1 to 8: m, k (0 for all that are valid)
TABLE = {
    "precision": ([1, 2, 3, 4, 4, 4, 4, 4], [1] * 8, "best_one"),
    "coverage": ([1, 2, 3, 4, 5, 6, 7, 8], [0] * 8, "coverage_union"),
    "audit": ([1, 2, 3, 4, 5, 6, 7, 8], [0] * 8, "risk_union"),
    "blueprint": ([1, 2, 3, 4, 5, 5, 5, 5], [1, 2, 3, 3, 3, 3, 3, 3], "top_k"),
    "seo": ([1, 2, 3, 4, 5, 5, 5, 5], [1, 2, 3, 3, 3, 3, 3, 3], "top_k"),
    "execution_choice": ([1, 2, 3, 3, 3, 3, 3, 3], [1] * 8, "best_one"),
    "repair": ([1, 2, 3, 4, 4, 4, 4, 4], [1, 2, 2, 2, 2, 2, 2, 2], "repair_queue"),
}


@pytest.mark.parametrize("kind", QUESTION_TYPES)
@pytest.mark.parametrize("n", range(1, 9))
def test_m_k_and_mode_follow_the_table(kind, n):
    proposals, chosen, mode = TABLE[kind]
    plan = plan_for("x", Wishes(n, question_type=kind))
    assert (plan.proposal_count, plan.choose_count, plan.selection_mode) == (
        proposals[n - 1],
        chosen[n - 1],
        mode,
    )
    assert plan.candidate_ids == tuple(f"proposal_{number:03}" for number in range(1, proposals[n - 1] + 1))


@pytest.mark.parametrize("n", range(1, 9))
def test_a_three_way_challenge_has_three_and_one_vote(n):
    plan = plan_for("x", Wishes(n, competition_shape="three_way_challenge"))
    assert plan.candidate_ids == ("run_a", "run_b", "run_c")
    assert (plan.choose_count, plan.selection_mode) == (1, "vote_then_tiebreak")


@pytest.mark.parametrize(
    ("task", "kind"),
    [
        ("Fix the failing login test", "repair"),
        ("Audit the token handling", "audit"),
        ("Enumerate the inputs of this API", "coverage"),
        ("Draft an architecture for the queue", "blueprint"),
        ("Which keywords bring readers?", "seo"),
        ("Choose a cache", "execution_choice"),
        ("Write a parser", "precision"),
        ("A prefix is no fixture", "precision"),  # whole words alone count
    ],
)
def test_whole_words_of_the_task_name_its_type_and_the_reason_names_the_word(task, kind):
    found, why = question_type_of(task)
    assert found == kind
    assert why.endswith(kind)
    assert ("question_type", why) in plan_for(task, Wishes()).reasons


def test_what_was_asked_for_overrides_what_the_words_say_and_needs_no_reason():
    wishes = Wishes(6, 5, 2, "blueprint", "parallel_proposals", "top_k")
    plan = plan_for("fix it", wishes)
    assert (plan.question_type, plan.proposal_count, plan.choose_count) == ("blueprint", 5, 2)
    assert plan.reasons == ()


@pytest.mark.parametrize(
    ("wishes", "says"),
    [
        (Wishes(0), "--budget-workers is 0"),
        (Wishes(-1), "--budget-workers is -1"),
        (Wishes(proposal_count=0), "--proposal-count is 0"),
        (Wishes(proposal_count=ALL_VALID), "--proposal-count is all_valid"),
        (Wishes(choose_count=0), "--choose-count is 0"),
        (Wishes(choose_count=9), "--choose-count is 9 of 3"),
        (Wishes(question_type="precison"), "did you mean precision"),
        (Wishes(selection_mode="best"), "did you mean best_one"),
        (Wishes(competition_shape="x"), "--competition-shape is 'x'"),
        (Wishes(artifact_layout="old"), "did you mean old_three_way"),
        (Wishes(proposal_count=4, competition_shape="three_way_challenge"), "has three proposals"),
        (Wishes(choose_count=2, competition_shape="three_way_challenge"), "a vote has one winner"),
        (Wishes(choose_count=ALL_VALID, question_type="precision"), "add --selection-mode coverage_union"),
        (Wishes(choose_count=2, selection_mode="best_one"), "choose one, or add --selection-mode top_k"),
        (
            Wishes(competition_shape="coverage_sweep", artifact_layout="old_three_way"),
            "is for a three_way_challenge, not a coverage_sweep",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_mend(wishes, says):
    with pytest.raises(UsageError) as refused:
        plan_for("x", wishes)
    assert says in str(refused.value)


def test_a_fallback_pair_on_request_is_the_best_two_and_the_reason_says_so():
    plan = plan_for("x", Wishes(4, choose_count=2, question_type="precision"))
    assert (plan.selection_mode, plan.choose_count) == ("top_k", 2)
    assert dict(plan.reasons)["selection_mode"] == "2 are to be chosen: top_k"


@pytest.mark.parametrize(
    ("wishes", "says"),
    [
        (Wishes(5, competition_shape="three_way_challenge"), "2 of 5 workers idle"),
        (Wishes(2, competition_shape="three_way_challenge"), "3 proposals are more than the budget of 2"),
        (Wishes(2, 4), "4 proposals are more than the budget of 2 workers"),
        (Wishes(3, competition_shape="three_way_challenge"), ""),
        (Wishes(8), ""),
    ],
)
def test_proposals_that_do_not_fit_the_workers_are_told(wishes, says):
    assert says in plan_for("x", wishes).misfit
    assert bool(says) == bool(plan_for("x", wishes).misfit)


@given(
    st.text(max_size=60), st.integers(1, 12), st.sampled_from(["auto", *QUESTION_TYPES]),
    st.sampled_from(["auto", *SHAPES]), st.sampled_from(["auto", *MODES]), st.sampled_from(LAYOUTS),
)  # fmt: skip
def test_any_plan_chooses_no_more_than_are_proposed(task, n, kind, shape, mode, layout):
    if layout == "old_three_way" and shape != "auto":
        shape = "three_way_challenge"
    plan = plan_for(
        task,
        Wishes(n, question_type=kind, competition_shape=shape, selection_mode=mode, artifact_layout=layout),
    )
    assert 0 <= plan.choose_count <= plan.proposal_count == len(plan.candidate_ids)
    assert plan.chosen in (plan.choose_count, ALL_VALID)
