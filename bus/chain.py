"""The chain: each frame names the hash of the one before, so the order is what `prev` says, not position.

A frame that stands at the end and names the head is the next link. Anything else that looks like a frame
is a quotation: an id that is known, a `prev` that does not fit.
"""

from collections.abc import Iterable
from typing import NamedTuple

from ..parsers.frames import Frame, Loose, Piece, Torn, gap_hash


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
    """What stands behind the last frame that counts; `torn` where a frame was begun and not ended."""

    start: int
    loose: tuple[Loose, ...]
    raw: bytes
    torn: bool


def follow(head: Link | None, pieces: Iterable[Piece], data: bytes, base: int) -> tuple[list[Linked], Tail]:
    """Follow the chain from `head` through pieces of `data`, which stands right behind it at `base`."""
    linked: list[Linked] = []
    loose: list[Loose] = []
    start = base
    torn = False
    for piece in pieces:
        torn = isinstance(piece, Torn) and piece.open
        if isinstance(piece, Loose):
            loose.append(piece)
        elif isinstance(piece, Frame) and _is_next(head, piece):
            gap = gap_hash(data[start - base : piece.start - base])
            linked.append(Linked(piece, tuple(loose), gap))
            head = Link(piece.id, piece.hash, piece.start, piece.end)
            start, loose = piece.end, []
    return linked, Tail(start, tuple(loose), data[start - base :], torn)


def _is_next(head: Link | None, frame: Frame) -> bool:
    if frame.edited:
        return False
    return frame.fact("prev") == (head.hash if head else "") and (head is None or frame.id > head.id)


def trace(
    pieces: Iterable[Piece], data: bytes, known_head: str = ""
) -> tuple[list[Linked], Tail, list[Frame]]:
    """Follow the chain through a whole ledger, whatever was done to it; give the quotations too.

    Frames come in the order of the chain. Where the frame after an edited or a removed one must be found,
    the line that leads to `known_head` (the id of the last frame that was read before) is taken, or
    else one on which somebody has built.
    """
    between: dict[int, tuple[tuple[Loose, ...], str]] = {}
    frames: list[Frame] = []
    loose: list[Loose] = []
    start = 0
    torn = False
    for piece in pieces:
        torn = isinstance(piece, Torn) and piece.open
        if isinstance(piece, Loose):
            loose.append(piece)
        elif isinstance(piece, Frame):
            between[piece.start] = (tuple(loose), gap_hash(data[start : piece.start]))
            frames.append(piece)
            start, loose = piece.end, []
    order, quoted = _order(frames, known_head)
    linked = [Linked(frame, *between[frame.start], broken=broken) for frame, broken in order]
    return linked, Tail(start, tuple(loose), data[start:], torn), quoted


def _order(frames: list[Frame], known_head: str) -> tuple[list[tuple[Frame, bool]], list[Frame]]:
    """Put frames in the order of the chain, and give those apart that are not on it."""
    after: dict[str, list[Frame]] = {}
    hashes = set()
    seen: set[str] = set()
    unique = []
    for frame in frames:
        if frame.id not in seen:
            seen.add(frame.id)
            unique.append(frame)
            after.setdefault(frame.fact("prev"), []).append(frame)
            hashes.add(frame.hash)
    taken: set[str] = set()
    order: list[tuple[Frame, bool]] = []
    current, broken = _first(unique, hashes), False
    while current is not None:
        order.append((current, broken))
        taken.add(current.id)
        following = [frame for frame in after.get(current.hash, []) if frame.id not in taken]
        broken = not following
        if following:
            current = following[0] if len(following) == 1 else _built_on(following, after, known_head)
        else:
            current = _resume(unique, hashes, taken, current, after, known_head)
    starts = {frame.start for frame, _ in order}
    return order, [frame for frame in frames if frame.start not in starts]


def _first(frames: list[Frame], hashes: set[str]) -> Frame | None:
    """Give the first frame of the chain: the one without `prev`, or else the first whose `prev` is gone."""
    for frame in frames:
        if not frame.fact("prev"):
            return frame
    return next((frame for frame in frames if frame.fact("prev") not in hashes), None)


def _built_on(frames: list[Frame], after: dict[str, list[Frame]], known_head: str) -> Frame:
    """Of several frames with one `prev`, give the one whose line leads to the known head, or is longest."""
    lines = [(_reaches(frame, after, known_head), -position) for position, frame in enumerate(frames)]
    return frames[lines.index(max(lines))]


def _reaches(frame: Frame, after: dict[str, list[Frame]], known_head: str) -> tuple[bool, int]:
    """Tell whether the line from a frame leads to the known head, and how long it is."""
    length, seen = 0, set()
    found = False
    line = [frame]
    while line:
        current = line.pop()
        if current.id in seen:
            continue
        seen.add(current.id)
        length += 1
        found = found or current.id == known_head
        line.extend(after.get(current.hash, []))
    return found, length


def _resume(
    frames: list[Frame],
    hashes: set[str],
    taken: set[str],
    current: Frame,
    after: dict[str, list[Frame]],
    known_head: str,
) -> Frame | None:
    """Find where the chain goes on behind a frame that was edited, or before one that was removed."""
    for frame in frames:
        if frame.id in taken or frame.id <= current.id or frame.fact("prev") in hashes:
            continue
        found, length = _reaches(frame, after, known_head)
        if found or (not known_head and (length > 1 or current.edited)):
            return frame
    return None
