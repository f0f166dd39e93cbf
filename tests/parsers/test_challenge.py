"""A challenge: its task, criteria and deadline, or one sentence on what is wrong with it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.parsers.challenge import Challenge, challenge_of
from moot.parsers.seats import Criterion

from .test_tokens import texts

WARM_SHORT = (Criterion("Warm", 60), Criterion("Short", 40))


def test_a_challenge_in_full_is_read():
    body = (
        "TASK: Name the tea house\nCRITERIA:\n1. Warm - Does it glow? (60%)\n2. Short - Does it fit a cup? (40%)\n"
        "DEADLINE: 6 turns\n\n[ACK]\n"
    )
    assert challenge_of(body) == Challenge("Name the tea house", WARM_SHORT, 6)
    assert challenge_of("\ufeff" + body.replace("\n", "\r\n")) == Challenge(
        "Name the tea house", WARM_SHORT, 6
    )


@pytest.mark.parametrize(
    "criteria",
    [
        "Warm 60%, Short 40%.",
        "Warm (60%); Short (40%)",
        "Warm (60%), Short (40%), , ",
        "- Warm: 60\n- Short: 40",
        "* Warm 60%\n\n* Short 40%",
        "+ Warm 60%\n• Short 40%.",
        " 1) **Warm** - 60%\n 2) **Short** - 40%",
        "Warm \u2014 glows (60%)\nShort \u2014 fits (40%)",
    ],
)
@pytest.mark.parametrize("key", ["CRITERIA: ", "CRITERIA:\n", "**CRITERIA:**\n", "## CRITERIA:\n\n"])
def test_criteria_are_read_from_one_line_or_one_a_line(key, criteria):
    assert challenge_of(f"TASK: x\n{key}{criteria}") == Challenge("x", WARM_SHORT)


def test_a_comma_divides_criteria_of_one_line_only_and_none_in_brackets():
    names = [one.name for one in challenge_of("TASK: x\nCRITERIA: Warm (kind, soft), Short").criteria]
    assert names == ["Warm (kind, soft)", "Short"]
    names = [one.name for one in challenge_of("TASK: x\nCRITERIA:\n- Warm, kind\n- Short").criteria]
    assert names == ["Warm, kind", "Short"]
    names = [one.name for one in challenge_of("TASK: x\nCRITERIA: Warm (kind, soft").criteria]
    assert names == ["Warm (kind", "soft"]


def test_a_text_without_a_task_is_the_task():
    assert challenge_of("  Name the tea house.\n") == Challenge("Name the tea house.", ())
    assert challenge_of("Name it.\nDEADLINE: 3") == Challenge("Name it.", (), 3)
    assert challenge_of("Hello.\nTASK:\nName it.") == Challenge("Name it.", ())
    assert challenge_of("Name it.\nTASK:\n") == Challenge("Name it.", ())
    assert challenge_of("") == Challenge("", ())


def test_a_line_in_a_fence_is_no_key():
    task = "Write this:\n```\nCRITERIA: none\nDEADLINE: 9\n```"
    assert challenge_of(f"TASK: {task}\nDEADLINE: 2") == Challenge(task, (), 2)


@pytest.mark.parametrize(
    ("deadline", "turns"),
    [
        ("4", 4),
        ("4 turns", 4),
        ("004 turns", 4),
        ("\n 4", 4),
        ("4.", 4),
        ("999999", 999999),
        ("", 0),
    ],
)
def test_a_deadline_is_a_number_of_turns(deadline, turns):
    assert challenge_of(f"TASK: x\nDEADLINE: {deadline}") == Challenge("x", (), turns)


@pytest.mark.parametrize(
    "deadline", ["0", "000", "-1", "soon", "four", "٣", "4h", "1234567", "9" * 5000, "~4", "/10"]
)
def test_a_deadline_that_is_no_number_of_turns_is_a_fault(deadline):
    challenge = challenge_of(f"TASK: x\nDEADLINE: {deadline}")
    assert challenge.deadline_turns == 0
    assert challenge.fault.startswith("DEADLINE is '")
    assert challenge.fault.endswith(", no number of turns")
    assert len(challenge.fault) < 100


@pytest.mark.parametrize(
    ("criteria", "told"),
    [
        ("Warm, warm", "the criterion 'warm' is named twice"),
        ("Warm 60%, Short", "'Short' has no weight: "),
        ("Warm 60%, Short 30%", "the weights add up to 90%"),
        ("(30%)", "a criterion without a name"),
    ],
)
def test_criteria_that_cannot_be_used_are_a_fault(criteria, told):
    challenge = challenge_of(f"TASK: x\nCRITERIA: {criteria}\nDEADLINE: 5")
    assert challenge[:3] == ("x", (), 5)
    assert challenge.fault.startswith(told)


@given(texts)
def test_any_body_is_read_without_an_error(body):
    for text in (body, f"TASK: x\nCRITERIA: {body}", f"TASK: x\nDEADLINE: {body}"):
        challenge = challenge_of(text)
        assert challenge.task == challenge.task.strip()
        assert challenge.deadline_turns >= 0


@given(
    st.lists(st.from_regex(r"[A-Z][a-z]{2,8}", fullmatch=True), min_size=1, unique=True),
    st.integers(1, 999_999),
)
def test_a_challenge_means_the_same_in_every_layout(names, turns):
    layouts = [", ".join(names), "\n" + "\n".join(f"- {name}" for name in names), "\n".join(names)]
    read = {challenge_of(f"TASK: x\nCRITERIA: {layout}\nDEADLINE: {turns} turns") for layout in layouts}
    assert read == {Challenge("x", tuple(Criterion(name, None) for name in names), turns)}


@pytest.mark.parametrize(
    "unit", ["(", "(,", "()", "(a", ",", " ", "- ", "1. ", "0", "a(,)", ")", "1%(", "; "]
)
@pytest.mark.parametrize("key", ["TASK", "CRITERIA", "DEADLINE"])
def test_a_hostile_line_of_100_kilobytes_costs_little_time(unit, key):
    before = time.process_time()
    challenge_of(f"{key}: {unit * (100_000 // len(unit))}x")
    assert time.process_time() - before < 2


@pytest.mark.parametrize("deadline", ["4.5 turns", "30 minutes", "2027-01-01", "4-6", "soon"])
def test_a_deadline_that_is_no_number_of_turns_is_said_to_be_none(deadline):
    assert "no number of turns" in challenge_of(f"TASK: x\nDEADLINE: {deadline}").fault
