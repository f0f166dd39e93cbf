"""The artifact of a turn: where it begins and ends, and that the last one counts."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.parsers.artifact import artifact_of

from .test_tokens import texts


@pytest.mark.parametrize(
    "label", ["Artifact:", "Updated:", "artifact:", "UPDATED:", "  Artifact:", "### Updated:"]
)
@pytest.mark.parametrize("bold", ["", "**x:**", "**x**:", "__x:__"])
def test_an_artifact_stands_under_its_label(label, bold):
    label = label.replace(label.strip(" #:"), label.strip(" #:")).rstrip(":")
    word = label.strip(" #")
    line = label.replace(word, (bold or "x:").replace("x", word))
    assert artifact_of(f"I added cake.\n\n{line}\n1. tea\n2. cake\n") == "1. tea\n2. cake\n"
    assert artifact_of(f"{line} tea") == "tea\n"
    assert artifact_of(f"\ufeff{line}\r\n\r\ntea\r\n") == "tea\n"


@pytest.mark.parametrize("mark", ["```", "````", "~~~", "~~~~~~"])
@pytest.mark.parametrize("info", ["artifact", " artifact", "artifact  ", "artifact md"])
def test_an_artifact_stands_in_a_fence_that_is_named_so(mark, info):
    body = f"I added cake.\n\n{mark}{info}\n1. tea\n\n2. cake\n{mark}\nDo you agree?"
    assert artifact_of(body) == "1. tea\n\n2. cake\n"


@pytest.mark.parametrize(
    ("body", "artifact"),
    [
        ("", None),
        ("Tea.", None),
        ("Tea.\n\n[DONE]", None),
        ("The artifact: it is good", None),
        ("> Updated:\n> tea", None),
        ("- Updated:\n- tea", None),
        ("Updated\ntea", None),
        ("Updatedness: tea", None),
        ("`Updated:`\ntea", None),
        ("**Updated:\ntea", None),
        ("    Updated:\n    tea", None),
        ("```\nUpdated:\ntea\n```", None),
        ("<!--\nUpdated:\ntea\n-->", None),
        ("```artifacts\ntea\n```", None),
        ("```py artifact\ntea\n```", None),
        ("````\n```artifact\ntea\n```\n````", None),
        ("> ```artifact\n> tea\n> ```", None),
        ("Updated:", None),
        ("Updated:\n\n \n[DONE]", None),
        ("```artifact\n```", None),
        ("```artifact\n \n```", None),
    ],
)
def test_a_body_without_an_artifact_has_none(body, artifact):
    assert artifact_of(body) is artifact


@pytest.mark.parametrize(
    ("body", "artifact"),
    [
        ("Artifact:\ntea\n\nUpdated:\ncake", "cake\n"),
        ("```artifact\ntea\n```\n\n```artifact\ncake\n```", "cake\n"),
        ("```artifact\ntea\n```\n\nUpdated:\ncake", "cake\n"),
        ("Updated:\ntea\n\n```artifact\ncake\n```", "cake\n"),
        ("Updated:\n```artifact\ncake\n```\n[DONE]", "cake\n"),
        ("Updated:\ntea\n\n```\nUpdated:\nan example\n```", "tea\n\n```\nUpdated:\nan example\n```\n"),
        ("```artifact\nUpdated:\ncake\n```", "Updated:\ncake\n"),
        ("Updated: tea\nUpdated: cake\n", "cake\n"),
        ("Updated:\ntea\n\n```artifact\n```", None),
    ],
)
def test_the_last_artifact_of_a_body_counts(body, artifact):
    assert artifact_of(body) == artifact


@pytest.mark.parametrize(
    ("body", "artifact"),
    [
        ("Updated:\ntea\n\n[DONE] - I think so", "tea\n"),
        ("Updated:\ntea\n**[DONE]**\ncake\n[ACK - ANT]\n", "tea\ncake\n"),
        ("Updated:\n[NOTE] tea\n> [DONE]\n", "[NOTE] tea\n> [DONE]\n"),
        ("Updated:\n```\n[DONE]\n```\n[DONE]", "```\n[DONE]\n```\n"),
        ("[DONE]\n\nUpdated:\ntea", "tea\n"),
    ],
)
def test_token_lines_are_no_part_of_an_artifact(body, artifact):
    assert artifact_of(body) == artifact


def test_an_artifact_keeps_its_own_words_as_they_are():
    assert artifact_of("Updated:\n\n  tea\0\t \n\u2028cake  \n\n") == "  tea\0\t \n\u2028cake  \n"
    assert artifact_of("```artifact\n\n  tea\r\ncake\n\n```\n") == "\n  tea\r\ncake\n\n"


def test_a_fence_gives_up_its_own_margin_and_no_more():
    assert artifact_of("  ```artifact\n  tea\n    cake\n more\n\n  ```") == "tea\n  cake\nmore\n\n"


def test_a_fence_that_is_never_closed_runs_to_the_end():
    assert artifact_of("```artifact\ntea\ncake") == "tea\ncake\n"


@given(texts)
def test_any_body_is_read_without_an_error(body):
    artifact = artifact_of(body)
    assert artifact is None or (artifact.endswith("\n") and artifact.strip())


@given(st.lists(st.sampled_from(["tea", "", "  cake", "- [x] done", "| a | b |", "# Plan"]), min_size=1))
def test_words_under_a_label_come_back_whole(lines):
    text = "\n".join(lines).strip("\n")
    if text.strip():
        assert artifact_of(f"Updated:\n{text}\n\n[DONE]") == f"{text}\n"


@pytest.mark.parametrize(
    "unit",
    [
        "```artifact\n",
        "~~~artifact\n```artifact\n",
        "artifact\n",
        "Updated:\n",
        "**Updated:\n",
        "# " * 9,
        "Updated: \t",
        "```artifact\nx\n```\n",
        "Updated:\n[DONE]\n",
        "artifact" + " " * 99,
    ],
)
def test_200_hostile_kilobytes_cost_little_time(unit):
    body = unit * (200_000 // len(unit))
    before = time.process_time()
    artifact_of(body + "\nartifact")
    assert time.process_time() - before < 4
