"""What `verify` says of a ledger: which block was changed, removed or moved, and what is only a note."""

import random
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from moot.bus.chain import Linked
from moot.bus.verify import Report, verify_chain
from moot.parsers.frames import TORN, Frame, scan
from moot.tests.bus.chains import OTHERS, block, chain, edited, id_of, text_of, traced

FRAMES = chain(6)
LAST = id_of(5)
FOREIGN = chain(2, base=OTHERS)


def verified(data: bytes, known_head: str = LAST) -> Report:
    linked, tail, quoted = traced(data, known_head)
    return verify_chain(linked, tail, quoted, [known_head] if known_head else [])


def faults(parts: list[bytes], known_head: str = LAST) -> list[tuple[str, int]]:
    """Give kind and number of block of each fault."""
    known = {id_of(number): number for number in range(10)}
    return [(fault.kind, known[fault.block]) for fault in verified(text_of(parts), known_head).faults]


def notes(parts: list[bytes]) -> list[tuple[str, str]]:
    report = verified(text_of(parts))
    assert report.faults == ()
    return [(note.kind, note.block) for note in report.notes]


# What is whole


def test_of_a_whole_chain_nothing_is_said() -> None:
    for count in range(7):
        data = text_of(FRAMES[:count])
        assert verified(data, id_of(count - 1) if count else "") == Report((), ())
        assert verified(data, "") == Report((), ())


def test_blank_lines_and_line_ends_that_a_formatter_changed_are_nothing() -> None:
    data = text_of([*FRAMES[:3], b"by hand  ", block(3, FRAMES[2], loose=b"by hand")])
    assert verified(data, id_of(3)) == Report((), ())
    assert verified(data.replace(b"\n\n<!-- moot", b"\n\n\n<!-- moot"), id_of(3)) == Report((), ())
    assert verified(data.replace(b"\n", b"\r\n"), id_of(3)) == Report((), ())


# Faults


def test_a_block_that_was_changed_is_named() -> None:
    for number in range(6):
        for known in (LAST, ""):
            parts = [*FRAMES[:number], edited(FRAMES[number]), *FRAMES[number + 1 :]]
            assert faults(parts, known) == [("changed", number)]


def test_each_of_several_blocks_that_were_changed_is_named() -> None:
    assert faults([edited(frame) for frame in FRAMES]) == [("changed", number) for number in range(6)]


def test_where_a_block_was_removed_the_one_behind_it_is_named() -> None:
    for number in range(5):
        assert faults(FRAMES[:number] + FRAMES[number + 1 :]) == [("removed", number + 1)]
    assert faults(FRAMES[:1] + FRAMES[2:3] + FRAMES[4:]) == [("removed", 2), ("removed", 4)]


def test_a_last_block_that_was_removed_is_named_where_it_was_known() -> None:
    assert faults(FRAMES[:-1]) == [("removed", 5)]
    assert faults([]) == [("removed", 5)]
    assert faults(FRAMES[:-1], "") == []


def test_a_block_that_was_moved_is_named_and_not_the_others() -> None:
    for number in range(6):
        rest = FRAMES[:number] + FRAMES[number + 1 :]
        for place in range(6):
            if abs(place - number) > 1:
                assert faults([*rest[:place], FRAMES[number], *rest[place:]]) == [("moved", number)]


def test_of_two_neighbours_that_were_swapped_one_is_named() -> None:
    for number in range(5):
        parts = [*FRAMES[:number], FRAMES[number + 1], FRAMES[number], *FRAMES[number + 2 :]]
        ((kind, block_number),) = faults(parts)
        assert kind == "moved"
        assert block_number in (number, number + 1)


def test_a_block_that_was_moved_and_changed_is_both() -> None:
    assert faults([FRAMES[0], *FRAMES[2:5], edited(FRAMES[1]), FRAMES[5]]) == [("changed", 1), ("moved", 1)]


def test_each_fault_says_where_and_why_in_one_line() -> None:
    data = text_of([*FRAMES[1:3], edited(FRAMES[4])])
    report = verified(data)
    assert [(fault.kind, fault.block) for fault in report.faults] == [
        ("removed", id_of(1)),
        ("changed", id_of(4)),
        ("removed", LAST),
    ]
    offsets = {piece.id: piece.start for piece in scan(data) if isinstance(piece, Frame)}
    offsets[LAST] = len(data) - 2
    for fault in report.faults:
        assert fault.offset == offsets[fault.block]
        assert fault.why
        assert "\n" not in fault.why


# Notes


def test_text_by_hand_that_was_inserted_edited_or_removed_later_is_a_note() -> None:
    said = block(3, FRAMES[2], loose=b"by hand")
    assert notes([*FRAMES[:2], b"inserted", *FRAMES[2:]]) == [("loose", id_of(2))]
    whole = [*FRAMES[:3], b"by hand", said]
    for text in ([b"by another hand"], []):
        report = verified(text_of([*FRAMES[:3], *text, said]), id_of(3))
        assert report.faults == ()
        assert [(note.kind, note.block) for note in report.notes] == [("loose", id_of(3))]
    assert verified(text_of(whole), id_of(3)) == Report((), ())


def test_text_by_hand_at_the_end_is_nothing_yet() -> None:
    assert notes([*FRAMES, b"by hand"]) == []


def test_a_copy_and_a_strange_frame_are_notes() -> None:
    assert notes([*FRAMES, FRAMES[2], FOREIGN[1]]) == [
        ("quotation", id_of(2)),
        ("quotation", id_of(1, OTHERS)),
    ]


def test_a_copy_between_two_blocks_is_a_quotation_in_text_that_was_inserted() -> None:
    assert notes([*FRAMES[:3], FRAMES[0], *FRAMES[3:]]) == [("loose", id_of(3)), ("quotation", id_of(0))]


def test_a_torn_tail_is_a_note_until_it_is_closed() -> None:
    torn = block(6, FRAMES[5])[:-40]
    assert notes([*FRAMES, torn]) == [("torn", "")]
    closed = torn + b"\n" + TORN
    behind = block(7, FRAMES[5], loose=closed)
    assert verified(text_of([*FRAMES, closed, behind]), id_of(7)) == Report((), ())


# Any change of one character


LEDGER_FRAMES = [
    block(0, body="Block zero, and\n\n```\nan open fence", closer=b"```"),
    b"",
    b"",
]
LEDGER_FRAMES[1] = block(1, LEDGER_FRAMES[0], loose=b"by hand", body="<!-- an open comment", closer=b"-->")
LEDGER_FRAMES[2] = block(2, LEDGER_FRAMES[1], body="The last one.\n\n\\<!-- moot v=1 is escaped")
LEDGER = text_of([LEDGER_FRAMES[0], b"by hand", LEDGER_FRAMES[1], LEDGER_FRAMES[2]])
SPANS = [(piece.start, piece.end) for piece in scan(LEDGER) if isinstance(piece, Frame)]


def names(report: Report, number: int) -> bool:
    """Tell whether the faults name the block, or the one before which it is gone, or it as the lost last one."""
    named = {(fault.kind, fault.block) for fault in report.faults}
    return bool(named & {("changed", id_of(number)), ("removed", id_of(min(number + 1, 2)))})


def test_the_ledger_to_be_changed_is_whole() -> None:
    assert len(SPANS) == 3
    assert verified(LEDGER, id_of(2)) == Report((), ())


def test_any_character_that_is_changed_in_any_block_is_named() -> None:
    chance = random.Random(7)
    for number, (start, end) in enumerate(SPANS):
        for at in range(start, end):
            for byte in {ord("x"), ord("0"), ord("\n"), LEDGER[at] ^ 1, chance.randrange(33, 256)} - {
                LEDGER[at]
            }:
                data = LEDGER[:at] + bytes([byte]) + LEDGER[at + 1 :]
                report = verified(data, id_of(2))
                assert names(report, number), (number, at, LEDGER[at], byte, report)


@given(st.data())
@settings(deadline=None, max_examples=300)
def test_any_character_that_is_inserted_or_removed_in_any_block_is_named(draw: st.DataObject) -> None:
    number = draw.draw(st.integers(0, 2))
    at = draw.draw(st.integers(SPANS[number][0] + 1, SPANS[number][1] - 1))
    put = draw.draw(st.binary(max_size=3).filter(lambda text: not text.isspace()))
    data = LEDGER[:at] + put + LEDGER[at if put else at + 1 :]
    if [line.rstrip() for line in data.split(b"\n")] == [line.rstrip() for line in LEDGER.split(b"\n")]:
        return  # blanks at line ends do not count
    assert names(verified(data, id_of(2)), number)


@given(st.binary(max_size=400), st.integers(0, len(LEDGER)), st.integers(0, 400))
@example(b"", 0, 0)
@settings(deadline=None)
def test_no_damage_makes_verifying_fail(put: bytes, at: int, length: int) -> None:
    report = verified(LEDGER[:at] + put + LEDGER[at + length :], id_of(2))
    assert all(found.offset >= 0 for found in (*report.faults, *report.notes))


@pytest.mark.parametrize("order", ["turned round", "shuffled", "in order"])
def test_twenty_thousand_blocks_are_verified_in_a_moment(order: str) -> None:
    starts = list(range(20_000))
    if order == "turned round":
        starts.reverse()
    elif order == "shuffled":
        random.Random(7).shuffle(starts)
    frames = [
        Frame(start, start + 1, {"id": f"{n:018}", "prev": str(n)}, b"", "") for n, start in enumerate(starts)
    ]
    _, tail, _ = traced(b"")
    began = time.perf_counter()
    report = verify_chain([Linked(frame, (), "") for frame in frames], tail, [])
    assert time.perf_counter() - began < 5
    moved = sum(fault.kind == "moved" for fault in report.faults)
    assert moved == {"turned round": 19_999, "in order": 0}.get(order, moved)
