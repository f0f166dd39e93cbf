"""What a chain says about its own record: which block was changed, removed or moved."""

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


def verify_chain(linked: list[Linked], tail: Tail, quoted: list[Frame], lost_head: str = "") -> Report:
    """Check frames that come in the order of the chain, and what stands beside it.

    `lost_head` is the id of a block that was seen at the end before, and is not there any more.
    """
    faults: list[Found] = []
    notes: list[Found] = []
    before: Frame | None = None
    for one in linked:
        frame = one.frame
        if frame.edited:
            faults.append(Found("changed", frame.id, frame.start, "its text does not fit its own hash"))
        if before is not None and frame.start < before.start:
            faults.append(
                Found(
                    "moved", frame.id, frame.start, f"it was written after {before.id}, and stands before it"
                )
            )
        elif one.broken and (before is None or not before.edited):
            after = before.id if before is not None else "the beginning"
            faults.append(
                Found("removed", frame.id, frame.start, f"what stood between {after} and this block is gone")
            )
        elif frame.fact("gap") != one.gap:
            notes.append(
                Found("loose", frame.id, frame.start, "text by hand before it was inserted or edited later")
            )
        before = frame
    if linked and linked[0].frame.fact("prev") and not linked[0].broken:
        first = linked[0].frame
        faults.append(Found("removed", first.id, first.start, "what stood before this first block is gone"))
    if lost_head:
        faults.append(Found("removed", lost_head, tail.start, "this was the last block, and it is gone"))
    notes += [
        Found(
            "quotation", frame.id, frame.start, "a frame that is not on the chain: a copy, or from elsewhere"
        )
        for frame in quoted
    ]
    if tail.torn:
        notes.append(Found("torn", "", tail.start, "a block was begun and not ended: its writer died"))
    return Report(tuple(faults), tuple(notes))
