"""A decision: who was selected, why, and the best of all entries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.parsers.winner import Winner, winner_of, write_winner

from .test_tokens import texts

names = st.from_regex(r"[A-Za-z0-9](?:[\w-]{0,8}[A-Za-z0-9])?", fullmatch=True)
words = st.text("abc .,:'\n\u2028", max_size=30).map(str.strip)


@pytest.mark.parametrize(
    "name",
    ["ANT", " ANT ", "**ANT**", "`ANT`", "@ANT", "ANT.", "ANT\t", "\nANT\nby far", "ANT\r", "\u00a0ANT"],
)
@pytest.mark.parametrize(
    "key", ["SELECTED:", "**SELECTED:**", "**SELECTED**:", "### SELECTED:", "\ufeffSELECTED:"]
)
def test_the_selected_name_is_read_through_its_ornaments(key, name):
    assert winner_of(f"{key}{name}\nREASON: warm") == Winner("ANT", "warm")


def test_a_decision_in_full_is_read():
    body = (
        "We talked.\n\nSELECTED: ANT\nREASON: The name\nwarms the cup.\n\nSYNTHESIS: Take the name of ANT,\n"
        "the picture of BEE.\n\n[DONE]\n"
    )
    winner = Winner("ANT", "The name\nwarms the cup.", "Take the name of ANT,\nthe picture of BEE.")
    assert winner_of(body) == winner_of(body.replace("\n", "\r\n")) == winner


def test_the_first_of_two_equal_keys_counts():
    assert winner_of("SELECTED: ANT\nSELECTED: BEE\nREASON: a\nREASON: b") == Winner("ANT", "a")


@pytest.mark.parametrize("body", ["", "ANT wins", "selected: ANT", "SELECTED:", "> SELECTED: ANT", "[DONE]"])
def test_a_body_that_selects_nobody_has_no_winner(body):
    assert winner_of(body) == Winner("")


def test_a_line_in_a_fence_is_no_key():
    reason = "It says\n```\nSELECTED: BEE\nSYNTHESIS: x\n```"
    assert winner_of(f"REASON: {reason}\nSELECTED: ANT") == Winner("ANT", reason)


def test_a_decision_is_written_with_its_keys():
    assert write_winner("ANT", "warm") == "SELECTED: ANT\nREASON: warm"
    assert write_winner("ANT", "warm", "both") == "SELECTED: ANT\nREASON: warm\n\nSYNTHESIS: both"


@given(texts)
def test_any_body_is_read_without_an_error(body):
    winner = winner_of(body)
    assert "\n" not in winner.selected
    assert winner.selected == winner.selected.strip(" *`.@")
    assert all(text in body.replace("\r\n", "\n") for text in winner if "[" not in body)


@given(names, words, words)
def test_a_written_decision_is_read(selected, reason, synthesis):
    assert winner_of(write_winner(selected, reason, synthesis)) == Winner(selected, reason, synthesis)
    assert winner_of(write_winner(selected, reason, synthesis) + "\n\n[DONE]") == Winner(
        selected, reason, synthesis
    )
