"""Findings, votes and verdicts: read from a candidate's own lines, never from what it quotes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.parsers.findings import Finding, findings_of, merge
from moot.parsers.votes import score_of, verdict_of, vote_of

IDS = ("run_a", "run_b")


def test_a_finding_has_four_parts_of_which_the_last_two_may_be_missing():
    text = "FINDING: api.py:7 | no limit | it loops | High\n- FINDING: db.py | open | | odd\nFINDING: only a place"
    assert findings_of(text) == (
        Finding("api.py:7", "no limit", "it loops", "high"),
        Finding("db.py", "open", "", ""),
    )


def test_findings_that_are_quoted_or_fenced_are_somebody_elses():
    assert findings_of("> FINDING: a | b\n```\nFINDING: c | d\n```\nFINDING: e | f") == (Finding("e", "f"),)


def test_findings_that_agree_on_place_and_claim_are_one_with_the_worst_severity_and_all_finders():
    found = {
        "run_b": findings_of("FINDING: api.py | No limit. | seen | low"),
        "run_a": findings_of("FINDING:  API.py |  no  limit | | critical\nFINDING: z | last | | info"),
    }
    first, second = merge(found, ranked=True)
    assert (first.severity, first.evidence, first.found_by) == ("critical", "seen", ("run_a", "run_b"))
    assert second.claim == "last"


def test_ranked_findings_come_worst_first_and_unranked_ones_in_their_order():
    found = {
        "run_a": findings_of("FINDING: a | x | | low\nFINDING: b | y | | high\nFINDING: c | z | | unheard")
    }
    assert [one.location for one in merge(found, ranked=True)] == ["b", "a", "c"]
    assert [one.location for one in merge(found, ranked=False)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("text", "vote"),
    [
        ("selected_candidate_id: run_a", "run_a"),
        ("selected_candidate_id: run_a\nselected_candidate_id: run_b", "run_b"),
        ("selected_candidate_id: run_b\nselected_candidate_id: nobody", "run_b"),
        ("selected_candidate_id: run_b\n> selected_candidate_id: run_a", "run_b"),
        ("selected_candidate_id: run_b\n```\nselected_candidate_id: run_a\n```", "run_b"),
        ("**selected_candidate_id:** `run_a`\r\n", "run_a"),
        ("I say selected_candidate_id: run_a", ""),
        ("selected_candidate_id: run_a or run_b", ""),
        ("", ""),
    ],
)
def test_a_vote_is_the_last_valid_line_of_ones_own(text, vote):
    assert vote_of(text, IDS) == vote


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("VERDICT: pass", "pass"),
        ("VERDICT: Fail\n", "fail"),
        ("VERDICT: maybe", ""),
        ("> VERDICT: pass", ""),
        ("", ""),
    ],
)
def test_a_verdict_is_pass_or_fail(text, verdict):
    assert verdict_of(text) == verdict


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("SCORE: 7", 7.0),
        ("x\nSCORE: -0.5\n", -0.5),
        ("SCORE: nan", None),
        ("SCORE: 1e9", None),
        ("SCORE: high", None),
        ("", None),
    ],
)
def test_an_oracle_gives_a_number(text, score):
    assert score_of(text) == score


@given(st.text())
def test_any_text_is_read_without_a_word(text):
    findings_of(text)
    assert vote_of(text, IDS) in ("", *IDS)
    assert verdict_of(text) in ("", "pass", "fail")
    score_of(text)
