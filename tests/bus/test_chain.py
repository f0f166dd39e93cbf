"""Which frames are on the chain, in which order, whatever was done to the file."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.bus.chain import Link, Linked, Tail, follow, trace
from moot.parsers.frames import TORN, Frame, frame_hash, gap_hash, render, scan
from moot.parsers.ids import from_number
from moot.tests.bus.chains import (
    OTHERS,
    OURS,
    block,
    chain,
    edited,
    id_of,
    ids,
    numbers,
    text_of,
    traced,
)

FRAMES = chain(8)
LAST = id_of(len(FRAMES) - 1)
FOREIGN = chain(3, base=OTHERS)
ALL = list(range(len(FRAMES)))


def followed(data: bytes, head: Link | None = None) -> tuple[list[Linked], Tail]:
    base = head.end if head else 0
    return follow(head, scan(data[base:], base), data[base:], base)


def head_of(linked: list[Linked]) -> Link:
    frame = linked[-1].frame
    return Link(frame.id, frame.hash, frame.start, frame.end)


# Reading on


def test_frames_that_name_each_other_are_followed_in_their_order() -> None:
    data = text_of(FRAMES)
    linked, tail = followed(data)
    assert numbers(linked) == ALL
    assert tail == Tail(linked[-1].frame.end, tail.loose, b"\n\n", torn=False)
    assert not any(one.broken for one in linked)


def test_reading_on_from_any_frame_gives_what_reading_the_whole_gives() -> None:
    data = text_of([FRAMES[0], b"by hand", FRAMES[1], FOREIGN[0], *FRAMES[2:], b"at the end"])
    whole, tail = followed(data)
    for count in range(1, len(whole) + 1):
        linked, later = followed(data, head_of(whole[:count]))
        assert linked == whole[count:]
        assert later == tail


def test_loose_text_stands_with_the_frame_behind_it_and_the_rest_in_the_tail() -> None:
    linked, tail = followed(text_of([b"one", FRAMES[0], b"two", FRAMES[1], b"three"]))
    assert [[piece.text.strip() for piece in one.loose] for one in linked] == [[b"one"], [b"two"]]
    assert [one.gap for one in linked] == [gap_hash(b"one"), gap_hash(b"two")]
    assert [piece.text.strip() for piece in tail.loose] == [b"three"]


def test_a_copy_of_a_known_frame_at_the_end_is_a_quotation_and_raises_no_doubt() -> None:
    linked, tail = followed(text_of([*FRAMES, b"see:", FRAMES[3]]))
    assert numbers(linked) == ALL
    assert FRAMES[3] in tail.raw
    assert not tail.doubtful


@pytest.mark.parametrize(
    "strange",
    [
        pytest.param(FOREIGN[0], id="the first of another ledger"),
        pytest.param(FOREIGN[1], id="from another ledger"),
        pytest.param(edited(block(8, FRAMES[7])), id="edited before it was read"),
        pytest.param(block(9, block(8, FRAMES[7])), id="what stood before it is gone"),
    ],
)
def test_a_newer_frame_that_does_not_fit_is_not_followed_and_leaves_a_doubt(strange: bytes) -> None:
    linked, tail = followed(text_of([*FRAMES, strange]))
    assert numbers(linked) == ALL
    assert tail.doubtful
    assert tail.raw == b"\n\n" + strange + b"\n\n"


def test_a_doubt_ends_where_the_chain_goes_on() -> None:
    linked, tail = followed(text_of([*FRAMES[:4], FOREIGN[1], *FRAMES[4:]]))
    assert numbers(linked) == ALL
    assert not tail.doubtful


def test_of_two_frames_that_name_the_same_one_the_first_is_the_next() -> None:
    linked, tail = followed(text_of([*FRAMES, block(8, FRAMES[7]), block(9, FRAMES[7])]))
    assert numbers(linked) == [*ALL, 8]
    assert tail.doubtful


def test_a_frame_whose_id_goes_back_is_no_next_link() -> None:
    data = text_of([*FRAMES, block(2, FRAMES[7], body="an id from before")])
    assert numbers(followed(data)[0]) == numbers(traced(data)[0]) == ALL


def test_a_frame_that_is_begun_and_not_ended_is_torn_and_one_that_was_closed_is_not() -> None:
    torn = FRAMES[3][:-30]
    for read in (followed, lambda data: traced(data)[:2]):
        linked, tail = read(text_of(FRAMES[:3]) + torn)
        assert (numbers(linked), tail.torn) == ([0, 1, 2], True)
        closed = text_of(FRAMES[:3]) + torn + b"\n" + TORN + b"\n\n"
        linked, tail = read(closed + text_of([block(3, FRAMES[2], loose=torn + b"\n" + TORN)]))
        assert (numbers(linked), tail.torn) == ([0, 1, 2, 3], False)
        assert linked[-1].gap == linked[-1].frame.fact("gap")


def test_an_empty_ledger_has_an_empty_chain() -> None:
    assert followed(b"") == ([], Tail(0, (), b"", torn=False))
    assert traced(b"") == ([], Tail(0, (), b"", torn=False), [])
    assert traced(b"only prose\n", LAST)[0] == []


# The whole ledger, whatever was done to it


Cut = Callable[[list[bytes]], list[bytes]]


@pytest.mark.parametrize("known", ["", LAST])
@pytest.mark.parametrize(
    ("damage", "wanted", "broken"),
    [
        pytest.param(lambda f: f, ALL, [], id="nothing"),
        pytest.param(lambda f: f[1:], ALL[1:], [], id="first removed"),
        pytest.param(lambda f: f[:3] + f[4:], [0, 1, 2, 4, 5, 6, 7], [4], id="one in the middle removed"),
        pytest.param(lambda f: f[:2] + f[3:5] + f[6:], [0, 1, 3, 4, 6, 7], [3, 6], id="two removed"),
        pytest.param(lambda f: [edited(f[0]), *f[1:]], ALL, [1], id="first edited"),
        pytest.param(lambda f: [*f[:3], edited(f[3]), *f[4:]], ALL, [4], id="middle edited"),
        pytest.param(lambda f: [*f[:-1], edited(f[-1])], ALL, [], id="last edited"),
        pytest.param(
            lambda f: [*f[:2], edited(f[2]), f[3], f[4], edited(f[5]), *f[6:]], ALL, [3, 6], id="two edited"
        ),
        pytest.param(lambda f: [edited(one) for one in f], ALL, ALL[1:], id="all edited"),
        pytest.param(lambda f: [*f[:3], f[4], f[3], *f[5:]], ALL, [], id="two swapped"),
        pytest.param(lambda f: f[::-1], ALL, [], id="turned round"),
        pytest.param(lambda f: [f[5], *f], ALL, [], id="copied to the front"),
        pytest.param(lambda f: [*f, f[2]], ALL, [], id="copied to the end"),
        pytest.param(lambda f: [f[0], edited(f[2]), *f[1:]], ALL, [], id="an edited copy before it"),
        pytest.param(lambda f: [*f, edited(f[2])], ALL, [], id="an edited copy behind it"),
        pytest.param(lambda f: [*f, FOREIGN[1]], ALL, [], id="a strange frame at the end"),
        pytest.param(lambda f: [*f, FOREIGN[0]], ALL, [], id="a strange beginning at the end"),
        pytest.param(lambda f: [*FOREIGN, *f], ALL, [], id="a strange ledger before it"),
        pytest.param(lambda f: [*f[:4], *FOREIGN[1:], *f[4:]], None, [], id="strange frames in the middle"),
    ],
)
def test_the_chain_is_what_it_was_less_what_is_gone(
    damage: Cut, wanted: list[int] | None, broken: list[int], known: str
) -> None:
    linked, _, quoted = traced(text_of(damage(FRAMES)), known)
    if wanted is None:  # without a known head, several frames that name each other look like ours
        wanted, linked = ALL, [one for one in linked if known or one.frame.id <= LAST]
    assert numbers(linked) == wanted
    assert [numbers([one])[0] for one in linked if one.broken] == broken
    assert not {one.frame.start for one in linked} & {frame.start for frame in quoted}


def test_where_the_last_blocks_are_gone_the_chain_ends_before_them() -> None:
    for known in ("", LAST):
        assert numbers(traced(text_of(FRAMES[:-2]), known)[0]) == ALL[:-2]


def test_what_was_edited_before_the_end_does_not_take_the_rest_with_it_when_the_end_is_gone() -> None:
    parts = [*FRAMES[:3], edited(FRAMES[3]), *FRAMES[4:-1]]
    assert numbers(traced(text_of(parts), LAST)[0]) == ALL[:-1]


def test_a_single_frame_between_two_that_are_gone_is_kept() -> None:
    parts = [*FRAMES[:3], FRAMES[4], *FRAMES[6:]]
    for known in ("", LAST):
        linked, _, _ = traced(text_of(parts), known)
        assert numbers(linked) == [0, 1, 2, 4, 6, 7]
        assert [one.broken for one in linked] == [False, False, False, True, True, False]


def test_nothing_strange_is_taken_behind_the_known_head() -> None:
    for strange in ([FOREIGN[1]], FOREIGN[1:], FOREIGN, [edited(FOREIGN[1]), FOREIGN[2]]):
        for parts in ([*FRAMES, *strange], [*FRAMES[:-1], edited(FRAMES[-1]), *strange]):
            linked, _, quoted = traced(text_of(parts), LAST)
            assert numbers(linked) == ALL
            assert len(quoted) == len(strange)


def test_nothing_strange_is_taken_in_the_place_of_the_known_head_that_is_gone() -> None:
    linked, _, quoted = traced(text_of([*FRAMES[:-1], *FOREIGN]), LAST)
    assert (numbers(linked), len(quoted)) == (ALL[:-1], 3)


def test_a_ledger_begun_anew_is_followed_although_the_known_head_is_gone() -> None:
    linked, _, _ = traced(text_of(FOREIGN), LAST)
    assert [one.frame.id for one in linked] == [id_of(number, OTHERS) for number in range(3)]


def test_what_was_written_behind_an_edited_head_is_found_by_the_hash_that_it_had() -> None:
    parts = [*FRAMES[:-1], edited(FRAMES[-1]), block(8, FRAMES[-1]), FOREIGN[1]]
    linked, _, quoted = traced(text_of(parts), LAST, frame_hash(FRAMES[-1]))
    assert numbers(linked) == [*ALL, 8]
    assert [frame.id for frame in quoted] == [id_of(1, OTHERS)]


def test_what_was_written_while_the_ledger_was_truncated_is_found_by_the_hash_of_the_lost_head() -> None:
    for left in (FRAMES[:0], FRAMES[:1], FRAMES[:5]):
        linked, _, _ = traced(text_of([*left, block(8, FRAMES[-1])]), LAST, frame_hash(FRAMES[-1]))
        assert numbers(linked) == [*ALL[: len(left)], 8]


def test_behind_a_known_head_the_chain_goes_on_over_a_frame_that_was_edited_unread() -> None:
    parts = [*FRAMES[:5], edited(FRAMES[5]), *FRAMES[6:]]
    assert numbers(traced(text_of(parts), id_of(4))[0]) == ALL


def test_at_a_fork_the_line_to_the_known_head_is_taken_or_else_the_longer_one() -> None:
    longer = [block(3, FRAMES[1], body="other")]
    longer.append(block(4, longer[0], body="other"))
    shorter = block(5, FRAMES[1])
    for parts in ([*FRAMES[:2], *longer, shorter], [*FRAMES[:2], shorter, *longer]):
        data = text_of(parts)
        assert numbers(traced(data)[0]) == [0, 1, 3, 4]
        assert numbers(traced(data, id_of(5))[0]) == [0, 1, 5]
        assert numbers(traced(data, id_of(4))[0]) == [0, 1, 3, 4]
        assert numbers(traced(data, id_of(3))[0]) == [0, 1, 3, 4]


def test_of_branches_of_one_length_the_whole_one_stands_then_the_first() -> None:
    one, two = block(2, FRAMES[1], body="Block one"), block(3, FRAMES[1], body="Block two")
    assert numbers(traced(text_of([*FRAMES[:2], one, two]))[0]) == [0, 1, 2]
    assert numbers(traced(text_of([*FRAMES[:2], two, one]))[0]) == [0, 1, 3]
    assert numbers(traced(text_of([*FRAMES[:2], edited(one), two]))[0]) == [0, 1, 3]


def test_two_frames_with_one_id_are_never_both_on_the_chain() -> None:
    twin = block(3, FRAMES[2], body="another text under the same id")
    linked, _, quoted = traced(text_of([*FRAMES[:3], twin, *FRAMES[3:]]))
    assert numbers(linked) == ALL
    assert [frame.hash for frame in quoted] == [frame_hash(twin)]


def test_a_quotation_between_two_frames_belongs_to_the_gap_and_hides_no_loose_text() -> None:
    between = b"\n\nabove\n\n" + FRAMES[0] + b"\n\nbelow\n\n"
    data = FRAMES[0] + between + block(1, FRAMES[0], loose=between) + between
    linked, tail, quoted = traced(data)
    assert linked[1].gap == linked[1].frame.fact("gap")
    assert [piece.text.strip() for piece in linked[1].loose] == [b"above", b"below"]
    assert [piece.text.strip() for piece in tail.loose] == [b"above", b"below"]
    assert len(quoted) == 2
    assert (linked, tail) == followed(data)


def test_of_two_copies_the_one_in_its_place_is_on_the_chain() -> None:
    data = text_of([FRAMES[0], b"as FOUR says:", FRAMES[3], b"so much", *FRAMES[1:]])
    linked, _, _ = traced(data)
    assert [one.frame.start for one in linked] == sorted(one.frame.start for one in linked)


# Any damage at all


numbers_of_frames = st.lists(st.integers(0, len(FRAMES) - 1), max_size=12)
texts = st.sampled_from([b"", b"prose", b"[CC] by hand", b"```", b"<!-- moot v=1 id=", TORN, FRAMES[2][:80]])


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Give a ledger after shuffles, deletions, copies, strange frames, loose text and changed bytes."""
    parts = list(draw(st.permutations(FRAMES))) if draw(st.booleans()) else list(FRAMES)
    for at in draw(numbers_of_frames):
        parts.insert(at, draw(st.one_of(st.sampled_from([*FRAMES, *FOREIGN]), texts)))
    for at in draw(numbers_of_frames):
        if at < len(parts):
            del parts[at]
    data = bytearray(text_of(parts))
    for _ in range(draw(st.integers(0, 3))):
        if data:
            data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    return bytes(data)


@given(damaged(), st.sampled_from(["", LAST, id_of(3), id_of(1, OTHERS)]), st.booleans())
@settings(deadline=None)
def test_no_damage_makes_reading_fail_and_each_frame_is_on_the_chain_once_or_quoted(
    data: bytes, known: str, with_hash: bool
) -> None:
    linked, tail, quoted = traced(data, known, frame_hash(FRAMES[-1]) if with_hash else "")
    assert ids(linked) == sorted(set(ids(linked)))
    read = sorted([one.frame.start for one in linked] + [frame.start for frame in quoted])
    assert read == [piece.start for piece in scan(data) if isinstance(piece, Frame)]
    assert tail.raw == data[tail.start :]
    if known in {piece.id for piece in scan(data) if isinstance(piece, Frame) and not piece.edited}:
        assert known in ids(linked)
    followed(data)


@given(st.permutations(FRAMES), numbers_of_frames, st.data())
@settings(deadline=None)
def test_whatever_is_shuffled_copied_or_pasted_the_chain_stays_whole(
    parts: list[bytes], copies: list[int], draw: st.DataObject
) -> None:
    for number in copies:
        pasted = draw.draw(st.sampled_from([FRAMES[number], edited(FRAMES[number]), *FOREIGN]))
        parts.insert(number, pasted)
    linked, _, quoted = traced(text_of(parts), LAST)
    assert numbers(linked) == ALL
    assert [one.broken for one in linked] == [False] * len(ALL)
    assert all(frame_hash(FRAMES[numbers([one])[0]]) == one.frame.hash for one in linked)
    assert len(quoted) == len(copies)


@given(st.sets(st.integers(0, 6)), st.sets(st.integers(0, 7)), st.booleans(), numbers_of_frames)
@settings(deadline=None)
def test_whatever_is_removed_or_edited_in_place_all_that_is_left_stays_on_the_chain(
    removed: set[int], changed: set[int], lost_head: bool, copies: list[int]
) -> None:
    left = [number for number in ALL if number not in removed]
    if lost_head and left[:-1]:
        left.pop()
    parts = [edited(FRAMES[number]) if number in changed else FRAMES[number] for number in left]
    for number in copies:
        if number in left:
            parts.insert(left.index(number), parts[left.index(number)])
            left.insert(left.index(number), number)
    linked, _, _ = traced(text_of(parts), LAST)
    assert numbers(linked) == sorted(set(left))


@given(st.lists(st.one_of(texts, st.sampled_from(["copy", "next"])), max_size=20))
@settings(deadline=None)
def test_reading_on_and_reading_the_whole_agree_while_only_the_tool_and_hands_append(
    steps: list[bytes | str],
) -> None:
    data, last, between, number = FRAMES[0], FRAMES[0], b"", 1
    for step in steps:
        if step == "next":
            between += b"\n\n"
            torn = [piece for piece in scan(between) if getattr(piece, "open", False)]
            between += TORN + b"\n\n" if torn else b""
            new = block(number, last, loose=between)
            data, last, between, number = data + between + new, new, b"", number + 1
        else:
            between += b"\n\n" + (FRAMES[0] if step == "copy" else step)  # type: ignore[operator]
    data += between
    linked, tail = followed(data)
    assert numbers(linked) == list(range(number))
    assert (linked, tail, linked) == (*traced(data)[:2], traced(data, id_of(number - 1))[0])
    assert all(one.gap == one.frame.fact("gap") for one in linked)


# Size


def frames_of(count: int, prev: Callable[[int], str]) -> list[Frame]:
    """Give frames without their bytes: the n-th has the hash `str(n)`."""
    return [
        Frame(n, n + 1, {"id": from_number(OURS + n), "prev": prev(n)}, b"", str(n)) for n in range(count)
    ]


MANY = 20_000


@pytest.mark.parametrize("known", ["", from_number(OURS + MANY - 1), from_number(OURS + MANY // 2), LAST])
@pytest.mark.parametrize(
    "prev",
    [
        pytest.param(lambda n: str(n - 1) if n else "", id="whole"),
        pytest.param(lambda n: f"gone{n}" if n else "", id="every frame an orphan"),
        pytest.param(lambda n: str(n - 1) if n % 2 else f"gone{n}", id="every second one removed"),
        pytest.param(lambda n: "0" if n else "", id="all name the first"),
        pytest.param(lambda n: str(n // 2) if n else "", id="every frame forks"),
        pytest.param(lambda n: str(n - 2) if n > 1 else "", id="two lines side by side"),
        pytest.param(lambda n: "", id="all are firsts"),
        pytest.param(lambda n: str(n + 1), id="each names the next"),
    ],
)
def test_twenty_thousand_frames_are_put_in_order_in_a_moment(prev: Callable[[int], str], known: str) -> None:
    frames = frames_of(MANY, prev)
    began = time.perf_counter()
    linked, _, quoted = trace(frames, b"", known)
    assert time.perf_counter() - began < 5
    assert len(linked) + len(quoted) == MANY
    assert ids(linked) == sorted(set(ids(linked)))


def test_twenty_thousand_copies_and_edited_frames_are_put_in_order_in_a_moment() -> None:
    whole = frames_of(MANY // 2, lambda n: str(n - 1) if n else "")
    copies = [whole[7]._replace(start=MANY + n, end=MANY + n + 1) for n in range(MANY // 2)]
    began = time.perf_counter()
    assert len(trace([*whole, *copies], b"")[0]) == MANY // 2
    torn = [frame._replace(edited=True, hash=f"new{frame.hash}") for frame in whole]
    assert len(trace(torn, b"", whole[-1].id)[0]) == MANY // 2
    assert time.perf_counter() - began < 5


def test_a_frame_from_the_end_of_time_is_text_since_no_id_would_fit_behind_it() -> None:
    facts = {"id": "3" + "Z" * 17, "at": "x", "from": "CC"}
    raw = render(facts, b"### [CC]")
    late = raw.replace(b"id=3", b"id=7")
    assert any(isinstance(piece, Frame) for piece in scan(raw))
    assert not any(isinstance(piece, Frame) for piece in scan(late))
