"""Terminal noise: what is left is what a person would have seen on the screen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.parsers.noise import without_echo, without_noise


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b[38:2:1:2:3mrgb\x1b[m", "rgb"),
        ("\x1b[?25l\x1b[2K\x1b[1Gdone\x1b[?25h", "done"),
        ("\x1b[>4;2m\x1b[ q\x1b[!pkeys", "keys"),
        ("\x9b31mc1\x9b0m", "c1"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://a.test/\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0;2\x1b\\sixel", "sixel"),
        ("\x1b_apc\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\left", "left"),
        ("\x9d0;t\x9ctext", "text"),
        ("\x1b(B\x1b)0\x1b*A\x1b#8sets", "sets"),
        ("\x1b7\x1b8\x1bc\x1b=\x1b>\x1bM\x1bHshort", "short"),
        ("\x1b]0;no end\nthe next line", "\nthe next line"),
        ("\x1b", ""),
        ("\x1b[", ""),
        (" 10%\r 50%\r100%\nnext", "100%\nnext"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("spinner |\rspinner /\r\r\n", "spinner /\n"),
        ("wrong\b\b\b\b\bright\b\b\b\b\b\b\b\b!", "!"),
        ("man\x08\x08page", "mpage"),
        ("nul\0 bell\a vt\x0b ff\x0c del\x7f", "nul bell vt ff del"),
        ("É \u2028 \U0001f600", "É \u2028 \U0001f600"),
    ],
)
def test_noise_is_taken_out(raw, seen):
    assert without_noise(raw) == seen


@given(st.text())
def test_nothing_that_moves_a_cursor_is_left_and_a_second_time_nothing_changes(text):
    clean = without_noise(text)
    assert not any(ord(c) < 32 and c not in "\n\t" for c in clean)
    assert not any(0x7F <= ord(c) <= 0x9F for c in clean)
    assert without_noise(clean) == clean


@given(st.text(alphabet=st.characters(blacklist_categories=("Cc", "Cs"))))
def test_a_plain_text_stays_as_it_is(text):
    assert without_noise(text) == text


@pytest.mark.parametrize("piece", ["\x1b[31m#", "1%\r", "ab\b\b", "\x1b]", "\x1b[0", "\x1bP"])
def test_megabytes_take_no_more_than_their_share(piece):
    assert len(without_noise(piece * (1_000_000 // len(piece)))) <= 1_000_000


def test_a_prompt_that_is_printed_again_is_taken_out():
    prompt = "You are ann in a debate.\n\nAnswer with VERDICT: AGREE.\n"
    assert without_echo(f"> \n{prompt}VERDICT: DISAGREE: no", prompt).split() == [
        ">",
        "VERDICT:",
        "DISAGREE:",
        "no",
    ]
    assert without_echo("AGREE", "AGREE") == "AGREE"
