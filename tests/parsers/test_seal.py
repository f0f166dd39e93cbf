"""Seals: only the very text that was sealed opens one, and a formatter breaks none."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.parsers.seal import Opened, commitment, opened_body, read_opened, sealed_body, sealed_hash

from .test_tokens import texts

salts = st.from_regex(r"[0-9a-f]{32}", fullmatch=True)
hashes = st.from_regex(r"[0-9a-f]{64}", fullmatch=True)
blanks = st.sampled_from(["", " ", "\t", "  ", "\r", " \r"])
HASH = "5d" * 32


def bare(text):
    """Give a text less what formatters change."""
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def test_the_hash_is_sha256_over_salt_and_text():
    assert (
        commitment(Opened("9e1f", "tea\r\n\n cake \n\n")) == hashlib.sha256(b"9e1f\ntea\n\n cake").hexdigest()
    )
    assert commitment(Opened("", "")) == hashlib.sha256(b"\n").hexdigest()
    assert commitment(Opened("9e1f", "\ud800")) == hashlib.sha256(b"9e1f\n?").hexdigest()


def test_a_sealed_body_shows_its_hash_and_what_stays_open():
    assert sealed_body(HASH) == f"Sealed: {HASH}"
    assert sealed_body(HASH, "ENTRY: Entry-1") == f"ENTRY: Entry-1\n\nSealed: {HASH}"


@pytest.mark.parametrize(
    "body", ["Sealed: {}", "tea\n\nSealed: {}\n", "Sealed: {} \t", "tea\r\n\r\nSealed: {}\r\n"]
)
def test_a_sealed_body_gives_its_hash(body):
    assert sealed_hash(body.format(HASH)) == HASH


@pytest.mark.parametrize(
    "body",
    [
        "",
        "tea",
        "Sealed:",
        "sealed: {}",
        " Sealed: {}",
        "> Sealed: {}",
        "Sealed: {}0",
        "Sealed: x{}",
        "Sealed: {} tea",
        "x\rSealed: {}",
    ],
)
def test_a_body_that_is_not_sealed_has_no_hash(body):
    assert sealed_hash(body.format(HASH)) == ""
    assert sealed_hash(f"Sealed: {HASH[:-1]}") == sealed_hash(f"Sealed: {HASH.upper()}") == ""


@given(hashes, st.text())
def test_a_hash_comes_back_from_its_body(sealed, shown):
    assert sealed_hash(sealed_body(sealed)) == sealed_hash(sealed_body(sealed, shown)) == sealed


@given(texts)
def test_any_body_is_read_without_an_error(body):
    assert sealed_hash(body) in ("", *body.split())
    opened = read_opened(body)
    assert opened is None or "TEXT:" in body


def test_a_seal_opens_with_salt_and_text():
    opened = Opened("9e1f", "tea\nSALT: 0\nTEXT: cake")
    assert opened_body(opened) == "SALT: 9e1f\nTEXT: tea\nSALT: 0\nTEXT: cake"
    assert read_opened(opened_body(opened)) == opened
    assert read_opened(f"A seal is opened.\n\n{opened_body(opened)}", commitment(opened)) == opened


@pytest.mark.parametrize(
    "body", ["", "SALT: 9e1f", "TEXT: tea", "TEXT: tea\nSALT: 9e1f", "salt: 9e1f\ntext: tea"]
)
def test_a_ruling_without_salt_or_text_opens_nothing(body):
    assert read_opened(body) is None
    assert read_opened(body, HASH) is None


def test_a_ruling_opens_no_other_seal():
    opened = Opened("9e1f", "tea")
    assert read_opened(opened_body(opened), commitment(Opened("9e1f", "cake"))) is None
    assert read_opened(opened_body(opened), commitment(Opened("9e20", "tea"))) is None
    assert read_opened(opened_body(opened), HASH) is None


@given(salts, texts)
def test_what_was_sealed_is_opened(salt, text):
    opened = Opened(salt, text)
    read = read_opened(opened_body(opened), commitment(opened))
    assert read is not None
    assert read.salt == salt
    assert bare(read.text) == bare(text)


@given(salts, texts)
def test_a_text_without_blanks_around_it_comes_back_whole(salt, text):
    opened = Opened(salt, text.strip())
    assert read_opened(opened_body(opened)) == opened or opened.text.split("\n")[0].endswith("\r")


@given(salts, texts, st.data())
def test_blanks_and_crs_at_the_ends_of_lines_break_no_seal(salt, text, data):
    opened = Opened(salt, text)
    body = opened_body(opened)
    more = "\n".join(line + data.draw(blanks) for line in body.split("\n"))
    less = "\n".join(line.rstrip() for line in body.split("\n"))
    for changed in (more, less, body.replace("\n", "\r\n"), f"\n{body}\n\n", f"{body}\r\n \r\n"):
        assert read_opened(changed, commitment(opened)) is not None


@given(salts, texts, texts)
def test_another_text_does_not_open_it(salt, text, other):
    same = bare(text).encode("utf-8", "replace") == bare(other).encode("utf-8", "replace")
    assert (read_opened(opened_body(Opened(salt, other)), commitment(Opened(salt, text))) is not None) == same


@given(salts, st.text("abc \n\u2028", min_size=1), st.data())
def test_any_change_of_one_character_breaks_it(salt, text, data):
    at = data.draw(st.integers(0, len(text)))
    changed = f"{text[:at]}X{text[at + data.draw(st.integers(0, 1)) :]}"
    assert read_opened(opened_body(Opened(salt, changed)), commitment(Opened(salt, text))) is None


@given(salts, salts, texts)
def test_another_salt_does_not_open_it(salt, other, text):
    opened = read_opened(opened_body(Opened(other, text)), commitment(Opened(salt, text)))
    assert (opened is not None) == (salt == other)
