"""The chain: each frame names the hash of the one before, so the order is what `prev` says, not position.

A frame that stands at the end and names the head is the next link. Anything else that looks like a frame
is a quotation: an id that is known, a `prev` that does not fit.

`follow` reads on from a head that is known; `trace` reads a whole ledger, whatever was done to it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from ..parsers.frames import Frame, Loose, Piece, Torn, gap_hash

_NOWHERE = 1 << 63  # beyond the end of every file


class Link(NamedTuple):
    """The last frame of the chain: its id, hash, and where it stands (byte offsets)."""

    id: str
    hash: str
    start: int
    end: int


class Linked(NamedTuple):
    """A frame that counts, with the loose pieces that stand between it and the frame before it in the file.

    `gap` is the hash of all that stands there. `broken` says that the frame before it in the chain was
    changed or removed.
    """

    frame: Frame
    loose: tuple[Loose, ...]
    gap: str
    broken: bool = False


class Tail(NamedTuple):
    """What stands behind the last frame that counts; `torn` where a frame was begun and not ended.

    `doubtful` where a frame newer than the head stands there and does not follow from it: it may be a
    quotation, or what stands behind a frame that was edited before it was read. `trace` can tell.
    """

    start: int
    loose: tuple[Loose, ...]
    raw: bytes
    torn: bool
    doubtful: bool = False


def follow(head: Link | None, pieces: Iterable[Piece], data: bytes, base: int) -> tuple[list[Linked], Tail]:
    """Follow the chain from `head` through pieces of `data`, which stands right behind it at `base`."""
    linked: list[Linked] = []
    loose: list[Loose] = []
    start = base
    torn = doubtful = False
    for piece in pieces:
        torn = isinstance(piece, Torn) and piece.open
        if isinstance(piece, Loose):
            loose.append(piece)
        elif isinstance(piece, Frame) and _is_next(head, piece):
            gap = gap_hash(data[start - base : piece.start - base])
            linked.append(Linked(piece, tuple(loose), gap))
            head = Link(piece.id, piece.hash, piece.start, piece.end)
            start, loose, doubtful = piece.end, [], False
        elif isinstance(piece, Frame):
            doubtful = doubtful or head is None or piece.id > head.id
    return linked, Tail(start, tuple(loose), data[start - base :], torn, doubtful)


def _is_next(head: Link | None, frame: Frame) -> bool:
    if frame.edited:
        return False
    return frame.fact("prev") == (head.hash if head else "") and (head is None or frame.id > head.id)


def trace(
    pieces: Iterable[Piece], data: bytes, known_head: str = "", known_hash: str = ""
) -> tuple[list[Linked], Tail, list[Frame]]:
    """Follow the chain through a whole ledger, whatever was done to it; give the quotations too.

    Frames come in the order of the chain, and their ids rise. `known_head` is the id of the last frame
    that was read before, `known_hash` its hash as it was then: of several lines the one that leads there
    is taken, and nothing that does not follow from it is taken behind it.
    """
    cut = list(pieces)
    order = _order([piece for piece in cut if isinstance(piece, Frame)], known_head, known_hash)
    on_chain = {frame.start for frame in order}
    before: dict[int, tuple[tuple[Loose, ...], str]] = {}
    quoted: list[Frame] = []
    loose: list[Loose] = []
    start = 0
    torn = False
    for piece in cut:
        torn = isinstance(piece, Torn) and piece.open
        if isinstance(piece, Loose):
            loose.append(piece)
        elif isinstance(piece, Frame) and piece.start in on_chain:
            before[piece.start] = (tuple(loose), gap_hash(data[start : piece.start]))
            start, loose = piece.end, []
        elif isinstance(piece, Frame):
            quoted.append(piece)
    linked = []
    last: Frame | None = None
    for frame in order:
        broken = last is not None and frame.fact("prev") != last.hash
        linked.append(Linked(frame, *before[frame.start], broken))
        last = frame
    return linked, Tail(start, tuple(loose), data[start:], torn), quoted


_Line = list[Frame]  # frames of which each names the one before, up to one that nobody names


def _order(frames: list[Frame], known_head: str, known_hash: str) -> list[Frame]:
    """Give the frames on the chain, in its order.

    Where a frame was edited or removed, the chain falls into lines. Their ids put them together again. A
    frame that stands alone where there is no hole, or a line behind the known head, is a quotation.
    """
    lines = _lines(frames, known_head, known_hash)
    if not lines:
        return []
    home = _home(lines, known_head, known_hash)
    until = ""
    if home is not None:
        chosen = [*_heaviest([line for line in lines if _can_precede(line, home)]), home]
    else:
        until = known_head  # the head is gone, and what stood before it is ours
        older = [line for line in lines if not until or _is_first(line) or line[0].id < until]
        chosen = _heaviest([line for line in older if len(line) > 1 or _is_first(line)]) or lines[:1]
        lines = older
    order = _with_single_frames(chosen, lines, until)
    for line in lines:
        if not order[-1].edited or order[-1].id == known_head:
            break
        if line[0].id > order[-1].id and not _is_first(line):
            order += line  # what followed an edited frame names a hash that nobody knows any more
    return _in_place(order, frames)


def _home(lines: list[_Line], known_head: str, known_hash: str) -> _Line | None:
    """Give the line that holds the known head, or the one that was built on it."""
    for line in lines:
        if known_head and any(frame.id == known_head for frame in line):
            return line
    return next((line for line in lines if known_hash and line[0].fact("prev") == known_hash), None)


def _is_first(line: _Line) -> bool:
    return not line[0].fact("prev")


def _can_precede(line: _Line, home: _Line) -> bool:
    return line[-1].id < home[0].id and not _is_first(home) and (len(line) > 1 or _is_first(line))


def _lines(frames: list[Frame], known_head: str, known_hash: str) -> list[_Line]:
    """Cut frames into lines, in the order of their first ids; where a line forks, one branch is taken.

    That is the one that leads to the known head, or else the longest.
    """
    named = {frame.hash: frame for frame in reversed(frames)}
    ordered = sorted(named.values(), key=lambda frame: (frame.id, frame.start))
    heads = [frame for frame in ordered if frame.id == known_head]
    head = max(heads, key=lambda frame: (frame.hash == known_hash, not frame.edited), default=None)
    if head is not None and known_hash:
        named.setdefault(known_hash, head)  # edited since: the next frame names the hash that it had
    above = {frame.hash: named.get(frame.fact("prev")) for frame in ordered}
    way = _way_to(head, above)
    next_of: dict[str, Frame] = {}
    rank: dict[str, tuple[bool, int, bool, int]] = {}
    for frame in reversed(ordered):  # ids rise along a line, so whatever follows a frame has its rank
        following = next_of.get(frame.hash)
        length = rank[following.hash][1] + 1 if following is not None else 1
        rank[frame.hash] = (frame.hash in way, length, not frame.edited, -frame.start)
        parent = above[frame.hash]
        if parent is not None and parent.id < frame.id:
            rival = next_of.get(parent.hash)
            if rival is None or rank[rival.hash] < rank[frame.hash]:
                next_of[parent.hash] = frame
    return [_line_from(frame, next_of) for frame in ordered if above[frame.hash] is None]


def _way_to(head: Frame | None, above: dict[str, Frame | None]) -> set[str]:
    """Give the hashes of a frame and of all that stand above it on its line."""
    way = set()
    while head is not None:
        way.add(head.hash)
        parent = above[head.hash]
        head = parent if parent is not None and parent.id < head.id else None
    return way


def _line_from(frame: Frame, next_of: dict[str, Frame]) -> _Line:
    line = [frame]
    while (following := next_of.get(line[-1].hash)) is not None:
        line.append(following)
    return line


def _heaviest(lines: list[_Line]) -> list[_Line]:
    """Of lines, give those that follow one another by id and together hold the most frames."""
    lines = sorted(lines, key=lambda line: line[-1].id)
    ends = [line[-1].id for line in lines]
    before = [0 if _is_first(line) else bisect_left(ends, line[0].id) for line in lines]
    held = [0]
    for at, line in enumerate(lines):
        held.append(max(held[at], held[before[at]] + len(line)))
    chosen = []
    at = len(lines)
    while at:
        if held[at] > held[at - 1]:
            chosen.append(lines[at - 1])
            at = before[at - 1]
        else:
            at -= 1
    return chosen[::-1]


def _with_single_frames(chosen: list[_Line], lines: list[_Line], until: str) -> list[Frame]:
    """Join lines, with the frames that stand alone in the holes between: both their neighbours are gone.

    There is a hole before the first line if that names a frame, and one behind the last, up to the id
    `until` of a head that is gone.
    """
    single = {line[0].id: line[0] for line in reversed(lines) if len(line) == 1 and not _is_first(line)}
    ids = sorted(single)
    order: list[Frame] = []
    after, above = ("~", 0) if _is_first(chosen[0]) else ("", -1)
    for line in [*chosen, None]:
        before, below = (line[0].id, line[0].start) if line is not None else (until, _NOWHERE)
        hole = [single[block_id] for block_id in ids[bisect_right(ids, after) : bisect_left(ids, before)]]
        order += [frame for frame in hole if above < frame.start < below]
        if line is not None:
            order += line
            after, above = line[-1].id, line[-1].start
    return order


def _in_place(order: list[Frame], frames: list[Frame]) -> list[Frame]:
    """Of several copies of one frame, take the one that stands behind the frame before it."""
    copies: dict[str, list[Frame]] = {}
    for frame in frames:
        copies.setdefault(frame.hash, []).append(frame)
    placed = []
    end = 0
    for frame in order:
        same = copies[frame.hash]
        at = bisect_left(same, end, key=lambda copy: copy.start)
        placed.append(same[at] if at < len(same) else same[0])
        end = placed[-1].end
    return placed
