"""Ledgers to test with: frames that name each other, in bytes, and what reads them."""

from collections.abc import Sequence

from moot.bus.chain import Linked, Tail, trace
from moot.parsers.frames import Frame, frame_hash, gap_hash, render, scan
from moot.parsers.ids import from_number

OURS, OTHERS = 1 << 80, 1 << 81  # where the ids of a ledger begin; those of another one are later


def id_of(number: int, base: int = OURS) -> str:
    return from_number(base + number)


def block(
    number: int,
    before: bytes = b"",
    *,
    base: int = OURS,
    body: str = "",
    loose: bytes = b"",
    closer: bytes = b"",
) -> bytes:
    """Give the frame that follows the frame `before`, with loose text between."""
    facts = {
        "id": id_of(number, base),
        "at": "2026-11-30T19:22:11.123Z",
        "from": "CC",
        "to": "CX",
        "prev": frame_hash(before) if before else "",
        "gap": gap_hash(loose),
    }
    content = f"### [CC] to CX\n\n{body or f'Block {number} of {base}.'}"
    return render(facts, content.encode(), closer)


def chain(count: int, *, base: int = OURS) -> list[bytes]:
    """Give frames that name each other; the n-th has the id `id_of(n)`."""
    frames: list[bytes] = []
    for number in range(count):
        frames.append(block(number, frames[-1] if frames else b"", base=base))
    return frames


def text_of(parts: Sequence[bytes]) -> bytes:
    """Give the ledger that holds these frames and texts."""
    return b"".join(part + b"\n\n" for part in parts)


def edited(frame: bytes) -> bytes:
    """Give a frame as a hand left it that changed its body."""
    assert b"Block" in frame
    return frame.replace(b"Block", b"Blocks", 1)


def traced(data: bytes, known_head: str = "", known_hash: str = "") -> tuple[list[Linked], Tail, list[Frame]]:
    return trace(scan(data), data, known_head, known_hash)


def ids(linked: Sequence[Linked]) -> list[str]:
    return [one.frame.id for one in linked]


def numbers(linked: Sequence[Linked]) -> list[int]:
    """Give the numbers of the blocks on a chain; those of another ledger are large."""
    known = {id_of(number): number for number in range(1000)}
    return [known.get(one.frame.id, 10**6) for one in linked]
