"""Text for a terminal: nothing in it moves, hides or recolours anything."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.parsers.screen import one_line, visible

BIDI_CONTROLS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, naïve, 日本語 👍\n\ttwo", "plain, naïve, 日本語 👍\n\ttwo"),
        ("\x1b[31mred", "\\u001b[31mred"),
        ("\x1b]52;c;aGk=\x07", "\\u001b]52;c;aGk=\\u0007"),
        ("safe\rEVIL", "safe\\u000dEVIL"),
        ("a\x9bm", "a\\u009bm"),
        ("if \u202e)live(", "if \\u202e)live("),
        ("\u2066x\u2069", "\\u2066x\\u2069"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("one\u2028two\u2029", "one\\u2028two\\u2029"),
        ("soft\xadhyphen", "soft\\u00adhyphen"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("half\ud800", "half\\ud800"),
    ],
)
def test_what_a_terminal_would_obey_is_shown_as_an_escape(text, shown):
    assert visible(text) == shown


@given(st.text(st.characters()))
def test_what_is_shown_holds_no_control_or_format_character(text):
    shown = visible(text)
    assert not {one for one in shown if unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp")} - {"\n", "\t"}
    assert not {one for one in shown if unicodedata.bidirectional(one) in BIDI_CONTROLS}
    assert visible(shown) == shown


@given(st.text(), st.integers(1, 100))
def test_one_line_is_one_line_within_its_limit(text, limit):
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1


def test_a_cut_line_says_that_it_was_cut():
    assert one_line("tea  and\n\ncake") == "tea and cake"
    assert one_line("tea and cake", 8) == "tea and…"
