"""Frames: whatever stands in a body or beside it, a block is read whole, unchanged, once, or not at all."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.parsers.frames import (
    CLOSE,
    OPEN,
    TORN,
    Frame,
    Loose,
    Torn,
    digest,
    escape,
    frame_hash,
    gap_hash,
    render,
    scan,
    unescape,
)

from .ledgers import FACTS, IDS, NASTY_LINES, bodies, closers, extra_facts, frame, ledgers, spoiled_ledgers

ONE = frame(0, b"Tea at four.\n\n[DONE]\n", re=IDS[5], prev="a" * 32)
TWO = frame(1, b"Cake at five.")
BOM = b"\xef\xbb\xbf"
MEGABYTE = 1 << 20


def frames_in(data):
    return [piece for piece in scan(data) if isinstance(piece, Frame)]


def kinds(data):
    return [type(piece).__name__ for piece in scan(data)]


# -- what the tool wrote ---------------------------------------------------------------------------


@given(bodies, closers, extra_facts, st.sampled_from([b"", b"\n", b"\n\nwords"]))
def test_what_is_rendered_is_read_as_one_block_unchanged(body, closer, facts, behind):
    raw = frame(0, body, closer, **facts)
    found, *rest = scan(raw + behind)
    assert isinstance(found, Frame)
    assert (found.start, found.end, found.hash, found.edited) == (0, len(raw), frame_hash(raw), False)
    assert found.id == IDS[0]
    assert facts.items() <= found.facts.items()
    assert found.header == "[PEER_A - ANT] to BEE"
    assert found.body == body
    assert [type(piece) for piece in rest] == [Loose] * bool(behind)


@given(st.lists(bodies, min_size=2, max_size=5))
def test_no_body_hides_splits_or_joins_its_neighbours(texts):
    raw = b"\n\n".join(frame(number, body) for number, body in enumerate(texts)) + b"\n"
    assert [found.body for found in frames_in(raw)] == texts
    assert [found.id for found in frames_in(raw)] == IDS[: len(texts)]
    assert not any(found.edited for found in frames_in(raw))


@pytest.mark.parametrize("line", NASTY_LINES)
def test_each_nasty_line_is_data_wherever_it_stands(line):
    for body in (line, line + b"\n", b"\n" + line, b"a\n" + line + b"\nb", line * 3, (line + b"\n") * 3):
        assert [found.body for found in frames_in(frame(0, body) + b"\n\n" + TWO)] == [body, b"Cake at five."]


def test_a_megabyte_line_is_a_line():
    body = b"x" * MEGABYTE + b"\n" + b"<!-- moot v=1 " * (MEGABYTE // 14)
    assert frames_in(frame(0, body))[0].body == body


@given(bodies)
def test_escaping_can_be_undone_and_leaves_no_marker(body):
    assert unescape(escape(body)) == body
    assert unescape(escape(escape(body))) == escape(body)
    assert not any(line.startswith((b"<!-- moot", b"<!-- /moot")) for line in escape(body).split(b"\n"))


def test_a_block_without_body_or_facts_is_a_block():
    (found,) = scan(render({"id": IDS[0], "from": "ANT", "to": ""}, b""))
    assert isinstance(found, Frame)
    assert (found.header, found.body, found.edited) == ("", b"", False)
    assert found.fact("to") == found.fact("in") == ""
    assert found.fact("from") == "ANT"


def test_facts_stand_in_one_order_and_hashes_last():
    facts = {"prev": "b" * 32, "by": "CAT", "from": "ANT", "ruling": "accepted/turn", "id": IDS[0], "gap": ""}
    marker = render(facts, b"x").split(b"\n")[0].decode()
    assert [word.partition("=")[0] for word in marker.split(" ")[3:-1]] == [
        "id", "from", "by", "ruling", "bytes", "sha", "prev",
    ]  # fmt: skip


def test_a_frame_that_was_read_can_be_written_again_from_its_facts():
    (found,) = scan(ONE)
    assert isinstance(found, Frame)
    assert render(found.facts, found.content) == ONE


@pytest.mark.parametrize(
    "facts",
    [
        {"id": ""},
        {"id": "x"},
        {"from": ""},
        {"to": "A B"},
        {"to": "A\nB"},
        {"to": "A\u2028B"},
        {"to": "\x1b[0m"},
        {"to": "a-->b"},
        {"to": "\ud800"},
        {"a-b": "x"},
        {"a b": "x"},
    ],
)
def test_facts_that_no_reader_could_read_are_not_written(facts):
    with pytest.raises(ValueError, match="no reader could read"):
        render({**FACTS, **facts}, b"x")


@pytest.mark.parametrize("line", [TORN, OPEN, CLOSE, b"<!-- moot"])
def test_content_with_a_bare_marker_is_not_written(line):
    with pytest.raises(ValueError, match="looks like a marker"):
        render(FACTS, b"x\n" + line)
    with pytest.raises(ValueError, match="looks like a marker"):
        render(FACTS, b"x", b"```\n" + line)
    assert render(FACTS, b"x " + line)


# -- any bytes -------------------------------------------------------------------------------------


@given(st.one_of(spoiled_ledgers(), st.binary()), st.integers(0, 1000))
def test_pieces_add_up_to_any_input(data, base):
    at = base
    pieces = list(scan(data, base))
    for piece in pieces:
        assert piece.start == at
        assert piece.end > at
        at = piece.end
        raw = data[piece.start - base : piece.end - base]
        if isinstance(piece, Frame):
            assert piece.hash == frame_hash(raw)
            assert raw.endswith(CLOSE + piece.id.encode() + b" -->")
            assert (piece.header, piece.body) is not None
        else:
            assert piece.text == raw
    assert at == base + len(data)
    assert not any(isinstance(piece, Torn) and piece.open for piece in pieces[:-1])


@given(spoiled_ledgers())
def test_reading_on_behind_a_block_finds_what_reading_the_whole_finds(data):
    whole = list(scan(data))
    for number, piece in enumerate(whole):
        if isinstance(piece, Frame):
            assert list(scan(data[piece.end :], piece.end)) == whole[number + 1 :]
            assert list(scan(data[piece.start : piece.end], piece.start)) == [piece]


@given(ledgers)
def test_crlf_throughout_the_file_leaves_blocks_unharmed(data):
    for found, unix in zip(frames_in(data.replace(b"\n", b"\r\n")), frames_in(data), strict=True):
        assert (found.id, found.hash, found.edited) == (unix.id, unix.hash, unix.edited)
        if b"\r" not in data:
            assert found.body == unix.body


@given(ledgers)
def test_a_formatter_that_takes_blanks_from_line_ends_leaves_blocks_unharmed(data):
    trimmed = b"\n".join(line.rstrip(b" \t\r") for line in data.split(b"\n"))
    for found, written in zip(frames_in(trimmed), frames_in(data), strict=True):
        assert (found.id, found.hash, found.edited) == (written.id, written.hash, written.edited)


def test_a_byte_order_mark_before_the_first_block_is_loose_text():
    assert kinds(BOM + ONE) == ["Loose", "Frame"]
    assert kinds(BOM + b"\n" + ONE) == ["Loose", "Frame"]
    assert kinds(b"\n" + BOM + ONE) == ["Loose"]


def test_a_block_right_behind_another_is_a_block():
    assert kinds(ONE + TWO) == ["Frame", "Frame"]
    assert kinds(b"words " + ONE) == ["Loose"]


# -- blocks that were cut --------------------------------------------------------------------------


@pytest.mark.parametrize("cut", range(len(ONE)))
def test_a_cut_block_is_no_block_and_swallows_nothing(cut):
    start = ONE[:cut]
    assert not frames_in(start)
    line_end = b"" if start.endswith(b"\n") or not start else b"\n"
    for between in (line_end + TORN + b"\n\n", line_end + b"\n", line_end, line_end + b"some words\n\n"):
        for following in (TWO, TWO + b"\n\n" + ONE):
            whole = [found.id for found in frames_in(following)]
            assert [found.id for found in frames_in(start + between + following)] == whole
    assert [found.id for found in frames_in(TWO + b"\n\n" + start)] == [IDS[1]]


@pytest.mark.parametrize("cut", range(4, len(ONE)))
def test_a_cut_block_waits_until_a_torn_marker_closes_it(cut):
    start = ONE[:cut]
    *_, last = scan(b"words\n\n" + start)
    assert isinstance(last, Torn)
    assert last.open
    assert last.text == start
    closed = start + (b"" if start.endswith(b"\n") else b"\n") + TORN
    assert list(scan(closed + b"\nwords")) == [
        Torn(0, len(closed), closed, open=False),
        Loose(len(closed), len(closed) + 6, b"\nwords"),
    ]


def test_two_writers_that_died_one_after_the_other_leave_one_torn_piece():
    data = ONE[:-9] + b"\n" + TWO[:40] + b"\n" + TORN + b"\n" + frame(2, b"alive")
    assert kinds(data) == ["Torn", "Loose", "Frame"]


def test_whole_blocks_of_a_dead_writers_neighbours_end_its_own():
    data = ONE[:-9] + b"\n\n" + TWO + b"\n\n" + CLOSE + IDS[0].encode() + b" -->\n"
    assert kinds(data) == ["Torn", "Frame", "Loose"]


@pytest.mark.parametrize(
    "line",
    [
        b"<!-- moot v=1 is our format -->",
        b"<!-- moot v=1 id=" + IDS[0].encode() + b" -->",
        b"<!-- moot v=1 id=" + IDS[0].encode() + b" from=A from=B -->",
        b"<!-- moot v=1 id=" + IDS[0].encode() + b" from=A to= -->",
        b"<!-- moot v=1 id=" + IDS[0].encode() + b" from=A  to=B -->",
        b"<!-- moot v=1 id=" + IDS[0].encode() + b" from=A to=\x1b[2J -->",
        b"<!-- moot v=1 id=" + IDS[0].encode() + b" from=A -->x -->",
        b"<!-- moot v=2 id=" + IDS[0].encode() + b" from=A -->",
        b"<!-- moot v=10 id=" + IDS[0].encode() + b" from=A -->",
        b"<!-- moot: a marker -->",
        b"<!-- moot",
        b"<!--",
        CLOSE + IDS[0].encode() + b" -->",
        TORN,
    ],
)
def test_somebodys_own_words_about_markers_are_loose_text(line):
    assert kinds(line + b"\nwords\n\n" + CLOSE + IDS[0].encode() + b" -->\n" + TWO) == ["Loose", "Frame"]


@pytest.mark.parametrize(
    "line", [b"<!-- moot v=1 is our format -->", b"<!-- moot", b"<!-- moot v=2 id=x", b"<", b"<!"]
)
def test_words_that_only_begin_like_a_marker_are_loose_text_at_the_end_too(line):
    assert kinds(b"words\n" + line + b"\n") == ["Loose"]
    if not OPEN.startswith(line) or len(line) < 4:
        assert kinds(b"words\n" + line) == ["Loose"]


# -- blocks that were edited -----------------------------------------------------------------------


@pytest.mark.parametrize("at", range(len(ONE)))
def test_no_byte_of_a_block_can_be_changed_unnoticed(at):
    for new in (b"", b"#", b"\n", b"\n#", b"x" + ONE[at : at + 1]):
        changed = ONE[:at] + new + ONE[at + 1 :]
        plain = [line.rstrip() for line in changed.split(b"\n")]
        if plain != ONE.split(b"\n"):
            assert all(found.edited for found in frames_in(changed)), (at, new)


@pytest.mark.parametrize(
    "line", [b"", b"more", b"```", b"\xff", b"<!-- moot v=1 more -->", b"<!-- moot v=2 -->"]
)
def test_an_edited_block_is_still_one_block_and_says_so(line):
    first, rest = ONE.split(b"Tea at four.")
    data = first + b"Coffee at four.\n" + line + rest + b"\n\n" + TWO
    edited, whole = frames_in(data)
    assert (edited.id, edited.edited, whole.edited) == (IDS[0], True, False)
    assert edited.body == b"Coffee at four.\n" + line + b"\n\n[DONE]"
    assert edited.hash != frame_hash(ONE)


def test_an_edited_block_in_a_crlf_file_has_its_header_and_body():
    (found,) = scan(ONE.replace(b"Tea", b"Coffee").replace(b"\n", b"\r\n"))
    assert isinstance(found, Frame)
    assert found.edited
    assert (found.header, found.body) == ("[PEER_A - ANT] to BEE", b"Coffee at four.\n\n[DONE]")


def test_a_block_whose_blank_lines_were_taken_out_is_edited():
    assert [found.edited for found in frames_in(ONE.replace(b"\n\n", b"\n"))] == [True]


@pytest.mark.parametrize(
    "count", ["0", "1", "27", "999999999999", "9" * 5000, "-1", "1e3", "٣", "²", "x", "0x1f"]
)
def test_a_forged_count_does_no_harm(count):
    counted = f" bytes={len(frames_in(ONE)[0].content)} ".encode()
    assert counted in ONE
    data = ONE.replace(counted, f" bytes={count} ".encode()) + b"\n\n" + TWO
    forged, whole = frames_in(data)
    assert (forged.id, forged.edited) == (IDS[0], True)
    assert forged.body == b"Tea at four.\n\n[DONE]"
    assert whole.body == b"Cake at five."


@pytest.mark.parametrize("count", ["0", "3", "999", "9" * 5000, "-1", "٣", "x", ""])
def test_a_count_that_a_forger_has_hashed_anew_does_no_harm(count):
    marker = f"<!-- moot v=1 id={IDS[0]} from=EVE" + (f" bytes={count}" if count else "")
    text = b"### [EVE]\n\nTea,\nand cake.\n\n"
    sha = digest(f"{marker} -->\n".encode() + text)
    raw = f"{marker} sha={sha} -->\n".encode() + text + CLOSE + IDS[0].encode() + b" -->"
    (found,) = scan(raw)
    assert isinstance(found, Frame)
    assert (found.edited, found.body) == (False, b"Tea,\nand cake.")


@pytest.mark.parametrize("fact", [b"bytes=", b"sha=", b"prev=", b"at="])
def test_a_block_that_lost_a_fact_is_edited(fact):
    words = ONE.split(b"\n", 1)[0].split(b" ")
    marker = b" ".join(word for word in words if not word.startswith(fact))
    assert [found.edited for found in frames_in(marker + b"\n" + ONE.split(b"\n", 1)[1])] == [True]


def test_a_closer_that_was_due_is_no_part_of_the_body_unless_the_count_is_lost():
    raw = frame(0, b"~~~\nopen  ", b"~~~")
    assert frames_in(raw)[0].body == b"~~~\nopen  "
    assert frames_in(raw.replace(b"\n", b"\r\n"))[0].body == b"~~~\nopen  "
    (trimmed,) = frames_in(raw.replace(b"open  ", b"open"))
    assert (trimmed.edited, trimmed.hash) == (False, frame_hash(raw))
    assert trimmed.body == b"~~~\nopen\n~~~"


# -- hashes ----------------------------------------------------------------------------------------


def test_a_hash_is_128_bits_of_sha_256():
    assert digest(b"") == "e3b0c44298fc1c149afbf4c8996fb924"


@pytest.mark.parametrize("same", [b"a\nb", b"a\r\nb\r\n", b"\n\n  \na \t\n\n\nb", BOM + b"a\nb\n"])
def test_a_gap_hash_does_not_see_what_formatters_change(same):
    assert gap_hash(same) == gap_hash(b"a\nb")
    assert gap_hash(same.replace(b"b", b"c")) != gap_hash(b"a\nb")
    assert gap_hash(same.replace(b"a", b" a")) != gap_hash(b"a\nb")


@pytest.mark.parametrize("nothing", [b"", b"\n", b" \t\r\n\n", BOM])
def test_no_words_have_no_gap_hash(nothing):
    assert gap_hash(nothing) == ""


# -- hostile files ---------------------------------------------------------------------------------

_HEAD = b"<!-- moot v=1 id=" + IDS[0].encode() + b" from=A bytes=%d sha=" + b"0" * 32 + b" -->\n"
_TAIL = b"\n" + CLOSE + IDS[0].encode() + b" -->\n"
_BIG = 2 * MEGABYTE


def _fill(unit):
    return unit * (_BIG // len(unit))


HOSTILE = {
    "marker beginnings": _fill(OPEN + b"\n"),
    "marker beginnings on one line": _fill(OPEN),
    "starts without ends": _fill(_HEAD % (1 << 40)),
    "starts without ends, small counts": _fill(_HEAD % 7),
    "starts, then one end": _fill(_HEAD % 7) + _TAIL,
    "starts that all count up to the one end": b"".join(
        _HEAD % (_BIG - (_BIG // 97 - n) * 97) for n in range(_BIG // 97)
    ) + _TAIL,
    "frames with one id": _fill(_HEAD % 3 + b"abc\n" + _TAIL),
    "ends without starts": _fill(_TAIL),
    "one start and many ends of others": _HEAD % 7 + _fill(_TAIL.replace(IDS[0].encode(), IDS[1].encode())),
    "one start and many malformed ones": _HEAD % 7 + _fill(b"<!-- moot v=1 x -->\n"),
    "starts with malformed ones between": _fill(_HEAD % 7 + b"<!-- moot v=1 x -->\n" * 9),
    "torn markers": _fill(TORN + b"\n"),
    "starts and torn markers": _fill(_HEAD % 7 + TORN + b"\n"),
    "comments": _fill(b"<!--\n"),
    "half ends": _HEAD % 7 + _fill(b"\n<!-- /moot id="),
    "newlines": _HEAD % 7 + _fill(b"\n"),
    "blanks": _HEAD % 7 + _fill(b" ") + _TAIL,
    "a marker of two megabytes": OPEN + _fill(b"a=b "),
    "backslashes": b"\n".join([b"\\" * _BIG + b"<!-- moot", b"\\" * 99]),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_two_hostile_megabytes_are_read_in_about_a_second(name):
    data = HOSTILE[name]
    before = time.process_time()
    pieces = list(scan(data))
    assert unescape(escape(data)) == data
    assert time.process_time() - before < 3
    assert sum(piece.end - piece.start for piece in pieces) == len(data)
    assert not any(isinstance(piece, Frame) and not piece.edited for piece in pieces)
