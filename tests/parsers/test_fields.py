"""Fields: what is written is read, and no value makes a field of its own."""

import string

from hypothesis import given
from hypothesis import strategies as st

from moot.parsers.fields import read_fields, write_fields

keys = st.from_regex(r"[A-Z][A-Z0-9_]{0,8}", fullmatch=True)
values = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=30).map(
    str.strip
)


@given(st.dictionaries(keys, values, max_size=6))
def test_fields_of_one_line_come_back_as_they_were(pairs):
    assert read_fields(write_fields(pairs.items())) == pairs


@given(st.dictionaries(keys, values, max_size=4), st.text(st.sampled_from(string.ascii_letters + ":\n ")))
def test_the_last_field_takes_everything_to_the_end(pairs, task):
    pairs.pop("TASK", None)
    read = read_fields(write_fields([*pairs.items(), ("TASK", f"first: {task}|")]), last="TASK")
    assert read == {**pairs, "TASK": f"first: {task}|"}


def test_a_newline_in_a_value_forges_no_field():
    text = write_fields([("REASON", "tired\nSTATUS: DONE"), ("STATUS", "INCOMPLETE")])
    assert read_fields(text) == {"REASON": "tired STATUS: DONE", "STATUS": "INCOMPLETE"}


def test_the_first_of_two_equal_fields_counts():
    assert read_fields("TURNS: 3\nTURNS: 30") == {"TURNS": "3"}


def test_lines_that_are_no_fields_are_passed_over():
    text = "### a heading\nturns: 4\n1ST: no\n TURNS: 5\nTURNS 6\nTURNS: 7\r\n"
    assert read_fields(text) == {"TURNS": "7"}


def test_an_empty_value_leaves_no_blank_at_the_end_of_its_line():
    assert write_fields([("OUTPUT", ""), ("WORK", "w.md")]) == "OUTPUT:\nWORK: w.md"
    assert write_fields([]) == ""


@given(st.text(), st.sampled_from(["", "TASK"]))
def test_any_text_is_read_without_an_error(text, last):
    assert all(text.find(key) >= 0 for key in read_fields(text, last=last))
