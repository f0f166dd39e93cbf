"""What a chain says about its own record: which block was changed, removed or moved."""

from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple

from ..parsers.frames import Frame
from .chain import Linked, Tail


class Found(NamedTuple):
    """One thing that is not as it was written: what, which block, where (a byte offset), and why."""

    kind: str
    block: str
    offset: int
    why: str


class Report(NamedTuple):
    """Faults break the record; notes do not."""

    faults: tuple[Found, ...]
    notes: tuple[Found, ...]


def verify_chain(linked: list[Linked], tail: Tail, quoted: list[Frame], known: Iterable[str] = ()) -> Report:
    """Check frames that come in the order of the chain, and what stands beside it.

    `known` are the ids of frames that were seen before: one that is not there any more was removed, also where
    nothing that names it stands behind it.
    """
    faults: list[Found] = []
    notes: list[Found] = []
    moved = _moved([one.frame.start for one in linked])
    before: Frame | None = None
    for one in linked:
        frame = one.frame
        if frame.edited:
            why = "its text does not fit its own hash"
            faults.append(Found("changed", frame.id, frame.start, why))
        if frame.start in moved:
            place = f"right after {before.id}" if before is not None else "before all others"
            why = f"it was written {place}, and stands elsewhere"
            faults.append(Found("moved", frame.id, frame.start, why))
        elif _is_cut_off(one, before):
            place = f"between {before.id} and this block" if before is not None else "before this first block"
            faults.append(Found("removed", frame.id, frame.start, f"what stood {place} is gone"))
        elif frame.fact("gap") != one.gap and not frame.edited:
            why = "text by hand before it is not what its writer saw: inserted or edited later, or at that moment"
            notes.append(Found("loose", frame.id, frame.start, why))
        before = frame
    gone = sorted(set(known) - {one.frame.id for one in linked})
    faults += [
        Found("removed", one, tail.start, "this block was read before, and it is gone") for one in gone
    ]
    why = "a frame that is not on the chain: a copy, or from elsewhere"
    notes += [Found("quotation", frame.id, frame.start, why) for frame in quoted]
    if tail.torn:
        notes.append(Found("torn", "", tail.start, "a block was begun and not ended: its writer died"))
    return Report(tuple(faults), tuple(notes))


def _is_cut_off(one: Linked, before: Frame | None) -> bool:
    """Tell whether the frame that this one names is gone; of one that was edited nobody can tell."""
    if one.frame.edited:
        return False
    if before is None:
        return bool(one.frame.fact("prev"))
    return one.broken and not before.edited


def _moved(starts: list[int]) -> set[int]:
    """Give the fewest places without which the others rise: where the frames stand that were moved."""
    ends: list[int] = []  # the least place at which a rising row of each length ends
    rows: list[int] = []  # where the longest rising row up to each place has its length
    for start in starts:
        at = bisect_left(ends, start)
        ends[at : at + 1] = [start]
        rows.append(at)
    kept: set[int] = set()
    length, below = len(ends), max(starts, default=0) + 1
    for start, row in zip(reversed(starts), reversed(rows), strict=True):
        if row == length - 1 and start < below:
            kept.add(start)
            length, below = row, start
    return set(starts) - kept
