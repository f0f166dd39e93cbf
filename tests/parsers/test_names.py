"""Names: what may be one, and which one was meant."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.parsers.errors import MootError, UsageError
from moot.parsers.names import RESERVED, TAGS, check_name, did_you_mean, nearest, shown

LEGAL = string.ascii_letters + string.digits + "._-"


@pytest.mark.parametrize(
    "name", ["CC", "x", "7", "CC-peer-02", "gpt-5.1", "a_b", "A" * 64, "COM10", "Console"]
)
def test_a_legal_name_comes_back_as_it_is(name):
    assert check_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "-x",
        "_x",
        "x.",
        "A" * 65,
        "a b",
        "a/b",
        "..",
        "../x",
        "a\n",
        "a\0",
        "é",
        "CC\u202e",
        "٣",
        "@CC",
    ],
)
def test_a_name_that_could_break_a_path_or_a_header_is_refused(name):
    with pytest.raises(UsageError, match="is no agent's name"):
        check_name(name)


@pytest.mark.parametrize("name", sorted(RESERVED | TAGS))
def test_reserved_names_and_tags_are_refused_in_any_case(name):
    for spelling in (name, name.lower(), name.title()):
        with pytest.raises(UsageError):
            check_name(spelling)


@pytest.mark.parametrize("name", ["CON", "nul", "Aux.md", "prn.a.b", "com1", "LPT9.txt"])
def test_device_names_are_refused_because_an_inbox_is_a_file(name):
    with pytest.raises(UsageError, match="is a device on Windows"):
        check_name(name)


def refusal(name: str) -> str:
    try:
        assert check_name(name) == name
    except UsageError as error:
        return str(error)
    return ""


@given(st.text(LEGAL, min_size=1, max_size=66) | st.text())
def test_any_text_is_a_name_or_one_clear_line(name):
    told = refusal(name)
    assert told or (set(name) <= set(LEGAL) and 0 < len(name) <= 64)
    assert told.isprintable()
    assert len(told) < 160


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("cx", ["CC", "CX"], "CX"),
        ("CC-per-02", ["CC", "CC-peer-02", "CX-peer-02"], "CC-peer-02"),
        ("COMPETITON", ["competition", "debate"], "competition"),
        ("zebra", ["CC", "CX"], None),
        ("CC", [], None),
        ("", ["CC"], None),
    ],
)
def test_the_nearest_name_is_found_without_regard_to_case(word, known, meant):
    assert nearest(word, known) == meant
    assert nearest(word, reversed(known)) == meant


def test_an_unknown_name_is_answered_with_the_one_that_was_meant_or_with_all():
    assert did_you_mean("cx", ["CX", "CC"]) == "did you mean CX?"
    assert did_you_mean("zebra", {"CX", "CC"}) == "known: CC, CX"
    assert did_you_mean("zebra", []) == "none are known yet"


def test_a_long_list_of_known_names_is_cut_and_says_so():
    known = [f"agent-{n:02}" for n in range(15)]
    assert did_you_mean("zebra", known).endswith("agent-10, agent-11 and 3 more")


def test_hostile_text_is_shown_escaped_on_one_line_and_short():
    assert shown("CC") == "'CC'"
    assert shown("a\nb\x1b[2J\u202e") == r"'a\nb\x1b[2J\u202e'"
    assert shown("x" * 40) == f"'{'x' * 40}'"
    assert shown("x" * 41) == f"'{'x' * 39}…'"


@given(st.text(), st.lists(st.text()))
def test_no_text_breaks_the_search_for_what_was_meant(word, known):
    near = nearest(word, known)
    assert near is None or near in known
    assert did_you_mean(word, known)
    assert len(shown(word)) <= 42
    assert shown(word).isprintable()


def test_a_refused_name_is_the_callers_fault():
    with pytest.raises(MootError) as caught:
        check_name("ALL")
    assert caught.value.exit_code == 2
    assert str(caught.value) == "'ALL' is reserved: choose another name"
