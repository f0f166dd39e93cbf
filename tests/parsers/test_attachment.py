"""What stands in the ledger for a text that is too long or private: bounded, and it says the same."""

import hashlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.parsers.attachment import Attachment, attachment_of, private_hash, private_stub, stub
from moot.parsers.tokens import tokens_of

from .test_tokens import texts

SHA = hashlib.sha256(b"tea").hexdigest()
PATH = f"runs/attachments/{SHA}.md"


def test_a_stub_quotes_the_first_lines_and_says_where_the_whole_is():
    body = "\n".join(f"line {number}" for number in range(100))
    lines = stub(body, SHA, "ANT").split("\n")
    assert lines[:13] == [*(f"> line {number}" for number in range(12)), "> …"]
    assert lines[13:] == ["", f"Attachment: {PATH}, {len(body)} bytes"]


@given(texts, st.sampled_from(["ANT", "BEE"]))
def test_a_stub_has_the_tokens_of_the_whole_and_no_others(body, author):
    said = {token.name for token in tokens_of(body, author)}
    short = stub(body, SHA, author)
    assert {token.name for token in tokens_of(short, author)} == said
    assert {token.name for token in tokens_of(short, "somebody else")} == said


@given(texts)
def test_a_stub_is_read_as_the_attachment_that_it_is(body):
    found = attachment_of(stub(body, SHA, "ANT"))
    assert found is not None
    assert (found.path, found.sha256) == (PATH, SHA)


def test_a_stub_says_whether_an_artifact_is_in_the_whole():
    assert attachment_of(stub("Updated:\ntea", SHA, "ANT")) == Attachment(PATH, SHA, holds_artifact=True)
    assert attachment_of(stub("tea", SHA, "ANT")) == Attachment(PATH, SHA, holds_artifact=False)


def test_a_token_of_the_whole_keeps_its_words():
    body = "\n" * 20 + "**[INCOMPLETE]** no water\n[INCOMPLETE] again"
    (token,) = tokens_of(stub(body, SHA, "ANT"))
    assert (token.name, token.rest) == ("INCOMPLETE", "no water")


@pytest.mark.parametrize(
    "body", ["x" * 999_999, "[DONE] " + "x" * 999_999, "[DONE]\n" * 9_999, "é\n" * 99_999]
)
def test_a_stub_is_short_whatever_the_whole_is(body):
    assert len(stub(body, SHA, "ANT").encode()) < 8192


@pytest.mark.parametrize(
    "body",
    [
        "",
        "tea",
        "Attachment: runs/attachments/../../x.md, 3 bytes",
        f"Attachment: {PATH}",
        f"Attachment: {PATH}, 3 bytes and more",
        f"Attachment: {PATH}, ٣ bytes",
        f"> Attachment: {PATH}, 3 bytes",
        f"Attachment: runs/attachments/{SHA.upper()}.md, 3 bytes",
        f"Attachment: /runs/attachments/{SHA}.md, 3 bytes",
    ],
)
def test_what_is_no_link_leads_nowhere(body):
    assert attachment_of(body) is None


@given(st.text())
def test_a_private_stub_holds_the_hash_and_none_of_the_words(body):
    short = private_stub(body, SHA)
    assert private_hash(short) == SHA
    assert short == f"Private: {len(body.encode())} bytes, sha256 {SHA}"


@pytest.mark.parametrize(
    "text", ["", "Private: x", f"Private: ٣ bytes, sha256 {SHA}", f"Private: 3 bytes, sha256 {SHA}\n"]
)
def test_what_is_no_private_stub_has_no_hash(text):
    assert private_hash(text) == ""


def test_halves_of_surrogate_pairs_are_counted_as_they_are_written():
    assert private_stub("\ud800", SHA).startswith("Private: 1 bytes")
    assert f"{PATH}, 1 bytes" in stub("\ud800", SHA, "ANT")


def test_a_hostile_body_costs_little_time():
    before = time.process_time()
    for unit in ("Attachment: ", "Attachment: runs/attachments/", "Private: 1", "0"):
        attachment_of(unit * 20_000)
        private_hash(unit * 20_000)
    assert time.process_time() - before < 1
