"""Loose text: what hands wrote is cut into blocks as they meant it, and found again after formatters."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.parsers import loose
from moot.parsers.headers import Header, Vocabulary
from moot.parsers.loose import HandBlock, Prose, find_pinned, pin, split_loose

from .ledgers import lines as nasty_lines

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("*.md"))
WORDS = Vocabulary(("PEER_A", "PEER_B", "DONE", "INCOMPLETE", "ACK"), ("ANT", "BEE"))
BOM = b"\xef\xbb\xbf"


def as_read(piece):
    """Give a piece as the fixtures' expected blocks are written."""
    if isinstance(piece, Prose):
        return {"prose": piece.text.decode()}
    header = piece.header
    said = {"header": header.label, "body": piece.body}
    return (
        said
        | ({"to": list(header.to)} if header.to else {})
        | ({"session": header.session} if header.session else {})
    )


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
@pytest.mark.parametrize("base", [0, 1000])
def test_a_text_is_read_as_its_fixture_says(path, base):
    expected = json.loads(path.with_suffix(".json").read_text())
    words = Vocabulary(expected["tags"], expected["names"])
    text = path.read_bytes()
    assert [as_read(piece) for piece in split_loose(text, base, words)] == expected["pieces"]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_crlf_and_a_byte_order_mark_make_no_difference(path):
    expected = json.loads(path.with_suffix(".json").read_text())
    words = Vocabulary(expected["tags"], expected["names"])
    text = BOM + path.read_bytes().replace(b"\n", b"\r\n")
    found = [as_read(piece) for piece in split_loose(text, 0, words)]
    unix = [{key: _unix(value) for key, value in piece.items()} for piece in found]
    assert unix == expected["pieces"]


def _unix(value):
    return value.replace("\r", "").removeprefix("\ufeff") if isinstance(value, str) else value


def test_every_fixture_has_its_blocks_beside_it():
    assert len(FIXTURES) >= 10
    assert {path.stem for path in FIXTURES} == {path.stem for path in FIXTURES[0].parent.glob("*.json")}


def test_a_block_says_where_it_stands_in_the_ledger():
    text = b"\n\nwords\n\n[ANT]\nTea.\n\n\n[BEE] cake\n"
    assert split_loose(text, 100, WORDS) == [
        Prose(102, 107, b"words"),
        HandBlock(109, 119, Header("", "ANT"), "Tea.", b"[ANT]\nTea."),
        HandBlock(122, 132, Header("", "BEE", rest="cake"), "cake", b"[BEE] cake"),
    ]


def test_a_byte_order_mark_that_cat_brought_along_hides_no_header():
    (block,) = split_loose(b"\n\n" + BOM + b"[ANT]\nTea.", 0, WORDS)
    assert block == HandBlock(2, 15, Header("", "ANT"), "Tea.", BOM + b"[ANT]\nTea.")
    assert find_pinned(b"\n\n" + BOM + b"[ANT]\nTea.", pin(block.text)) == (2, 15)


@pytest.mark.parametrize("text", [b"", b"\n", b" \t\r\n\n", BOM, BOM + b"\r\n"])
def test_blank_text_holds_nothing(text):
    assert split_loose(text, 0, WORDS) == []


@pytest.mark.parametrize("line", [b"========", b"=====", b"<<<<<<<x", b"Tea <<<<<<< HEAD"])
def test_what_only_resembles_a_conflict_marker_is_words(line):
    assert [as_read(piece) for piece in split_loose(line, 0, WORDS)] == [{"prose": line.decode()}]
    (block,) = split_loose(b"[ANT]\nTea\n" + line, 0, WORDS)
    assert isinstance(block, HandBlock)
    assert block.body == "Tea\n" + line.decode()


hand_lines = st.sampled_from(
    [
        b"[PEER_A - ANT]",
        b"## [BEE] to ANT",
        b"[DONE]",
        b"[DONE - BEE] x",
        b"[ACK]",
        b"  [NOTE]",
        b"words",
        b"```",
        b"> q",
    ]
)
hand_texts = st.lists(st.one_of(hand_lines, nasty_lines), max_size=12).map(b"\n".join)
any_bytes = st.one_of(hand_texts, st.binary(), st.tuples(st.just(BOM), hand_texts).map(b"".join))


@given(any_bytes, st.integers(0, 999))
def test_blocks_and_prose_stand_in_order_and_are_the_text_at_their_offsets(text, base):
    at = base
    for piece in split_loose(text, base, WORDS):
        assert at <= piece.start < piece.end <= base + len(text)
        assert text[piece.start - base : piece.end - base] == piece.text
        assert piece.text.strip()
        at = piece.end


@given(any_bytes)
def test_no_header_is_lost_whatever_stands_above_it_in_a_piece(text):
    blocks = [piece for piece in split_loose(text, 0, WORDS) if isinstance(piece, HandBlock)]
    more = split_loose(text + b"\n\n-->\n\n[PEER_B - BEE]\nTea.", 0, WORDS)
    if b"`" not in text and b"~" not in text and b"<" not in text:
        assert isinstance(more[-1], HandBlock)
        assert more[-1].text == b"[PEER_B - BEE]\nTea."
        assert len(more) > len(blocks)


# -- pins ------------------------------------------------------------------------------------------


@given(any_bytes)
def test_every_piece_that_was_pinned_is_found_where_it_stands(text):
    first = {}
    for piece in split_loose(text, 0, WORDS):
        pinned = pin(piece.text)
        start, _ = first.setdefault(pinned, (piece.start, piece.end))
        found = find_pinned(text, pinned)
        assert found is not None
        assert pin(text[slice(*found)]) == pinned
        if isinstance(piece, HandBlock):
            assert found[0] <= start


BLOCK = b"[PEER_A - ANT] to BEE\nTea at four.\n\n    and cake"
AROUND = b"\n\nwords above\n\n%s\n\n[BEE]\nwords below\n"


@pytest.mark.parametrize(
    "same",
    [
        BLOCK,
        BLOCK.replace(b"\n", b"\r\n"),
        BLOCK.replace(b"\n", b" \t\n") + b"  ",
        b"\n\n" + BLOCK + b"\n\n\n",
        b"\r\n" + BLOCK + b"\r\n \r\n",
    ],
)
def test_a_pinned_block_is_found_after_formatters(same):
    text = AROUND % same
    found = find_pinned(text, pin(BLOCK))
    assert found is not None
    assert text[slice(*found)] == same.strip()
    assert find_pinned(BOM + same, pin(BLOCK)) is not None


@pytest.mark.parametrize("at", range(len(BLOCK)))
def test_a_pinned_block_is_not_found_after_a_changed_character(at):
    for new in (b"", b"#", b"\n#"):
        if BLOCK[at : at + 1] != new:
            changed = BLOCK[:at] + new + BLOCK[at + 1 :]
            assert find_pinned(AROUND % changed, pin(BLOCK)) is None


def test_a_pinned_block_is_not_found_within_a_longer_line_or_with_a_blank_line_less():
    assert find_pinned(AROUND % (b"x " + BLOCK), pin(BLOCK)) is None
    assert find_pinned(AROUND % (BLOCK + b"x"), pin(BLOCK)) is None
    assert find_pinned(AROUND % BLOCK.replace(b"\n\n", b"\n"), pin(BLOCK)) is None


def test_prose_is_found_only_where_the_text_begins():
    prose = b"words\nof nobody"
    assert find_pinned(b"\n\n" + prose + b"\n\n[ANT]\nTea.", pin(prose)) == (2, 17)
    assert find_pinned(b"more\n" + prose, pin(prose)) is None


def test_a_pin_is_a_hash_and_a_count_of_lines():
    digest, _, count = pin(BLOCK).partition("/")
    assert len(digest) == 32
    assert count == "4"
    assert pin(b"\n\n" + BLOCK + b"\n") == pin(BLOCK)


@pytest.mark.parametrize("nothing", [b"", b"\n \r\n", BOM])
def test_nothing_has_no_pin(nothing):
    assert pin(nothing) == ""
    assert find_pinned(nothing, pin(BLOCK)) is None


@pytest.mark.parametrize(
    "forged", ["", "/", "x", "/4", "x/0", "x/-1", "x/٣", "x/²", "x/" + "9" * 5000, "x/04", "x/4/4"]
)
def test_a_forged_pin_finds_nothing(forged):
    assert find_pinned(AROUND % BLOCK, forged) is None
    digest = pin(BLOCK).partition("/")[0]
    assert find_pinned(AROUND % BLOCK, forged.replace("x", digest)) is None


# -- hostile texts ---------------------------------------------------------------------------------


def test_a_search_among_many_beginnings_ends(monkeypatch):
    text = b"[ANT] tea\n" * 100_000
    before = time.process_time()
    assert find_pinned(text, "0" * 32 + "/50000") is None
    assert time.process_time() - before < 3
    assert find_pinned(text + b"[BEE] cake", pin(b"[BEE] cake")) is not None
    monkeypatch.setattr(loose, "_MOST_HASHED", 1 << 10)
    assert find_pinned(text[:100] + b"[BEE] cake", pin(b"[BEE] cake")) is not None


@pytest.mark.parametrize(
    "unit", [b"[ANT]\n", b"[DONE]\n", b"```x\n", b"<!--\n", b"words\n", b"=======\n", b"\n", b"\xff"]
)
def test_a_hostile_text_costs_little_time(unit):
    text = unit * (60_000 // len(unit)) + b"\n[ANT]\n"
    before = time.process_time()
    split_loose(text, 0, WORDS)
    assert time.process_time() - before < 4
