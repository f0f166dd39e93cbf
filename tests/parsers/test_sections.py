"""Sections: a key counts in capitals, bold or in a heading, outside fences; all else is somebody's text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.parsers.sections import fences, first, sections

from .test_tokens import texts

KEYS = ("SHAPE", "COLOUR")


@pytest.mark.parametrize("margin", ["", " ", "   ", "# ", "###### ", "  ##\t"])
@pytest.mark.parametrize("key", ["SHAPE:", "**SHAPE:**", "**SHAPE**:", "__SHAPE:__", "__SHAPE__:"])
@pytest.mark.parametrize("rest", ["round", " round", "\t round  ", "\nround", "\n\n\nround\n\n"])
def test_a_key_is_read_bare_bold_and_in_a_heading(margin, key, rest):
    assert sections(f"{margin}{key}{rest}", KEYS) == [("", ""), ("SHAPE", "round")]


@pytest.mark.parametrize(
    "line",
    [
        "shape: round",
        "SHAPES: round",
        "SHAPE round",
        "SHAPE : round",
        "A SHAPE: round",
        "**SHAPE: round",
        "**SHAPE__: round",
        "    SHAPE: round",
        "\tSHAPE: round",
        "#SHAPE: round",
        "####### SHAPE: round",
        "> SHAPE: round",
        "- SHAPE: round",
        "`SHAPE:` round",
        "x\u2028SHAPE: round",
        "x\x0bSHAPE: round",
        "x\rSHAPE: round",
        "SHAPE\uff1a round",
    ],
)
def test_what_only_looks_like_a_key_is_text(line):
    assert sections(f"COLOUR: red\n{line}", KEYS) == [("", ""), ("COLOUR", f"red\n{line}")]


@pytest.mark.parametrize("mark", ["```", "~~~", "`````"])
def test_a_line_in_a_fence_is_no_key(mark):
    text = f"red\n{mark}yaml\nSHAPE: round\n[DONE]\n{mark}\nor blue"
    assert sections(f"COLOUR: {text}", KEYS) == [("", ""), ("COLOUR", text)]
    assert sections(f"COLOUR: {text}\nSHAPE: flat", KEYS)[-1] == ("SHAPE", "flat")


def test_a_fence_inside_a_longer_one_ends_nothing():
    text = "````\n```\nSHAPE: round\n```\nSHAPE: flat\n````"
    assert sections(text, KEYS) == [("", text)]


def test_a_fence_that_is_never_closed_hides_no_key():
    assert sections("```\nSHAPE: round", KEYS) == [("", "```"), ("SHAPE", "round")]
    assert sections("~~~\nSHAPE: round\n```", KEYS)[-1] == ("SHAPE", "round\n```")


@pytest.mark.parametrize(
    "token", ["[DONE]", "**[DONE]**", "__[DONE]__", "## [DONE]", " [ACK - ANT]", "[DONE] - yes"]
)
def test_lines_that_are_tokens_are_nobodys_text(token):
    assert sections(f"{token}\nSHAPE: round\n{token}\nand flat\n{token}", KEYS) == [
        ("", ""),
        ("SHAPE", "round\nand flat"),
    ]


@pytest.mark.parametrize(
    "line", ["[NOTE]", "[done]", "say [DONE]", "> [DONE]", "- [DONE]", "[DONE]ish", "*[DONE]*"]
)
def test_lines_that_are_no_tokens_stay(line):
    assert sections(f"SHAPE: round\n{line}", KEYS)[-1] == ("SHAPE", f"round\n{line}")


def test_sections_keep_their_order_and_their_repetitions():
    body = "I thought.\n\nSHAPE: round\nCOLOUR:\nSHAPE: flat"
    found = sections(body, KEYS)
    assert found == [("", "I thought."), ("SHAPE", "round"), ("COLOUR", ""), ("SHAPE", "flat")]
    assert first(found, "SHAPE") == "round"
    assert first(found, "COLOUR") == first(found, "SIZE") == ""


def test_a_byte_order_mark_and_crlf_change_nothing():
    assert sections("\ufeffSHAPE: round\r\nand flat\r\nCOLOUR: red\r\n", KEYS) == [
        ("", ""),
        ("SHAPE", "round\nand flat"),
        ("COLOUR", "red"),
    ]


def test_a_drawing_keeps_the_indent_of_its_first_line():
    assert sections("SHAPE:\n \n   /\\\n  /__\\ \n\n", KEYS)[-1] == ("SHAPE", "   /\\\n  /__\\")
    assert first(sections("SHAPE:\n   flat", KEYS), "SHAPE") == "flat"


def test_fences_are_mapped_from_their_first_line_to_their_last():
    lines = ["```py", "x", "```", "~~~", "```", "  ````md", "```a", "```", "````"]
    assert fences(lines) == {0: 2, 2: 4, 4: 7, 5: 8, 6: 7}
    assert fences([]) == fences(["```"]) == fences(["``", "``"]) == {}


@given(texts)
def test_any_body_is_read_and_no_text_is_made_up(body):
    found = sections(body, KEYS)
    assert found[0][0] == ""
    assert {key for key, _ in found[1:]} <= set(KEYS)
    flat = body.replace("\r\n", "\n")
    for _, text in found:
        assert text == text.rstrip()
        assert all(line in flat for line in text.split("\n"))


@given(st.lists(st.tuples(st.sampled_from(KEYS), st.text("ab :*#-\u2028", max_size=9)), max_size=5))
def test_what_is_written_under_keys_is_read(pairs):
    pairs = [(key, text.strip()) for key, text in pairs]
    body = "\n".join(f"{key}: {text}" for key, text in pairs)
    assert sections(body, KEYS) == [("", ""), *pairs]


@pytest.mark.parametrize(
    "unit",
    [
        " ",
        "#",
        "# ",
        "*",
        "**",
        "_",
        "`",
        "~",
        "[",
        "[DONE] @a",
        "[DONE] ",
        "SHAPE",
        "SHAPE:",
        "**SHAPE",
        "\t",
        "\u2028",
    ],
)
@pytest.mark.parametrize("front", ["", "# ", "[DONE]", "**SHAPE**"])
def test_a_hostile_line_of_100_kilobytes_costs_little_time(unit, front):
    line = front + unit * (100_000 // len(unit))
    before = time.process_time()
    sections(f"{line}\n{line}x\nSHAPE: {line}", KEYS)
    assert time.process_time() - before < 1


@pytest.mark.parametrize("unit", ["```\n", "~~~\n```\n", "SHAPE:\n", "\n", "[DONE]\n", "# \n", "``` x\n"])
def test_100_kilobytes_of_hostile_lines_cost_little_time(unit):
    before = time.process_time()
    sections(unit * (100_000 // len(unit)), KEYS)
    assert time.process_time() - before < 4
