"""An entry: the work comes back as it was handed in, and a few words on it."""

from itertools import dropwhile

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from moot.parsers.entry import Entry, entry_of, write_entry
from moot.parsers.sections import sections

from .test_tokens import texts

lines = st.sampled_from(
    ["tea", "", "  cake", "\tmilk", "- [x] done", "# Plan", "> APPROACH: x", "ENTRY: x", "[NOTE]", "a\u2028b"]
)
works = st.lists(lines, max_size=8).map("\n".join).filter(str.strip)
approaches = st.text("abc .,:'\u2028", max_size=20).map(str.strip)


@pytest.mark.parametrize(
    ("body", "entry"),
    [
        ("SUBMISSION: Leaf & Steam\nAPPROACH: two words", Entry("Leaf & Steam", "two words")),
        ("SUBMISSION:\nLeaf\n\nSteam\n\nAPPROACH: two\nlines\n", Entry("Leaf\n\nSteam", "two\nlines")),
        ("**SUBMISSION:** Leaf\n\n**APPROACH**:\n  plain", Entry("Leaf", "plain")),
        ("## SUBMISSION:\nLeaf\n## APPROACH:\nplain", Entry("Leaf", "plain")),
        ("\ufeffSUBMISSION: Leaf\r\nSteam\r\nAPPROACH: plain\r\n", Entry("Leaf\nSteam", "plain")),
        ("Here it is.\n\nSUBMISSION: Leaf", Entry("Leaf")),
        ("Leaf", Entry("Leaf")),
        ("Leaf\n\nAPPROACH: plain", Entry("Leaf", "plain")),
        ("APPROACH: plain", Entry("", "plain")),
        ("APPROACH: plain\nSUBMISSION: Leaf", Entry("Leaf")),
        ("SUBMISSION: Leaf\n[DONE]\nSteam\n[ACK]", Entry("Leaf\nSteam")),
        ("SUBMISSION:\n\n", Entry("")),
        ("", Entry("")),
    ],
)
def test_an_entry_is_read(body, entry):
    assert entry_of(body) == entry


def test_a_key_inside_the_work_is_the_works_and_the_last_approach_counts():
    body = "SUBMISSION: A form:\nAPPROACH: to be filled in\nSUBMISSION: too\nAPPROACH: I drew a form"
    assert entry_of(body) == Entry("A form:\n\nAPPROACH: to be filled in\n\nSUBMISSION: too", "I drew a form")


def test_a_line_in_a_fence_is_no_key():
    work = "```\nSUBMISSION: x\nAPPROACH: y\n[DONE]\n```"
    assert entry_of(f"SUBMISSION:\n{work}") == entry_of(work) == Entry(work)
    assert entry_of(write_entry(work, "a form")) == Entry(work, "a form")


def test_a_drawing_keeps_the_indent_of_its_first_line():
    work = "   )  )\n  (  (\n |____|>"
    assert entry_of(f"SUBMISSION:\n{work}\n") == Entry(work)
    assert entry_of(write_entry(f"\n{work}\n", "steam")) == Entry(work, "steam")


def test_an_entry_is_written_with_its_keys():
    assert write_entry("\nLeaf\n") == "SUBMISSION:\nLeaf"
    assert write_entry("Leaf", "plain") == "SUBMISSION:\nLeaf\n\nAPPROACH: plain"


@pytest.mark.parametrize(
    "body", ["SUBMISSION: Leaf", "Hello.\n**SUBMISSION:**\nLeaf", "\ufeff# SUBMISSION: Leaf"]
)
def test_a_text_that_has_its_key_is_left_as_it_is(body):
    assert write_entry(f"{body}\n\n") == body
    assert entry_of(write_entry(body, "plain")) == Entry("Leaf", "plain")


@given(texts)
def test_any_body_is_read_without_an_error(body):
    entry = entry_of(body)
    assert entry.approach == entry.approach.strip()
    assert entry.submission == entry.submission.rstrip()
    assert entry_of(write_entry(body)) is not None


@given(works, approaches)
def test_a_written_entry_is_read(work, approach):
    kept = "\n".join(dropwhile(lambda line: not line.strip(), work.split("\n"))).rstrip()
    assert entry_of(write_entry(work, approach)) == Entry(kept, approach)


@given(texts, approaches)
def test_any_work_without_keys_tokens_and_open_fences_is_read_as_it_was(work, approach):
    work = work.strip().removeprefix("\ufeff").strip()
    assume(sections(f"x\n{work}\nx", ("SUBMISSION", "APPROACH")) == [("", f"x\n{work}\nx")])
    assume("```" not in work and "~~~" not in work)
    assert entry_of(write_entry(work, approach)) == Entry(work, approach)
