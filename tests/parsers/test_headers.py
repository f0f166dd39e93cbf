"""Header lines: every shape that agents give them (PROTOCOLS, Headers and tokens), and nothing else."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.parsers.headers import TOKENS, Header, Vocabulary, read_header

WORDS = Vocabulary(
    ("PEER_A", "PEER_B", "DONE", "INCOMPLETE", "ACK", "SCORE"), ("ANT", "BEE", "Cat.2", "ant-peer-02")
)


@pytest.mark.parametrize(
    ("line", "header"),
    [
        ("[DONE]", Header("DONE", "")),
        ("[BEE]", Header("", "BEE")),
        ("[PEER_A - ANT]", Header("PEER_A", "ANT")),
        ("[ACK - ant-peer-02]", Header("ACK", "ant-peer-02")),
        ("[SCORE - ant-peer-02 (JUDGE)]", Header("SCORE", "ant-peer-02", "JUDGE")),
        ("[SCORE - ANT(tech lead)]", Header("SCORE", "ANT", "tech lead")),
        ("[PEER_A - Cat.2]", Header("PEER_A", "Cat.2")),
        ("[PEER_A - STRANGER]", Header("PEER_A", "STRANGER")),  # a ruling says that nobody is called that
        ("[NOTE - BEE]", Header("NOTE", "BEE")),  # and that there is no such tag
    ],
)
def test_the_four_shapes_say_tag_name_and_role(line, header):
    assert read_header(line, WORDS) == header


@pytest.mark.parametrize("before", ["", " ", "   ", "# ", "###### ", "  ##\t", "**", "__", "### **"])
@pytest.mark.parametrize("dash", [" - ", " – ", " — ", "–", "—", "\t-  "])
@pytest.mark.parametrize("behind", ["", "  ", "\r"])
def test_headings_bold_and_dashes_mean_the_same(before, dash, behind):
    shut = before.strip("# \t")
    assert read_header(f"{before}[PEER_B{dash}BEE]{shut}{behind}", WORDS) == Header("PEER_B", "BEE")


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[",
        "[]",
        "[DONE",
        "DONE]",
        "[ DONE ]",
        "[done]",
        "[Done]",
        "DONE!",
        "\\[DONE]",
        "    [DONE]",
        "\t[DONE]",
        "#[DONE]",
        "####### [DONE]",
        "- [DONE]",
        "* [DONE]",
        "1. [DONE]",
        "> [DONE]",
        "`[DONE]`",
        '"[DONE]"',
        "reply with [DONE]",
        "[DONE](https://example.org)",
        "[DONE][1]",
        "[DONE]x",
        "[DONE]{.note}",
        "**[DONE]",
        "**[DONE]__",
        "**[DONE]**x",
        "[NOTE]",
        "[bee]",
        "[NOTE - x]",
        "[note - BEE]",
        "[1 - BEE]",
        "[PEER_A-ANT]",
        "[PEER_A -ANT]",
        "[PEER_A - ANT - BEE]",
        "[PEER_A - ANT (a) (b)]",
        "[PEER_A - ANT ()]",
        "[PEER_A - ]",
        "[PEER_A: ANT]",
        "[DONE]\n[DONE]",
        "\ufeff[DONE]",
        "[DONE\u200b]",
        "[ＤＯＮＥ]",
    ],
)
def test_what_only_resembles_a_header_is_text(line):
    assert read_header(line, WORDS) is None


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "a/b",
        "a b",
        ".x",
        "-x",
        "é",
        "x\0",
        "x\u202e",
        "A" * 65,
        "A" * 10_000,
        "$(id)",
        "@BEE",
        "",
        "\r",
    ],
)
def test_a_hostile_name_makes_no_header(name):
    assert read_header(f"[PEER_A - {name}]", WORDS) is None


@pytest.mark.parametrize(
    ("behind", "to", "session", "rest"),
    [
        (" to BEE", "BEE", "", ""),
        (" to @BEE", "BEE", "", ""),
        (" @BEE", "BEE", "", ""),
        ("@BEE", "BEE", "", ""),
        (" to BEE.", "BEE", "", ""),
        (" to Cat.2", "Cat.2", "", ""),
        (" to ALL", "ALL", "", ""),
        (" to NOBODY", "NOBODY", "", ""),
        (" to BEE, NOBODY", "BEE NOBODY", "", ""),
        (" to BEE, ant-peer-02 in peer-7f3a", "BEE ant-peer-02", "peer-7f3a", ""),
        (" in peer-7f3a to BEE", "BEE", "peer-7f3a", ""),
        (" @BEE in peer-7f3a: go on", "BEE", "peer-7f3a", "go on"),
        (" to BEE, in peer-7f3a", "BEE", "peer-7f3a", ""),
        (" in peer-7f3a", "", "peer-7f3a", ""),
        (" to BEE: look at this", "BEE", "", "look at this"),
        (" to BEE, look at this", "BEE", "", "look at this"),
        (" to BEE — second draft", "BEE", "", "— second draft"),
        (" @BEE look at this", "BEE", "", "look at this"),
        (" @BEE, please look", "BEE", "", "please look"),
        (" @BEE, ant-peer-02's plan is good", "BEE", "", "ant-peer-02's plan is good"),
        (" @BEE @ant-peer-02 look", "BEE ant-peer-02", "", "look"),
        (" @BEE, ant-peer-02: look", "BEE ant-peer-02", "", "look"),
    ],
)
def test_an_address_and_a_session_may_follow_the_bracket(behind, to, session, rest):
    header = read_header(f"[PEER_A - ANT]{behind}", WORDS)
    assert header == Header("PEER_A", "ANT", "", tuple(to.split()), session, rest)
    assert read_header(f"### [PEER_A - ANT]{behind}", WORDS) == header
    assert read_header(f"**[PEER_A - ANT]{behind}**", WORDS) == header


@pytest.mark.parametrize(
    ("behind", "rest"),
    [
        (" - agreed", "- agreed"),
        (": finished", "finished"),
        (" to be or not", "to be or not"),
        (" to be, or not", "to be, or not"),
        (" to BEE I owe thanks", "to BEE I owe thanks"),
        (" to BEE's credit", "to BEE's credit"),
        (" @BEE's plan", "@BEE's plan"),
        (" @" + "B" * 65, "@" + "B" * 65),
        (" today BEE rests", "today BEE rests"),
        (" write to bee@example.org", "write to bee@example.org"),
        (" in well-chosen words", "in well-chosen words"),
        (" in peer-7f3", "in peer-7f3"),
        (" in short: yes", "in short: yes"),
    ],
)
def test_words_behind_the_bracket_are_no_address(behind, rest):
    assert read_header(f"[DONE]{behind}", WORDS) == Header("DONE", "", rest=rest)


def test_a_blank_of_another_kind_is_a_blank():
    for blank in ("\x0b", "\x0c", "\u2028", "\xa0", "\x1c"):
        assert read_header(f"**[ANT] to BEE{blank}**", WORDS) == Header("", "ANT", to=("BEE",))
        assert read_header(f"[ANT] to BEE.{blank}", WORDS) == Header("", "ANT", to=("BEE",))


def test_bold_may_end_within_the_line():
    assert read_header("**[DONE] - agreed.** Ship it.", WORDS) == Header(
        "DONE", "", rest="- agreed. Ship it."
    )


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("### [PEER_A — ANT] to BEE", "PEER_A - ANT"),
        ("[BEE]", "BEE"),
        ("[SCORE - ANT ( JUDGE )]", "SCORE - ANT (JUDGE)"),
    ],
)
def test_a_label_has_one_form_whatever_the_header_looked_like(line, label):
    header = read_header(line, WORDS)
    assert header is not None
    assert header.label == label


def test_no_header_names_nobody_and_nothing():
    assert Header("", "").label == ""
    assert read_header("[DONE]", Vocabulary((), ())) is None


pieces = st.sampled_from(
    [
        *"[]()-–@#*_:,. \t\r\0",
        "**",
        "DONE",
        "ANT",
        "BEE",
        " - ",
        " to ",
        " in ",
        "peer-7f3a",
        "x",
        "\u2028",
        "\ufeff",
    ]
)


@given(st.one_of(st.text(), st.lists(pieces).map("".join)))
def test_any_line_is_read_without_an_error_and_means_known_things(line):
    header = read_header(line, WORDS)
    if header is not None:
        assert header.tag in WORDS.tags or header.name in WORDS.names
        assert all(0 < len(name) <= 64 for name in (header.tag or "x", header.name or "x", *header.to))


@pytest.mark.parametrize(
    "line",
    [
        "[" + "A" * 200_000,
        "[A" + " " * 200_000,
        "[A - B (" + "c" * 200_000,
        "[DONE] " + "@BEE, " * 40_000,
        "[DONE] to " + "BEE, " * 40_000 + "x y",
        "[DONE] " + "in " * 70_000,
        "[DONE]" + " " * 200_000 + "x",
        "**[DONE]" + "*" * 200_001 + "x",
        "[DONE] to BEE" + "," * 200_000,
        "# " * 100_000 + "[DONE]",
    ],
)
def test_a_hostile_line_costs_no_time(line):
    before = time.process_time()
    read_header(line, WORDS)
    read_header(line, TOKENS)
    assert time.process_time() - before < 1


@pytest.mark.parametrize("name", ["peer-7f3axyz", "peer-12zz", "peer-zzzz"])
def test_a_name_that_no_session_can_have_is_read_as_the_session_that_was_meant(name):
    assert read_header(f"[DONE] in {name}", WORDS) == Header("DONE", "", session=name)
