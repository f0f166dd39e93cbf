"""A block as its readers see it, whether the tool framed it or a hand wrote it."""

from typing import NamedTuple

from ..parsers.frames import Frame
from ..parsers.headers import Header, Vocabulary, read_header
from ..parsers.loose import HandBlock

REFEREE, HUMAN, EVERYBODY = "REFEREE", "HUMAN", "ALL"


class Message(NamedTuple):
    """One block: who says what to whom, and where it stands in the ledger (byte offsets).

    `origin` is tool, hand or referee; a hand's sender is unproven, and its `id` and `at` are empty until
    a ruling adopts it. `seal` is the hash of the sealed text that it stands for, or that a ruling opens or misses.
    """

    id: str
    at: str
    sender: str
    to: tuple[str, ...]
    session: str
    re: str
    header: str
    tag: str
    role: str
    body: str
    origin: str
    start: int
    end: int
    edited: bool = False
    seal: str = ""


def from_frame(frame: Frame) -> Message:
    """Read a frame."""
    sender = frame.fact("from")
    header = read_header(frame.header, Vocabulary((), (sender,))) or Header("", sender)
    return Message(
        id=frame.id,
        at=frame.fact("at"),
        sender=sender,
        to=tuple(name for name in frame.fact("to").split(",") if name),
        session=frame.fact("in"),
        re=frame.fact("re"),
        header=frame.header,
        tag=header.tag,
        role=header.role,
        body=frame.body.decode("utf-8", "replace"),
        origin="referee" if sender == REFEREE else "tool",
        start=frame.start,
        end=frame.end,
        edited=frame.edited,
        seal=frame.fact("seal"),
    )


def from_hand(block: HandBlock) -> Message:
    """Read a block by hand; it has neither id nor time."""
    header = block.header
    return Message(
        id="",
        at="",
        sender=header.name,
        to=header.to,
        session=header.session,
        re="",
        header=f"[{header.label}]" + "".join(f" @{name}" for name in header.to),
        tag=header.tag,
        role=header.role,
        body=block.body,
        origin="hand",
        start=block.start,
        end=block.end,
    )
