"""Loose text: what hands wrote between the frames, cut into blocks and prose.

A block by hand starts at a header line and ends at the next header or the end of its piece. A bare
`[DONE]`, `[INCOMPLETE]` or `[ACK]` belongs to the block above it; where none stands above, right
after a frame, it is a block of its own that names no author.
"""

from collections.abc import Iterator
from typing import NamedTuple

from .frames import digest
from .headers import LETTERS, Header, Vocabulary, read_header
from .tokens import top_lines

_NOISE = (b"<!-- /moot", b"<!-- moot", b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")


class HandBlock(NamedTuple):
    """A block written by hand: byte offsets in the ledger, its header, its body, its text as it stands."""

    start: int
    end: int
    header: Header
    body: str
    text: bytes


class Prose(NamedTuple):
    """Text that stands under no header and so belongs to nobody."""

    start: int
    end: int
    text: bytes


def split_loose(text: bytes, base: int, words: Vocabulary) -> list[HandBlock | Prose]:
    """Cut loose text at offset `base` of the ledger into blocks and prose, in order; blank parts are left out.

    Markers of git conflicts and of frames that were cut are noise, no prose.
    """
    lines = text.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").split("\n")
    offsets = _line_offsets(text)
    headers = list(_headers(lines, words))
    cuts = [number for number, _ in headers]
    found: list[HandBlock | Prose] = []
    first = cuts[0] if cuts else len(lines)
    if _says_something(before := text[: offsets[first]]):
        start = base + len(before) - len(before.lstrip())
        found.append(Prose(start, base + len(before.rstrip()), before.strip()))
    for (number, header), stop in zip(headers, [*cuts, len(lines)][1:], strict=True):
        raw = text[offsets[number] : offsets[stop]].rstrip()
        body = "\n".join([header.rest, *(line.rstrip("\r") for line in lines[number + 1 : stop])])
        start = base + offsets[number]
        found.append(HandBlock(start, start + len(raw), header, body.strip("\n"), raw))
    return found


def _headers(lines: list[str], words: Vocabulary) -> Iterator[tuple[int, Header]]:
    """Give the lines that begin a block: headers, less the bare tokens of a block above."""
    above = False
    for number, line in top_lines("\n".join(lines), read_open_fences=True):
        header = read_header(line, words)
        if header is None or (above and header.tag in LETTERS and not header.name):
            continue
        if header.tag in LETTERS and not header.name:
            header = header._replace(rest=line.strip())  # the token is what the block says
        above = True
        yield number, header


def _line_offsets(text: bytes) -> list[int]:
    """Give the byte offset of each line, and the end of the text as one more."""
    offsets = [0]
    at = -1
    while (at := text.find(b"\n", at + 1)) >= 0:
        offsets.append(at + 1)
    return [*offsets, len(text)]


def _says_something(text: bytes) -> bool:
    lines = (line.strip() for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"))
    return any(line and not line.startswith(_NOISE) for line in lines)


def pin(text: bytes) -> str:
    """Name a piece of loose text by its hash and its count of lines, trailing blanks and CRs aside.

    A ruling that adopts a block by hand holds this (`text=…/4`), so that anybody can find the text again.
    """
    lines = _plain_lines(text)
    return digest(b"\n".join(lines)) + f"/{len(lines)}" if lines else ""


def find_pinned(text: bytes, pinned: str) -> tuple[int, int] | None:
    """Find where in `text` the piece stands that `pin` named; None where it does not any more."""
    wanted, _, count = pinned.partition("/")
    if not count.isdecimal():
        return None
    offsets = _line_offsets(text)
    first_word = len(text) - len(text.lstrip())
    for number, offset in enumerate(offsets[:-1]):
        stop = offsets[min(number + int(count), len(offsets) - 1)]
        line = text[offset:stop].lstrip(b" #*_")
        begins = line.startswith(b"[") or offset <= first_word < stop
        if begins and digest(b"\n".join(_plain_lines(text[offset:stop]))) == wanted:
            return offset, offset + len(text[offset:stop].rstrip())
    return None


def _plain_lines(text: bytes) -> list[bytes]:
    lines = [line.rstrip() for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        del lines[0]
    return lines
