"""Positions and rebuttals: headings as models write them, lists, critiques and concessions by line."""

import pytest
from hypothesis import given

from moot.parsers.absent import absent_of, write_absent
from moot.parsers.position import OPENING_FORM, REBUTTAL_FORM, Critique, position_of, rebuttal_of, words_of
from moot.parsers.verdict import Verdict

from .test_tokens import texts


@pytest.mark.parametrize(
    "form",
    [
        "{}: {}", "**{}:** {}", "**{}**: {}", "1. **{}:** {}", "1. **{}** — {}", "### {}\n{}", "## 2) {}:\n\n{}",
        "__{}__ – {}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("case", [str.upper, str.title, str.lower])
def test_a_heading_is_read_in_any_form_and_case(form, case):
    text = "\n\n".join(
        form.format(case(key), value)
        for key, value in (
            ("position", "Keep it."),
            ("arguments", "- short\n- old\n  and tried"),
            ("bottom line", "Keep."),
        )
    )
    said = position_of(text)
    assert said.position == "Keep it."
    assert said.arguments == ("short", "old and tried")
    assert said.bottom_line == "Keep."


@pytest.mark.parametrize(
    "line", ["My position is clear", "position of the file", "a POSITION: in a sentence", "> POSITION: x"]
)
def test_a_word_in_a_sentence_is_no_heading(line):
    assert position_of(f"POSITION: Keep it.\n{line}").position == f"Keep it.\n{line}"


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("# My view\n\nKeep it.\n\nIt is short.", "Keep it."),
        ("Keep it.", "Keep it."),
        ("ARGUMENTS:\n- short\n\nBOTTOM LINE: Keep it.", "Keep it."),
        ("```\nPOSITION: Keep it.\n```", "Keep it."),
    ],
)
def test_a_text_without_the_heading_is_a_position_all_the_same(text, position):
    assert position_of(text).position == position


def test_a_rebuttal_has_four_parts():
    said = rebuttal_of(
        "1. **CRITIQUES** —\n- bob | it is slow | it was measured\n- **cleo**: nobody reads it — I do\n- no form\n"
        "2. **DEFENSE** — It is read.\n- CONCEDED: bob | the size\n3. **UPDATED POSITION** — Keep half.\n"
        "4. **VERDICT:** — PARTIAL: half / the rest"
    )
    assert said.critiques == (
        Critique("bob", "it is slow", "it was measured"),
        Critique("cleo", "nobody reads it", "I do"),
    )
    assert said.conceded == (("bob", "the size"),)
    assert said.arguments == ("It is read.",)
    assert (said.position, said.verdict) == ("Keep half.", Verdict("PARTIAL", "the rest", "half"))


@pytest.mark.parametrize(
    "word", ["unchanged", "Unchanged: nobody has moved me", "**Not changed**", "no change."]
)
def test_an_unchanged_position_is_the_one_before(word):
    assert rebuttal_of(f"UPDATED POSITION: {word}\nVERDICT: AGREE").position == ""


def test_a_prompt_that_is_printed_before_an_answer_is_no_part_of_it():
    form = "".join(f"  {key}: {what}\n" for key, what in (*OPENING_FORM, *REBUTTAL_FORM))
    assert position_of(f"{form}POSITION: Keep it.").position == "Keep it."
    said = rebuttal_of(f"{form}UPDATED POSITION: Keep half.\nVERDICT: DISAGREE: no")
    assert (said.position, said.critiques, said.conceded) == ("Keep half.", (), ())
    assert position_of(form).arguments == ()


def test_what_is_conceded_in_a_quotation_is_somebody_elses():
    text = "DEFENSE: they say\n```\nCONCEDED: bob | everything\n```\n> CONCEDED: bob | more\nVERDICT: DISAGREE: no"
    assert rebuttal_of(text).conceded == ()


@given(texts)
def test_any_text_is_read(text):
    for read in (position_of, rebuttal_of):
        said = read(text)
        assert "\0" not in said.verdict.word
        assert all("\n" not in point for point in said.arguments)
    assert words_of(text) == words_of(text.upper()) or text.upper().lower() != text.lower()


def test_absences_are_lines_with_reasons():
    lines = (("bob", "time-out after 300 s"), ("cleo", "exit code 1:\nno credit"))
    assert absent_of(write_absent(lines)) == (
        ("bob", "time-out after 300 s"),
        ("cleo", "exit code 1: no credit"),
    )
    assert absent_of("bob: late\n- : late\n- bob late\n- bob:") == ()
    assert absent_of(write_absent((("bob", ""),))) == (("bob", "no answer"),)
