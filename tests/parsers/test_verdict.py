"""Verdicts: the last line of one's own decides, by its first word; a prompt that is printed again decides nothing."""

import textwrap
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.parsers.verdict import ASKED, UNPARSED, VERDICTS, Verdict, verdict_in

from .test_tokens import texts

SEED = """\
4. **VERDICT:** — One of:
   - AGREE — you accept the current synthesis
   - DISAGREE: <specific objection and what must change>
   - PARTIAL: <what you accept> / <what you contest>"""


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("VERDICT: AGREE", Verdict("AGREE")),
        ("verdict: agree.", Verdict("AGREE")),
        ("**VERDICT:** AGREE — it is sound", Verdict("AGREE", "it is sound")),
        ("4. **VERDICT:** — AGREE", Verdict("AGREE")),
        ("### Verdict\n\nDISAGREE: no rollback", Verdict("DISAGREE", "no rollback")),
        ("VERDICT: **PARTIAL**: caching / the time limit", Verdict("PARTIAL", "the time limit", "caching")),
        ("**VERDICT: PARTIAL: caching**", Verdict("PARTIAL", "caching")),
        ("Verdict - PARTIAL - a / b", Verdict("PARTIAL", "b", "a")),
        ("DISAGREE: the cache", Verdict("DISAGREE", "the cache")),
        ("AGREE", Verdict("AGREE")),
        ("VERDICT: AGREE\n\nOn second thought:\n\nVERDICT: DISAGREE: no", Verdict("DISAGREE", "no")),
        ("```markdown\nVERDICT: AGREE\n```", Verdict("AGREE")),
        (f"{ASKED}\n\nVERDICT: DISAGREE: no", Verdict("DISAGREE", "no")),
        (f"VERDICT: PARTIAL: a / b\n\n{ASKED}", Verdict("PARTIAL", "b", "a")),
        (f"{SEED}\n\nVERDICT: AGREE", Verdict("AGREE")),
        ("VERDICT: AGREE, DISAGREE or PARTIAL?\nVERDICT: AGREE", Verdict("AGREE")),
        ("VERDICT: AGREE\nOr not:\nVERDICT: DISAGREE: <T> is unclear", Verdict("DISAGREE", "<T> is unclear")),
        ("Final verdict: **DISAGREE**", Verdict("DISAGREE")),
        ("My VERDICT = AGREE", Verdict("AGREE")),
        ("VERDICT\uff1a AGREE", Verdict("AGREE")),
        ("| VERDICT | AGREE |", Verdict("AGREE")),
        ("VERDICT: \u201cAGREE\u201d", Verdict("AGREE")),
        ("VERDICT: [AGREE]", Verdict("AGREE")),
        ("VERDICT: AGREE \u2014 no further objections", Verdict("AGREE", "no further objections")),
        ("VERDICT: DISAGREE: AGREE if it were PARTIAL", Verdict("DISAGREE", "AGREE if it were PARTIAL")),
    ],
)  # fmt: skip
def test_a_verdict_is_read_as_models_write_it(text, verdict):
    assert verdict_in(text) == verdict


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I AGREE with most of it.",
        "AGREE with the premise, but not with the rest",
        "VERDICT: I would not AGREE",
        "VERDICT: DISAGREE-ish",
        "VERDICT: AGREEMENT",
        "VERDICT: AGREE / DISAGREE / PARTIAL",
        "VERDICT: AGREE|DISAGREE|PARTIAL",
        "> VERDICT: AGREE",
        "They say:\n```\nVERDICT: AGREE\n```\nand I wonder.",
        "Disagree: with whom?",
        "UNVERDICT: AGREE",
        "VERDICT: AGREE or PARTIAL?",
        "VERDICT: AGREE|PARTIAL",
        "VERDICT: AGREE or not, who knows",
        "VERDICT: AGREE?",
        "VERDICT: agree to disagree",
        "VERDICT: Agree in part, disagree on the rest",
        "VERDICT: AGREE only if X goes",
        "VERDICT: AGREE with nothing here; I reject it",
        "VERDICT: AGREE would be premature",
        "VERDICT: AGREE. Not.",
        "VERDICT: ~~AGREE~~ DISAGREE",
        "VERDICT: ~~AGREE~~",
        "VERDICT:\n\nAGREE would be wrong, so I DISAGREE",
        "**AGREE** \u2014 is what bob says; I do not.",
        "AGREE:\nnobody could",
        "    VERDICT: AGREE",
        "<blockquote>\nVERDICT: AGREE\n</blockquote>",
        "<!--\nVERDICT: AGREE\n-->",
        "~~~~\nVERDICT: AGREE",
        "VERDICT: one of\n- AGREE",
        "VERDICT: one of\n- AGREE \u2014 you accept the current sy",
        "VERDICT: AGREE \u2014 you accept the current synthesis",
        "- AGREE \u2014 you accept the current\n  synthesis",
        "- DISAGREE: your obj",
        "synthesis - DISAGREE: your objection,\nand what must change - PARTIAL: what you\naccept",
        "PARTIAL: what you accept / what you",
        ASKED,
        SEED,
        "\n".join(f"> {line}" for line in ASKED.split("\n")),
        "  VERDICT: one of\n  - AGREE — you accept the current synthesis",
    ],
)
def test_what_is_no_verdict_is_none(text):
    assert verdict_in(text).word == ""


@given(st.integers(0, len(ASKED)), st.integers(10, 90))
def test_a_form_that_is_printed_again_in_any_part_and_width_decides_nothing(end, width):
    assert verdict_in(ASKED[:end]).word == ""
    assert verdict_in(textwrap.fill(ASKED[:end], width)).word == ""
    assert verdict_in(f"VERDICT: DISAGREE: no\n\n{ASKED[:end]}").word in ("DISAGREE", "")


@given(texts, st.sampled_from(VERDICTS), texts)
def test_the_last_line_decides_whatever_stands_before_it(before, word, reason):
    line = " ".join(reason.split())
    plain = before.replace("`", "").replace("~", "").replace("<", "")
    said = verdict_in(f"{plain}\n\nVERDICT: {word}")
    assert said.word == word
    assert verdict_in(f"VERDICT: {word}: {line}").word in (word, "")


@given(texts)
def test_any_text_has_a_verdict_or_none(text):
    assert verdict_in(text).word in ("", *VERDICTS)
    assert UNPARSED not in VERDICTS


@pytest.mark.parametrize("piece", ["#", "* ", "VERDICT:\n", "> ", "```\n", "- ", "1. ", "AGREE "])
def test_a_million_marks_are_read_in_one_go(piece):
    text = piece * (400_000 // len(piece))
    began = time.process_time()
    verdict_in(text)
    assert time.process_time() - began < 10  # quadratic would be hours
