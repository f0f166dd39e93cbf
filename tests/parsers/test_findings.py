"""Findings, votes and verdicts: read from a candidate's own lines, never from what it quotes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.parsers.findings import SEVERITIES, Finding, findings_of, merge, missed_in
from moot.parsers.votes import score_of, verdict_of, votes_in

IDS = ("run_a", "run_b")


def test_a_finding_has_four_parts_of_which_the_last_two_may_be_missing():
    text = "FINDING: api.py:7 | no limit | it loops | High\n- FINDING: db.py | open | | odd\nFINDING: only a place"
    assert findings_of(text) == (
        Finding("api.py:7", "no limit", "it loops", "high"),
        Finding("db.py", "open", "", "", (), "odd"),
    )
    assert missed_in(text) == (3,)


@pytest.mark.parametrize(
    "line",
    [
        "1. FINDING: a | b | c | high",
        "12) **FINDING:** a | b | c | High",
        "### FINDING: a | b | c | high",
        "Finding: a | b | c | high (exploitable)",
        "- finding 3: a | b | c | Severity: high",
        "**FINDING**: a | b | c | **High** / critical",
    ],
)
def test_a_finding_is_read_as_models_write_it(line):
    assert findings_of(line) == (Finding("a", "b", "c", "high"),)
    assert missed_in(line) == ()


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("x\n```\nFINDING: a | b\n```", (3,)),
        ("> FINDING: a | b", (1,)),
        ("| Finding | a | b |", (1,)),
        ("FINDING a | b", (1,)),
        ("Findings: two\n## Finding\nFinding it took an hour", ()),
    ],
)
def test_lines_that_look_like_findings_and_are_none_are_numbered(text, lines):
    assert findings_of(text) == ()
    assert missed_in(text) == lines


def test_a_severity_that_is_none_of_the_five_is_kept_as_said_unless_another_finder_knows_better():
    found = {"run_a": findings_of("FINDING: a | b | | Blocker"), "run_b": findings_of("FINDING: a | b")}
    (one,) = merge(found, ranked=True)
    assert (one.severity, one.severity_said) == ("", "Blocker")
    (one,) = merge({**found, "run_c": findings_of("FINDING: a | b | | low")}, ranked=True)
    assert (one.severity, one.severity_said) == ("low", "")
    assert findings_of("FINDING: a | b | | highly odd")[0].severity == ""


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
    ("text", "choices"),
    [
        ("selected_candidate_id: run_a", ["run_a"]),
        ("selected_candidate_id: run_a\nselected_candidate_id: nobody", ["run_a", ""]),
        ("selected_candidate_id: run_b\n> selected_candidate_id: run_a", ["run_b"]),
        ("selected_candidate_id: run_b\n```\nselected_candidate_id: run_a\n```", ["run_b"]),
        ("**selected_candidate_id:** `run_a`\r\n", ["run_a"]),
        ("Selected_Candidate_ID: Run_A.", ["run_a"]),
        ("## selected_candidate_id: **run_b** (best)", ["run_b"]),
        ("- `selected_candidate_id: run_b` — by far", ["run_b"]),
        ("I say selected_candidate_id: run_a", []),
        ("selected_candidate_id: run_a or run_b", [""]),
        ("selected_candidate_id: run_abc", [""]),
        ("selected_candidate_id: run_a-b", [""]),
        ("", []),
    ],
)
def test_a_vote_is_a_line_of_ones_own(text, choices):
    assert [vote.choice for vote in votes_in(text, IDS)] == choices


def test_a_vote_keeps_its_line():
    assert votes_in("x\n selected_candidate_id: me!\n", IDS)[0].line == "selected_candidate_id: me!"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("VERDICT: pass", "pass"),
        ("VERDICT: Fail\n", "fail"),
        ("## VERDICT: fail", "fail"),
        ("VERDICT: **fail**", "fail"),
        ("1. **Verdict:** FAIL", "fail"),
        ("verdict: fail.", "fail"),
        ("VERDICT: pass, with reservations", "pass"),
        ("VERDICT: pass - all of it", "pass"),
        ("VERDICT: fail\nVERDICT: maybe", "fail"),
        ("VERDICT: pass\nVERDICT: fail", "fail"),
        ("VERDICT: maybe", ""),
        ("VERDICT: passable", ""),
        ("VERDICT: pass-through", ""),
        ("VERDICT: pass or fail", ""),
        ("VERDICT: pass/fail", ""),
        ("> VERDICT: pass", ""),
        ("```\nVERDICT: pass\n```", ""),
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
        ("SCORE: 0.30000000000000004", 0.1 + 0.2),
        ("SCORE: 1e3", 1000.0),
        ("Score: .5", 0.5),
        ("SCORE: 1e-05", 1e-05),
        ("**SCORE:** 7. (of 10)", 7.0),
        ("SCORE: 1\nSCORE: 2", 2.0),
        ("SCORE: 7\nSCORE: high", None),
        ("SCORE: 7\nSCORE:", None),
        ("SCORE: nan", None),
        ("SCORE: inf", None),
        ("SCORE: 1e999", None),
        ("SCORE: 7/10", None),
        ("SCORE: 1,000", None),
        ("SCORE: high", None),
        ("", None),
    ],
)
def test_the_last_score_line_of_an_oracle_gives_a_number_or_none(text, score):
    assert score_of(text) == score


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_any_number_that_a_program_prints_is_a_score(number):
    assert score_of(f"SCORE: {number}") == number


@given(st.text() | st.text("#>-*_`: |\n\tFINDINGVERDICTpass12.", max_size=80))
def test_any_text_is_read_without_a_word(text):
    assert all(one.location and one.severity in ("", *SEVERITIES) for one in findings_of(text))
    assert all(0 < number <= text.count("\n") + 1 for number in missed_in(text))
    assert all(vote.choice in ("", *IDS) for vote in votes_in(text, IDS))
    assert verdict_of(text) in ("", "pass", "fail")
    score_of(text)
