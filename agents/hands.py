"""Text by hand: how it is cut into what waits for a ruling, and how a ruling finds it again.

A ruling pins what it answers by a hash (`text=`) and names the author (`by=`), so that the text is read the
same ever after, whatever tags and names are in play by then.
"""

from collections.abc import Iterable
from typing import NamedTuple

from ..bus.messages import Message, from_hand
from ..parsers.frames import Loose
from ..parsers.headers import LETTERS, Header, Vocabulary, read_header
from ..parsers.loose import HandBlock, find_pinned, pin, split_loose
from ..parsers.names import TAGS

NAMELESS = "?"  # stands in a ruling's `by=` for the author of a block whose header names none
_BOM = "\ufeff"  # may stand before any line: `cat` brings one along


class Unruled(NamedTuple):
    """Something that waits for a ruling: a block, or prose; `pin` names the text of one by hand."""

    message: Message
    pin: str = ""
    prose: bool = False


class Gap(NamedTuple):
    """Loose text that no ruling has answered; `changed` where it is not what the next frame found there."""

    start: int
    end: int
    text: bytes
    changed: bool = False


def gaps_of(pieces: Iterable[Loose], *, changed: bool = False) -> list[Gap]:
    """Give the loose text that is not blank."""
    return [Gap(*piece, changed) for piece in pieces if piece.text.strip()]


class Parts:
    """What loose text was cut into, kept while the tags and names in play stay the same.

    Without this, a page of blocks by hand would be parsed once for each of them.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._words: Vocabulary | None = None
        self._kept: dict[Gap, list[Unruled]] = {}

    def of(self, gap: Gap, words: Vocabulary) -> list[Unruled]:
        """Give what waits for a ruling in a gap, in order."""
        if words != self._words:
            self._words, self._kept = words, {}
        if gap not in self._kept:
            self._kept[gap] = parts_of(gap, words)
        return self._kept[gap]

    def keep(self, gaps: Iterable[Gap]) -> None:
        """Forget all but these: somebody who types leaves many versions of a text behind."""
        self._kept = {gap: self._kept[gap] for gap in gaps if gap in self._kept}

    def without(self, gaps: Iterable[Gap], start: int, end: int) -> list[Gap]:
        """Take the bytes from `start` to `end` of the ledger out of gaps."""
        left = []
        for gap in gaps:
            if gap.end <= start or gap.start >= end:
                left.append(gap)
                continue
            before = gap._replace(end=start, text=gap.text[: max(0, start - gap.start)])
            behind = gap._replace(start=end, text=gap.text[end - gap.start :])
            left += [part for part in (before, behind) if part.text.strip()]
            if gap in self._kept:
                self._kept[behind] = [item for item in self._kept.pop(gap) if item.message.start >= end]
        return left


def parts_of(gap: Gap, words: Vocabulary) -> list[Unruled]:
    """Cut loose text into what waits for a ruling, each read as the ruling will read it."""
    found = []
    for part in split_loose(gap.text, gap.start, words):
        if isinstance(part, HandBlock):
            piece = Loose(part.start, part.end, part.text)
            found.append(Unruled(_by_hand(piece, part.header), pin(part.text)))
        else:  # from the start of its line on, as indents count
            start = gap.text.rfind(b"\n", 0, part.start - gap.start) + 1
            piece = _piece(gap, start, part.end - gap.start)
            found.append(Unruled(_prose(piece), pin(piece.text), prose=True))
    return found


def is_begun(item: Unruled) -> bool:
    """Tell whether a block by hand is a header alone, and its text is still to come."""
    message = item.message
    return not item.prose and not message.body.strip() and message.tag not in LETTERS


def find_block(gap: Gap, pinned: str, author: str) -> Message | None:
    """Find the block by hand that a ruling pins; None where it is not there or not by that author."""
    place = find_pinned(gap.text, pinned)
    return _read_block(_piece(gap, *place), author) if place is not None else None


def find_prose(gap: Gap, pinned: str, words: Vocabulary) -> Message | None:
    """Find the prose that a ruling pins; None where it is not there or holds a header."""
    place = find_pinned(gap.text, pinned)
    if place is None:
        return None
    piece = _piece(gap, *place)
    parts = split_loose(piece.text, piece.start, words)
    return None if any(isinstance(part, HandBlock) for part in parts) else _prose(piece)


def adopted_message(piece: Loose, block_id: str, author: str, at: str = "") -> Message:
    """Read text that a ruling adopted; `author` is the one that the ruling names, nothing for prose.

    Text that does not begin with a header by that author is read as prose.
    """
    return (_read_block(piece, author) or _prose(piece))._replace(id=block_id, at=at)


def _read_block(piece: Loose, author: str) -> Message | None:
    first = piece.text.decode("utf-8", "replace").split("\n", 1)[0].removeprefix(_BOM)
    nameless = author == NAMELESS
    header = read_header(first, Vocabulary(TAGS, ()) if nameless else Vocabulary((), (author,)))
    if header is None or nameless == bool(header.name):
        return None
    if nameless and header.tag in LETTERS:
        header = header._replace(rest=first.strip())  # the token is what the block says
    return _by_hand(piece, header)


def _by_hand(piece: Loose, header: Header) -> Message:
    lines = piece.text.decode("utf-8", "replace").split("\n")[1:]
    body = "\n".join([header.rest, *(line.removeprefix(_BOM).rstrip("\r") for line in lines)]).strip("\n")
    return from_hand(HandBlock(piece.start, piece.end, header, body, piece.text))


def _prose(piece: Loose) -> Message:
    body = piece.text.decode("utf-8", "replace")
    return Message("", "", "", (), "", "", "", "", "", body, "hand", piece.start, piece.end)


def _piece(gap: Gap, start: int, end: int) -> Loose:
    return Loose(gap.start + start, gap.start + end, gap.text[start:end])
